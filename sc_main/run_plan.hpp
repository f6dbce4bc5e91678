#pragma once
// What `tilevp run` was asked to do, read and checked before anything is built.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tilevp/base/effects.hpp"
#include "tilevp/platform/description.hpp"
#include "tilevp/platform/recording.hpp"
#include "tilevp/runtime/program.hpp"
#include "tilevp/sc_main/command.hpp"
#include "tilevp/sc_main/memory_files.hpp"
#include "tilevp/sc_main/programs.hpp"

namespace tilevp::command {

struct RunPlan {
  std::unique_ptr<runtime::Program> program;
  runtime::OptionValues::Texts options;  // of the program
  runtime::RunRequest request{.options = runtime::OptionValues({})};
  platform::LoadedDescription platform;
  std::string report_file;  // empty: none
  std::string vcd_file;     // empty: none
  platform::RecordingOptions records;
  std::vector<std::string> trace_globs;
  std::uint64_t trace_from_ps = 0;
  std::uint64_t trace_to_ps = UINT64_MAX;
  std::vector<LoadFile> loads;
  std::vector<DumpFile> dumps;
  std::string break_unit;  // empty: none
  std::uint64_t break_number = 0;
  std::uint64_t max_time_ps = UINT64_MAX;
  std::uint64_t quantum_ps = 0;
  unsigned threads = EffectsQueue::default_threads();
  std::uint64_t construction_seed = 0;
  bool progress = false;
  bool quiet = false;
};

// Options that choose and change the platform: --platform, -c, --plugin.
std::vector<OptionSpec> platform_options();
// Without --platform: the shipped one of that kind of machine, trn1 where none is named.
platform::LoadedDescription load_platform(const Arguments& arguments, std::string_view machine = "");
// Without --platform: the shipped one of the program's kind of machine. UserError where the program is for another
// kind.
platform::LoadedDescription load_platform_for(const runtime::Program& program, const Arguments& arguments);

std::string run_help();
// The options of a run beside the program's own.
std::vector<OptionSpec> run_options();
RunPlan plan_run(Words words);

// `exact`, `ulp N`, `tolerance R`. A wrong bound is an error of `option`; without one of `--check=ulp` and its like.
runtime::CheckRequest parse_check(const std::string& text, std::string_view option = "");

}  // namespace tilevp::command
