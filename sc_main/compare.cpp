// `tilevp compare A B`: two .npy files, or two reports.
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

int compare_tensors(const std::string& a, const std::string& b, const runtime::CheckRequest& request) {
  const auto comparison = runtime::compare(runtime::read_npy(a), runtime::read_npy(b), request, a + " and " + b);
  std::cout << runtime::text_of(comparison) << "\n";
  return comparison.mismatches == 0 ? 0 : static_cast<int>(Outcome::verification_failed);
}

boost::json::value read_report(const std::string& file) {
  auto tree = read_json_file(file);
  if (!is_report(tree)) throw UserError(file, "expected a report (schema tilevp-report/1) or a .npy file");
  return tree;
}

// Figures of the host computer differ from run to run, and reports that stand side by side have names of their own.
bool is_left_out(const std::string& path) {
  return path.starts_with("host.") || path.starts_with("files.") || path == "program.options.output";
}

int compare_reports(const std::string& a, const std::string& b) {
  std::map<std::string, std::string> left;
  for (auto& leaf : leaves(read_report(a))) left.emplace(leaf.path, leaf.text);
  std::size_t changed = 0;
  const auto show = [&](const std::string& path, const std::string& from, const std::string& to) {
    if (is_left_out(path) || from == to) return;
    ++changed;
    std::cout << path << ": " << from << " -> " << to << "\n";
  };
  for (auto& leaf : leaves(read_report(b))) {
    const auto found = left.find(leaf.path);
    show(leaf.path, found == left.end() ? "absent" : found->second, leaf.text);
    if (found != left.end()) left.erase(found);
  }
  for (const auto& [path, text] : left) show(path, text, "absent");
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
  if (is_npy(files[0]) != is_npy(files[1]))
    throw UserError(files[1], "cannot be compared with '" + files[0] + "': one is a .npy file, the other is not");
  if (is_npy(files[0])) return compare_tensors(files[0], files[1], request);
  if (arguments.has("--ulp") || arguments.has("--tolerance"))
    throw UserError(files[0], "--ulp and --tolerance are for .npy files; the figures of reports are compared exactly");
  return compare_reports(files[0], files[1]);
}

}  // namespace tilevp::command
