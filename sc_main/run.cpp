// `tilevp run PROGRAM ...`.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/wait_board.hpp"
#include "tilevp/platform/builder.hpp"
#include "tilevp/platform/interrupted.hpp"
#include "tilevp/platform/performance.hpp"
#include "tilevp/platform/recording.hpp"
#include "tilevp/platform/report.hpp"
#include "tilevp/platform/wave_recording.hpp"
#include "tilevp/runtime/value_text.hpp"
#include "tilevp/sc_main/command.hpp"
#include "tilevp/sc_main/host_figures.hpp"
#include "tilevp/sc_main/messages.hpp"
#include "tilevp/sc_main/progress.hpp"
#include "tilevp/sc_main/run_plan.hpp"
#include "tilevp/sc_main/summary.hpp"
#include "tilevp/sc_main/times.hpp"

namespace tilevp::command {
namespace {

using platform::Report;
using platform::Status;

Report head_of(const RunPlan& plan) {
  Report report;
  report.program = plan.program->name();
  report.program_options = plan.options;
  report.platform = plan.platform.description.name;
  report.description_sha256 = plan.platform.sha256;
  report.overrides = plan.platform.overrides;
  report.seed = plan.request.seed;
  return report;
}

// What `error` says of the end of a run; anything it does not know goes on as it is.
void note_end(Report& report, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Fault& fault) {
    report.status = Status::fault;
    report.fault = platform::FaultReport{fault.rule(), fault.module, fault.time_ps, fault.what()};
  } catch (const NoEnd& end) {
    report.status = Status::no_end;
    report.waiting = platform::waiting_reports(end.waiting());
  } catch (const platform::Interrupted&) {
    report.status = Status::interrupted;
  }
}

// How a run ended.
struct Ending {
  std::exception_ptr failure{};  // null: well
  std::optional<platform::BreakReport> stopped{};
  std::string state{};  // of the machine, where it stopped
};

// A run that stopped at --break ends as one that did not reach its end does; the state is what the user asked to see.
Ending at_break(platform::Platform& machine, const BreakReached& where) {
  Ending ending;
  ending.stopped = {where.unit(), where.number(), machine.stopped_text(where), machine.end_ps()};
  const std::string place = where.unit() + " #" + std::to_string(where.number()) + ": " + ending.stopped->instruction;
  ending.state = place + "\nat " + std::to_string(machine.end_ps()) + " ps (" + time_text(machine.end_ps()) + ")\n" +
                 machine.state_text(where);
  ending.failure =
      std::make_exception_ptr(NoEnd("--break: stopped before " + place, machine.simulation().waits().read()));
  return ending;
}

void note_no_break(Report& report, const RunPlan& plan) {
  if (plan.break_unit.empty() || report.stopped) return;
  report.warnings.push_back("--break " + plan.break_unit + "@" + std::to_string(plan.break_number) +
                            " was not reached");
}

void note_result(Report& report, const runtime::ProgramResult& result) {
  report.variant = result.variant;
  report.kernel_ps = result.kernel_ps;
  report.result = result.result;
  report.verification = result.verification;
  report.warnings = result.warnings;
  if (result.verification && result.verification->mismatches > 0) report.status = Status::verification_failed;
}

// The program on the machine.
Ending run_program(const RunPlan& plan, platform::Platform& machine, runtime::ProgramResult& result) {
  try {
    machine.run(
        [&](runtime::Host& host) {
          load(machine, plan.loads);
          result = plan.program->run(host);
        },
        plan.max_time_ps);
  } catch (const BreakReached& where) {
    return at_break(machine, where);
  } catch (const NoEnd& end) {
    const bool limit = machine.end_ps() == plan.max_time_ps;
    const std::string when =
        (limit ? "the time limit was reached at " : "nothing can happen any more at ") + time_text(machine.end_ps());
    const auto agents = end.waiting().size();
    return {
        .failure = std::make_exception_ptr(NoEnd(
            when + ", " + std::to_string(agents) + (agents == 1 ? " agent waits" : " agents wait"), end.waiting()))};
  } catch (...) {
    return {.failure = std::current_exception()};
  }
  return {};
}

bool is_user_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const UserError&) {
    return true;
  } catch (...) {
    return false;
  }
}

// Closes what was streamed, or discards it where the run was refused. The exception that ends the run, or null.
std::exception_ptr close_outputs(platform::StreamedOutputs& outputs, std::uint64_t end_ps,
                                 const std::exception_ptr& failure) {
  if (failure && is_user_error(failure)) {
    outputs.discard();
    return failure;
  }
  try {
    outputs.close(end_ps);
  } catch (const UserError& error) {
    if (!failure) {
      outputs.discard();
      return std::current_exception();
    }
    print_error(error.what());  // and how the run ended goes first
  }
  return failure;
}

Ending simulate(const RunPlan& plan, platform::Platform& machine, platform::StreamedOutputs& outputs,
                Progress& progress, runtime::ProgramResult& result) {
  std::function<void()> tick;
  if (progress.enabled()) tick = [&] { progress.show(now_ps()); };
  const platform::HostClock clock(machine.simulation(), outputs, tick);
  Ending ending = run_program(plan, machine, result);
  progress.clear();
  ending.failure = close_outputs(outputs, machine.end_ps(), ending.failure);
  return ending;
}

void write_files(const RunPlan& plan, platform::Platform& machine, Report& report, const runtime::ProgramResult& result,
                 bool ended_well) {
  for (const auto& file : plan.dumps) report.files["dump " + file.text] = file.file;
  if (ended_well) {
    plan.program->write_outputs();
    for (const auto& [kind, file] : result.files) report.files[kind] = file;
  }
  if (!plan.report_file.empty()) {
    report.files["report"] = plan.report_file;
    platform::write_report(plan.report_file, report);
  }
  dump(machine, plan.dumps);  // last: whether there is a tile to dump shows only now
}

std::string verification_failure(const runtime::Verification& v) {
  std::string index;
  for (const auto i : v.first_index) index += (index.empty() ? "" : ", ") + std::to_string(i);
  return "verification failed (" + v.kind + "): " + std::to_string(v.mismatches) + " of " + std::to_string(v.compared) +
         " values differ; first at [" + index + "]: got " + runtime::value_text(v.first_got) + ", expected " +
         runtime::value_text(v.first_expected);
}

int execute(const RunPlan& plan, Progress& progress) {
  const HostFigures host_figures;
  platform::Platform machine(plan.platform.description,
                             {.seed = plan.request.seed,
                              .quantum_ps = plan.quantum_ps,
                              .arithmetic = plan.request.arithmetic,
                              .threads = plan.threads},
                             {.construction_seed = plan.construction_seed});
  if (!plan.break_unit.empty()) machine.break_at("--break", plan.break_unit, plan.break_number);
  platform::StreamedOutputs outputs;
  if (!plan.vcd_file.empty())
    outputs.add(std::make_unique<platform::WaveRecording>(
        machine.simulation().probes(), plan.vcd_file, plan.trace_globs,
        platform::VcdOptions{.from_ps = plan.trace_from_ps, .to_ps = plan.trace_to_ps}));
  platform::Recording* records = nullptr;
  if (plan.records.any()) {
    auto recording = std::make_unique<platform::Recording>(machine, plan.records);
    records = recording.get();
    outputs.add(std::move(recording));
  }

  runtime::ProgramResult result;
  const auto [failure, stopped, state] = simulate(plan, machine, outputs, progress, result);
  std::cout << state;
  const std::uint64_t end_ps = machine.end_ps();
  Report report = head_of(plan);
  report.files.merge(outputs.files());
  if (failure)
    note_end(report, failure);
  else
    note_result(report, result);
  report.stopped = stopped;
  note_no_break(report, plan);
  if (plan.trace_from_ps > end_ps)
    report.warnings.push_back("the run ended at " + time_text(end_ps) + ", before --trace-from " +
                              time_text(plan.trace_from_ps) + ": the waves hold its last values alone");
  if (records != nullptr) records->note_warnings(report.warnings);
  platform::add_performance(report, machine.simulation().statistics(), platform::clock_domains(machine.description()),
                            end_ps, machine.host().memory_busy_ps());
  platform::add_occupancy(report, machine.occupancy());
  if (records != nullptr) report.intervals = records->intervals(report);
  report.host = host_figures.read(plan.threads, machine.host().access_seconds(), result.reference_seconds);
  try {
    write_files(plan, machine, report, result, failure == nullptr);
  } catch (const UserError& error) {
    if (!failure) throw;
    print_error(error.what());  // and how the run ended goes first
  }
  for (const auto& warning : report.warnings) print_warning(warning);
  if (failure) std::rethrow_exception(failure);
  if (!plan.quiet) std::cout << summary_text(report);
  if (report.status != Status::verification_failed) return 0;
  print_error(verification_failure(*report.verification));
  return static_cast<int>(Outcome::verification_failed);
}

}  // namespace

int run(Words words) {
  load_plugins(words);
  if (!words.empty() && (words[0] == "--help" || words[0] == "-h")) {
    std::cout << run_help();
    return 0;
  }
  if (words.size() > 1 && std::ranges::find(words.subspan(1), "--help") != words.end()) {
    const auto program = programs().make(words[0]);
    std::cout << program->name() << ": " << program->summary() << "\n\n"
              << help_lines(option_specs(*program)) << "\nrun options:\n"
              << help_lines(run_options());
    return 0;
  }
  auto plan = plan_run(words);
  Progress progress(plan.progress);
  if (progress.enabled())
    plan.request.progress = [&](std::string_view what, double share) { progress.set(what, share); };
  plan.program->prepare(plan.request);
  return execute(plan, progress);
}

}  // namespace tilevp::command
