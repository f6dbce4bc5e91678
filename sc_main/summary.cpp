#include "tilevp/sc_main/summary.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "tilevp/described/text.hpp"
#include "tilevp/sc_main/times.hpp"

namespace tilevp::command {
namespace {

std::string line(const std::string& head, const std::string& text) {
  return head + std::string(head.size() < 14 ? 14 - head.size() : 1, ' ') + text + "\n";
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

std::string whole_percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

std::string domains_text(const platform::Report& report) {
  std::string text;
  for (const auto& domain : report.domains)
    text += (text.empty() ? "" : ", ") + domain.name + " " + std::to_string(domain.cycles);
  return text;
}

// Units of one kind that a machine has several of (DMA engines) are one entry, with their mean.
struct Share {
  std::string name;
  double utilisation = 0;
  unsigned units = 0;
};

std::vector<Share> shares(const platform::Report& report) {
  std::map<std::string, Share> kinds;
  for (const auto& unit : report.units) {
    auto& share = kinds[unit.kind];
    share.name = unit.path;
    share.utilisation += unit.utilisation;
    ++share.units;
  }
  std::vector<Share> result;
  for (auto& [kind, share] : kinds) {
    share.utilisation /= share.units;
    if (share.units > 1) share.name = std::to_string(share.units) + " " + kind + " engines";
    if (share.utilisation > 0) result.push_back(share);
  }
  return result;
}

// The busiest first; idle ones are left out.
std::string utilisation_text(const platform::Report& report) {
  auto all = shares(report);
  std::ranges::stable_sort(all, std::ranges::greater(), &Share::utilisation);
  std::string text;
  for (const auto& share : all) text += (text.empty() ? "" : ", ") + share.name + " " + percent(share.utilisation);
  return text.empty() ? "no unit was busy" : text;
}

// What a unit waited for longest, as a share of the kernel's cycles of its clock. DMA engines are not among them: their
// packets wait side by side.
std::string waited_text(const platform::Report& report) {
  const std::uint64_t window_ps = report.kernel_ps == 0 ? report.simulated_ps : report.kernel_ps;
  std::string text;
  for (const auto& unit : report.units) {
    const auto clock = std::ranges::find(report.domains, unit.clock, &platform::DomainReport::name);
    if (unit.kind == "dma" || unit.stalled.empty() || clock == report.domains.end() || window_ps == 0) continue;
    const auto largest = std::ranges::max_element(unit.stalled, {}, [](const auto& cause) { return cause.second; });
    const double cycles = static_cast<double>(window_ps) * 1e-12 * clock->hz;
    const double share = static_cast<double>(largest->second) / cycles;
    if (share < 0.005) continue;  // would read 0 %
    text += (text.empty() ? "" : ", ") + unit.path + " " + whole_percent(share) + " " + largest->first;
  }
  return text;
}

std::string bound_text(const platform::Report& report) {
  if (report.bound_by.empty()) return "nothing";
  if (report.bound_by == report.busiest) return report.bound_by;
  return report.bound_by + " (busiest: " + report.busiest + " " + whole_percent(report.busiest_share) + ")";
}

std::string platform_text(const platform::Report& report) {
  std::string text = report.platform;
  for (const auto& assignment : report.overrides)
    text += (&assignment == &report.overrides.front() ? " with " : ", ") + assignment;
  return text;
}

std::string verification_text(const platform::Report& report) {
  if (!report.verification) return "not asked for (--check)";
  const auto& v = *report.verification;
  std::string text = v.kind + ": " + std::to_string(v.mismatches) + " of " + std::to_string(v.compared) +
                     " values differ; largest error " + described::number_text(v.max_abs_error) + ", " +
                     std::to_string(v.max_ulp) + " ulp";
  return text;
}

// The program's own figures, in a column of their own.
std::string result_lines(const boost::json::object& result) {
  std::size_t width = 0;
  for (const auto& [key, value] : result) width = std::max<std::size_t>(width, key.size());
  std::string text;
  for (const auto& [key, value] : result) {
    if (value.is_structured()) continue;
    const std::string shown = value.is_string() ? std::string(value.get_string()) : described::compact(value);
    text += "  " + std::string(key) + std::string(width + 2 - key.size(), ' ') + shown + "\n";
  }
  return text;
}

}  // namespace

std::string summary_text(const platform::Report& report) {
  std::string text = line("program", report.program + (report.variant.empty() ? "" : ", variant " + report.variant));
  text += line("platform", platform_text(report));
  if (report.kernel_ps != 0) text += line("kernel", time_text(report.kernel_ps));
  text += line("simulated", time_text(report.simulated_ps) + " with the host's accesses");
  text += line("cycles", domains_text(report));
  text += line("utilisation", utilisation_text(report));
  if (const auto waited = waited_text(report); !waited.empty()) text += line("waited", waited);
  text += line("bound by", bound_text(report));
  text += line("verification", verification_text(report));
  text += result_lines(report.result);
  for (const auto& [kind, file] : report.files) text += line(kind, file);
  return text;
}

}  // namespace tilevp::command
