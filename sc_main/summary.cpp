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
  text += line("platform", report.platform);
  text += line("simulated", time_text(report.simulated_ps) + " (" + std::to_string(report.simulated_ps) + " ps)");
  text += line("cycles", domains_text(report));
  text += line("utilisation", utilisation_text(report));
  text += line("bound by", report.bound_by.empty() ? "nothing" : report.bound_by);
  text += line("verification", verification_text(report));
  text += result_lines(report.result);
  for (const auto& warning : report.warnings) text += line("warning", warning);
  for (const auto& [kind, file] : report.files) text += line(kind, file);
  return text;
}

}  // namespace tilevp::command
