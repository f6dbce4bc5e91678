#include "firmware/pto/cube_host.hpp"

#include <stdexcept>

#include "tilevp/base/errors.hpp"
#include "tilevp/pto/programs.hpp"

namespace tilevp::pto::test {
namespace {

constexpr std::uint64_t core_base = std::uint64_t{1} << 44;

runtime::RunRequest request_of(const runtime::Program& program, const std::map<std::string, std::string>& options,
                               const runtime::CheckRequest& check, std::uint64_t seed) {
  runtime::OptionValues::Texts texts(options.begin(), options.end());
  for (const auto& option : program.options())
    if (!option.default_value.empty()) texts.emplace(option.name, option.default_value);
  return {.options = runtime::OptionValues(std::move(texts)), .check = check, .seed = seed};
}

std::unique_ptr<runtime::Program> make(const std::string& name) {
  runtime::ProgramRegistry registry;
  register_programs(registry);
  return registry.make(name);
}

}  // namespace

CubeHost::CubeHost(cube::test::CubeBench& bench, std::uint64_t memory_bytes)
    : bench_(bench), map_{{"hbm", 0, memory_bytes}, {"core0", core_base, cube::registers::window_bytes}} {}

void CubeHost::write(std::uint64_t address, std::span<const std::byte> bytes) {
  if (address < core_base) return bench_.write(address, bytes);
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  bench_.set(address - core_base, static_cast<unsigned>(bytes.size()), value);
}

void CubeHost::read(std::uint64_t address, std::span<std::byte> bytes) {
  if (address < core_base) {
    const auto data = bench_.read(address, bytes.size());
    std::memcpy(bytes.data(), data.data(), bytes.size());
    return;
  }
  const std::uint64_t value = bench_.get(address - core_base, static_cast<unsigned>(bytes.size()));
  std::memcpy(bytes.data(), &value, bytes.size());
}

void CubeHost::wait_for_interrupt(unsigned) { bench_.await_interrupt(); }

std::uint64_t CubeHost::now_ps() const { return sc_core::sc_time_stamp().value(); }

runtime::ProgramResult run_program(const std::string& name, const std::map<std::string, std::string>& options,
                                   const RunOptions& run) {
  const auto program = make(name);
  program->prepare(request_of(*program, options, run.check, run.seed));
  cube::test::BenchOptions bench_options{.parameters = run.parameters};
  cube::test::CubeBench bench(bench_options);
  CubeHost host(bench, bench_options.memory.size_bytes);
  runtime::ProgramResult result;
  bench.host = [&] { result = program->run(host); };
  bench.run();
  program->write_outputs();
  return result;
}

std::string refusal(const std::string& name, const std::map<std::string, std::string>& options,
                    const runtime::CheckRequest& check) {
  const auto program = make(name);
  try {
    program->prepare(request_of(*program, options, check, 1));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace tilevp::pto::test
