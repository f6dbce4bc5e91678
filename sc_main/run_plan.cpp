#include "tilevp/sc_main/run_plan.hpp"

#include <unistd.h>

#include "tilevp/base/errors.hpp"
#include "tilevp/described/nearest.hpp"
#include "tilevp/platform/machine.hpp"
#include "tilevp/platform/wave_recording.hpp"
#include "tilevp/sc_main/output_files.hpp"
#include "tilevp/sc_main/times.hpp"

namespace tilevp::command {
namespace {

std::string joined(const std::vector<std::string>& names) { return described::join(names); }

bool wants_progress(const Arguments& arguments, bool quiet) {
  const auto when = choice("--progress", arguments.value("--progress", "auto"), {"auto", "on", "off"});
  if (when == "auto") return !quiet && isatty(STDERR_FILENO) == 1;
  return when == "on";
}

void no_more_words(const runtime::Program& program, const Arguments& arguments) {
  const std::size_t allowed = program.positional().empty() ? 0 : 1;
  if (arguments.positionals().size() <= allowed) return;
  const auto& word = arguments.positionals()[allowed];
  if (arguments.has("--check") && (word == "exact" || word == "ulp" || word == "tolerance" ||
                                   word.starts_with("ulp ") || word.starts_with("tolerance ")))
    throw UserError("--check", "its value stands behind '=', as in " +
                                   std::string(word == "exact" ? "--check=exact" : "--check='ulp 1'") +
                                   "; found the word '" + word + "'");
  throw UserError(word, "unexpected word after the program's name; options begin with '--'");
}

void read_memory_files(RunPlan& plan, const Arguments& arguments) {
  const auto map = platform::memory_map(plan.platform.description);
  for (const auto& text : arguments.all("--dump")) plan.dumps.push_back(parse_dump(text, map));
  for (const auto& text : arguments.all("--load")) plan.loads.push_back(parse_load(text, map));
}

void read_break(RunPlan& plan, const Arguments& arguments) {
  if (!arguments.has("--break")) return;
  const std::string text = arguments.value("--break");
  const auto at = text.rfind('@');
  if (at == std::string::npos || at == 0)
    throw UserError("--break", "expected UNIT@N like pe@412, dma0.q3@7 or bundle@2, found '" + text + "'");
  plan.break_unit = text.substr(0, at);
  plan.break_number = whole_number("--break", text.substr(at + 1), 0, no_break - 1);
}

// A program names the file it writes `--output`; its other files are read.
void check_files_of(const RunPlan& plan, const Arguments& arguments) {
  std::vector<NamedFile> written, read;
  for (const auto& option : plan.program->options()) {
    const auto given = plan.options.find(option.name);
    if (option.value != "FILE" || given == plan.options.end()) continue;
    (option.name == "output" ? written : read).push_back({"--" + option.name, given->second});
  }
  for (const std::string name : {"--report", "--vcd", "--transactions", "--timeline"})
    if (arguments.has(name)) written.push_back({name, arguments.value(name)});
  NamedFile view{"--vcd (its GTKWave view)", platform::WaveRecording::view_of(plan.vcd_file)};
  if (arguments.has("--vcd") && !view.name.empty()) written.push_back(view);
  for (const auto& dump : plan.dumps) written.push_back({"--dump", dump.file});
  for (const auto& load : plan.loads) read.push_back({"--load", load.file});
  read.push_back({"--platform", arguments.value("--platform")});
  for (const auto& file : plugins()) read.push_back({"--plugin", file});
  check_files(written, read);
  if (!arguments.has("--vcd") || view.name.empty()) return;
  view.option = "the tables of --vcd's GTKWave view";
  check_reserved(view, written);
  check_reserved(view, read);
}

void read_waves(RunPlan& plan, const Arguments& arguments, std::span<const ClockDomain> clocks) {
  plan.vcd_file = arguments.value("--vcd");
  plan.trace_globs = arguments.all("--trace");
  for (const char* option : {"--trace", "--trace-from", "--trace-to"})
    if (arguments.has(option) && !arguments.has("--vcd")) throw UserError(option, "needs --vcd FILE beside it");
  if (arguments.has("--trace-from"))
    plan.trace_from_ps = parse_time("--trace-from", arguments.value("--trace-from"), clocks);
  if (arguments.has("--trace-to")) plan.trace_to_ps = parse_time("--trace-to", arguments.value("--trace-to"), clocks);
  if (plan.trace_to_ps < plan.trace_from_ps)
    throw UserError("--trace-to", "expected a time at or after --trace-from " + arguments.value("--trace-from") +
                                      ", found " + arguments.value("--trace-to"));
}

void read_records(RunPlan& plan, const Arguments& arguments, std::span<const ClockDomain> clocks) {
  plan.records.transactions_file = arguments.value("--transactions");
  plan.records.timeline_file = arguments.value("--timeline");
  plan.records.timeline_cap =
      whole_number("--timeline-cap", arguments.value("--timeline-cap", "1000000"), 1, UINT64_MAX / 2);
  if (arguments.has("--timeline-cap") && !arguments.has("--timeline"))
    throw UserError("--timeline-cap", "needs --timeline FILE beside it");
  const std::string& period = plan.platform.description.report.period;
  if (period.empty()) return;
  plan.records.period_ps = parse_time("report.period", period, clocks);
  if (plan.records.period_ps == 0) throw UserError("report.period", "expected a time above 0, found '" + period + "'");
}

}  // namespace

std::vector<OptionSpec> platform_options() {
  return {{.name = "--platform",
           .placeholder = "NAME|FILE",
           .text = "a shipped description (" + joined(platform::shipped_descriptions()) +
                   ") or a file; trn1 where the program does not say otherwise"},
          {.name = "-c",
           .placeholder = "PATH=VALUE",
           .text = "set one value of the description; the last wins",
           .repeatable = true},
          plugin_option()};
}

platform::LoadedDescription load_platform(const Arguments& arguments, std::string_view machine) {
  return platform::load_description(arguments.value("--platform", platform::default_description(machine)),
                                    arguments.all("-c"), memory_models());
}

platform::LoadedDescription load_platform_for(const runtime::Program& program, const Arguments& arguments) {
  const auto name = arguments.value("--platform", platform::default_description(program.machine()));
  auto loaded = platform::load_description(name, arguments.all("-c"), memory_models());
  const auto has = platform::machine_of(loaded.description).name();
  if (program.machine().empty() || program.machine() == has) return loaded;
  const std::string runs_on = std::string(program.name()) + " runs on a " + std::string(program.machine()) + " machine";
  const auto shipped = platform::default_description(program.machine());
  if (name == shipped)  // so -c has made another machine of it
    throw UserError("-c", runs_on + "; '" + name + "' as -c changes it " +
                              (program.machine() == "cube" ? "names no cube" : "is a " + std::string(has)));
  throw UserError("--platform", runs_on + " (" + shipped + "), found '" + name + "', which is a " + std::string(has));
}

std::vector<OptionSpec> run_options() {
  auto options = platform_options();
  const std::vector<OptionSpec> own{
      {.name = "--check",
       .takes = Takes::optional_value,
       .placeholder = "exact|ulp N|tolerance R",
       .text = "compare the results with a reference computed on the host"},
      {.name = "--report", .placeholder = "FILE", .text = "write the report (JSON) there"},
      {.name = "--transactions", .placeholder = "FILE.csv", .text = "write every transaction there, a line each"},
      {.name = "--timeline",
       .placeholder = "FILE.json[.gz]",
       .text = "write a timeline there, for ui.perfetto.dev or chrome://tracing"},
      {.name = "--timeline-cap",
       .placeholder = "EVENTS",
       .default_value = "1000000",
       .text = "stop the timeline, with a mark, after so many events"},
      {.name = "--vcd", .placeholder = "FILE", .text = "write waves there, and a GTKWave view beside it"},
      {.name = "--trace",
       .placeholder = "GLOB|!GLOB",
       .default_value = "*",
       .text = "probes to record; with ! those not to record; repeatable",
       .repeatable = true},
      {.name = "--trace-from",
       .placeholder = "TIME",
       .default_value = "0",
       .text = "waves begin there, with the values of that time"},
      {.name = "--trace-to", .placeholder = "TIME", .text = "waves end there; the run goes on"},
      {.name = "--load",
       .placeholder = "ADDR=FILE",
       .text = "put a file's bytes (a .npy: its payload) into memory before the program starts: hbm+0x1000=x.bin",
       .repeatable = true},
      {.name = "--dump",
       .placeholder = "ADDR:BYTES=FILE",
       .text = "write what memory holds when the run has ended: core0.sbuf+0x40000:4KiB=y.bin, hbm+0x3000:8=d.bin",
       .repeatable = true},
      {.name = "--break",
       .placeholder = "UNIT@N",
       .text = "stop before that unit executes instruction (descriptor) N and show the machine: pe@412, dma0.q3@7; "
               "of a CUBE: bundle@2"},
      {.name = "--max-time",
       .placeholder = "TIME",
       .text = "give up at that simulated time: 20ms, 1500cycles@pe, 1500cycles@cube"},
      {.name = "--seed", .placeholder = "N", .default_value = "1", .text = "seed of everything random"},
      {.name = "--quantum",
       .placeholder = "TIME",
       .default_value = "0ps",
       .text = "how far a sole user of its resources may run ahead; no result depends on it"},
      {.name = "--construction-seed",
       .placeholder = "N",
       .default_value = "0",
       .text = "build the platform's parts in another order; no result depends on it"},
      {.name = "--arithmetic",
       .placeholder = "on|off",
       .default_value = "on",
       .text = "off: times and checks only, no tensor is computed"},
      {.name = "--threads",
       .placeholder = "1|2",
       .default_value = "1",
       .text = "2: a second thread computes the bytes beside the simulation; no result depends on it"},
      {.name = "--progress",
       .placeholder = "auto|on|off",
       .default_value = "auto",
       .text = "a progress line on stderr"},
      {.name = "-q", .takes = Takes::nothing, .text = "no summary"}};
  options.insert(options.end(), own.begin(), own.end());
  return options;
}

std::string run_help() {
  return "usage: tilevp run PROGRAM [program options] [run options]\n\nprograms: " + joined(programs().names()) +
         " (a unique last part is enough)\n'tilevp run PROGRAM --help' lists the program's options.\n\nrun options:\n" +
         help_lines(run_options());
}

runtime::CheckRequest parse_check(const std::string& text, std::string_view option) {
  using Kind = runtime::CheckRequest::Kind;
  if (text.empty() || text == "exact") return {Kind::exact, 0};
  const auto split = text.find_first_of(" :");
  const std::string kind = text.substr(0, split);
  const std::string bound = split == std::string::npos ? "" : text.substr(split + 1);
  if (kind == "ulp")
    return {Kind::ulp, static_cast<double>(whole_number(option.empty() ? "--check=ulp" : option, bound, 0, 1u << 31))};
  if (kind == "tolerance")
    return {Kind::tolerance, non_negative_number(option.empty() ? "--check=tolerance" : option, bound)};
  throw UserError("--check", "expected exact, 'ulp N' or 'tolerance R', found '" + text + "'");
}

RunPlan plan_run(Words words) {
  if (words.empty() || words[0].starts_with("-"))
    throw UserError("run", "expected a program first: " + joined(programs().names()));
  RunPlan plan;
  plan.program = programs().make(words[0]);
  auto known = option_specs(*plan.program);
  const auto common = run_options();
  known.insert(known.end(), common.begin(), common.end());
  const auto arguments = parse_arguments(words.subspan(1), known, "tilevp run " + std::string(plan.program->name()));
  no_more_words(*plan.program, arguments);

  plan.options = option_texts(*plan.program, arguments);
  plan.platform = load_platform_for(*plan.program, arguments);
  const auto clocks = platform::clock_domains(plan.platform.description);
  plan.report_file = arguments.value("--report");
  read_waves(plan, arguments, clocks);
  read_memory_files(plan, arguments);
  read_break(plan, arguments);
  read_records(plan, arguments, clocks);
  check_files_of(plan, arguments);
  if (arguments.has("--max-time")) plan.max_time_ps = parse_time("--max-time", arguments.value("--max-time"), clocks);
  plan.quantum_ps = parse_time("--quantum", arguments.value("--quantum", "0ps"), clocks);
  plan.construction_seed =
      whole_number("--construction-seed", arguments.value("--construction-seed", "0"), 0, UINT64_MAX);
  if (arguments.has("--threads"))
    plan.threads =
        static_cast<unsigned>(whole_number("--threads", arguments.value("--threads"), 1, EffectsQueue::max_threads));
  plan.quiet = arguments.has("-q");
  plan.progress = wants_progress(arguments, plan.quiet);

  plan.request.options = option_values(*plan.program, arguments);
  if (arguments.has("--check")) plan.request.check = parse_check(arguments.value("--check"));
  plan.request.seed = whole_number("--seed", arguments.value("--seed", "1"), 0, UINT64_MAX);
  plan.request.arithmetic = choice("--arithmetic", arguments.value("--arithmetic", "on"), {"on", "off"}) == "on";
  if (!plan.request.arithmetic && arguments.has("--check"))
    throw UserError("--check", "nothing is computed with --arithmetic off, so there is nothing to check");
  if (!plan.request.arithmetic && arguments.has("--dump"))
    throw UserError("--dump", "nothing is computed with --arithmetic off, so there is nothing to write");
  if (!plan.request.arithmetic && arguments.has("--break"))
    throw UserError("--break", "nothing is computed with --arithmetic off, so there are no operands to show");
  if (!plan.request.arithmetic && arguments.has("--output"))
    throw UserError("--output", "nothing is computed with --arithmetic off, so there is nothing to write");
  return plan;
}

}  // namespace tilevp::command
