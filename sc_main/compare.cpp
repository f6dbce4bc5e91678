// `tilevp compare A B`: two .npy files, or two reports.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>

#include "tilevp/base/errors.hpp"
#include "tilevp/runtime/compare.hpp"
#include "tilevp/runtime/npy.hpp"
#include "tilevp/sc_main/arguments.hpp"
#include "tilevp/sc_main/command.hpp"
#include "tilevp/sc_main/json_file.hpp"
#include "tilevp/sc_main/run_plan.hpp"

namespace tilevp::command {
namespace {

bool is_npy(const std::string& file) { return file.ends_with(".npy"); }

runtime::CheckRequest criterion(const Arguments& arguments) {
  if (arguments.has("--ulp") && arguments.has("--tolerance"))
    throw UserError("--tolerance", "give --ulp or --tolerance, not both");
  if (arguments.has("--ulp")) return parse_check("ulp " + arguments.value("--ulp"), "--ulp");
  if (arguments.has("--tolerance")) return parse_check("tolerance " + arguments.value("--tolerance"), "--tolerance");
  return parse_check("exact");
}

// A file that is not there is neither a .npy file nor a report.
void require_readable(const std::string& file) {
  if (access(file.c_str(), R_OK) != 0) throw UserError(file, std::string("cannot read: ") + std::strerror(errno));
}

int compare_tensors(const std::string& a, const std::string& b, const runtime::CheckRequest& request) {
  const auto left = runtime::read_npy(a), right = runtime::read_npy(b);
  if (left.shape != right.shape) {
    std::cout << "shapes differ: " << runtime::shape_text(left.shape) << " and " << runtime::shape_text(right.shape)
              << "\n";
    return static_cast<int>(Outcome::verification_failed);
  }
  const auto comparison = runtime::compare(left, right, request, a + " and " + b);
  std::cout << runtime::text_of(comparison) << "\n";
  return comparison.mismatches == 0 ? 0 : static_cast<int>(Outcome::verification_failed);
}

boost::json::value read_report(const std::string& file) {
  auto tree = read_json_file(file);
  if (!is_report(tree)) throw UserError(file, "expected a report (schema tilevp-report/1) or a .npy file");
  return tree;
}

using Figures = std::map<std::string, std::string>;

Figures figures_of(const boost::json::value& report) {
  Figures figures;
  for (auto& leaf : leaves(report)) figures.emplace(leaf.path, leaf.text);
  return figures;
}

// Nothing of the run itself: figures of the host computer, names of written files, and a check that only one run made.
bool is_left_out(const std::string& path, const Figures& a, const Figures& b) {
  constexpr std::string_view option = "program.options.";
  if (path.starts_with("host.") || path.starts_with("files.")) return true;
  if (path.starts_with("verification")) return a.contains("verification") || b.contains("verification");  // null
  if (!path.starts_with(option)) return false;
  const std::string file = "files." + path.substr(option.size());
  return path == "program.options.output" || a.contains(file) || b.contains(file);
}

// " (+12.5 %)" where both are numbers.
std::string change_text(const std::string& from, const std::string& to) {
  const auto number = [](const std::string& text, double& value) {
    const char* end = text.data() + text.size();
    return std::from_chars(text.data(), end, value).ptr == end;
  };
  double before = 0, after = 0;
  if (!number(from, before) || !number(to, after) || before == 0) return "";
  char text[48];
  std::snprintf(text, sizeof text, " (%+.1f %%)", 100 * (after - before) / before);
  return text;
}

// Shown first, whether they differ or not.
constexpr std::array<std::string_view, 3> headline{"time.kernel_ps", "time.simulated_ps", "performance.bound_by"};

int compare_reports(const std::string& file_a, const std::string& file_b) {
  const Figures a = figures_of(read_report(file_a)), b = figures_of(read_report(file_b));
  const auto text = [](const Figures& figures, const std::string& path) {
    const auto found = figures.find(path);
    return found == figures.end() ? std::string("absent") : found->second;
  };
  std::size_t changed = 0;
  const auto show = [&](const std::string& path, bool always) {
    const std::string from = text(a, path), to = text(b, path);
    if (from != to) {
      ++changed;
      std::cout << path << ": " << from << " -> " << to << change_text(from, to) << "\n";
    } else if (always) {
      std::cout << path << ": " << from << "\n";
    }
  };
  for (const auto path : headline) show(std::string(path), true);
  Figures all = a;
  all.insert(b.begin(), b.end());
  for (const auto& [path, value] : all)
    if (std::ranges::find(headline, path) == headline.end() && !is_left_out(path, a, b)) show(path, false);
  std::cout << changed << " figures differ (host figures and names of written files left out)\n";
  return changed == 0 ? 0 : static_cast<int>(Outcome::verification_failed);
}

}  // namespace

int compare(Words words) {
  const std::vector<OptionSpec> options{
      {.name = "--ulp", .placeholder = "N", .text = "values may differ by N steps of the element type"},
      {.name = "--tolerance", .placeholder = "R", .text = "values may differ by R times the largest magnitude of B"},
      {.name = "--help", .takes = Takes::nothing, .text = "this text"}};
  const auto arguments = parse_arguments(words, options, "tilevp compare");
  if (arguments.has("--help")) {
    std::cout
        << "usage: tilevp compare A B [options]\n\nTwo .npy files or two reports. Exit code 1 where they differ.\n\n"
        << help_lines(options);
    return 0;
  }
  const auto& files = arguments.positionals();
  if (files.size() != 2) throw UserError("compare", "expected two files, found " + std::to_string(files.size()));
  const auto request = criterion(arguments);
  for (const auto& file : files) require_readable(file);
  if (is_npy(files[0]) != is_npy(files[1]))
    throw UserError(files[1], "cannot be compared with '" + files[0] + "': one is a .npy file, the other is not");
  if (is_npy(files[0])) return compare_tensors(files[0], files[1], request);
  if (arguments.has("--ulp") || arguments.has("--tolerance"))
    throw UserError(files[0], "--ulp and --tolerance are for .npy files; the figures of reports are compared exactly");
  return compare_reports(files[0], files[1]);
}

}  // namespace tilevp::command
