#include "tilevp/platform/report.hpp"

#include <cmath>

#include "tilevp/base/atomic_file.hpp"
#include "tilevp/described/writer.hpp"
#include "tilevp/platform/version.hpp"

namespace tilevp::platform {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;
using described::to_json;

value number(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return x;
}

value verification_json(const std::optional<runtime::Verification>& verification) {
  if (!verification) return nullptr;
  object json{{"kind", verification->kind},
              {"compared", verification->compared},
              {"mismatches", verification->mismatches},
              {"max_abs_error", number(verification->max_abs_error)},
              {"max_ulp", verification->max_ulp},
              {"first", nullptr}};
  if (verification->mismatches > 0) {
    array index(verification->first_index.begin(), verification->first_index.end());
    json["first"] = object{{"index", std::move(index)},
                           {"got", number(verification->first_got)},
                           {"expected", number(verification->first_expected)}};
  }
  return json;
}

value options_json(const Report& report) {
  object options;
  for (const auto& [name, text] : report.program_options) options.emplace(name, text);
  return options;
}

// Kinds of figures that this platform has no part for stay empty, so that readers need no second shape.
object performance_json(const Report& report) {
  return {{"bound_by", report.bound_by.empty() ? value(nullptr) : value(report.bound_by)},
          {"units", to_json(report.units)},
          {"memories", to_json(report.memories)},
          {"dma", to_json(report.dma)},
          {"matrix", to_json(report.matrix)},
          {"streams", array()},
          {"intervals", to_json(report.intervals)},
          {"layouts", array()},
          {"critical_path", array()}};
}

}  // namespace

value to_json(const Report& report) {
  return object{
      {"schema", report_schema},
      {"tool", tool_name},
      {"program", object{{"name", report.program}, {"options", options_json(report)}, {"variant", report.variant}}},
      {"platform", object{{"name", report.platform},
                          {"description_sha256", report.description_sha256},
                          {"overrides", to_json(report.overrides)}}},
      {"status", to_json(report.status)},
      {"seed", report.seed},
      {"time", object{{"simulated_ps", report.simulated_ps},
                      {"kernel_ps", report.kernel_ps},
                      {"domains", to_json(report.domains)}}},
      {"host", to_json(report.host)},
      {"verification", verification_json(report.verification)},
      {"performance", performance_json(report)},
      {"fault", to_json(report.fault)},
      {"break", to_json(report.stopped)},
      {"waiting", to_json(report.waiting)},
      {"result", report.result},
      {"warnings", to_json(report.warnings)},
      {"files", to_json(report.files)}};
}

void write_report(const std::string& file, const Report& report) {
  AtomicFile out(file);
  out.write(described::pretty(to_json(report)));
  out.commit();
}

std::vector<WaitingReport> waiting_reports(const std::vector<WaitingRecord>& records) {
  std::vector<WaitingReport> reports;
  for (const auto& record : records)
    reports.push_back({record.who, record.what, record.since_ps, record.has, record.wants});
  return reports;
}

}  // namespace tilevp::platform
