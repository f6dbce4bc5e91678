#pragma once
// A host whose machine is one CUBE core with a memory: programs run on it whole.
#include "cube_bench.hpp"
#include "tilevp/runtime/program.hpp"

namespace tilevp::pto::test {

class CubeHost final : public runtime::Host {
 public:
  explicit CubeHost(cube::test::CubeBench& bench, std::uint64_t memory_bytes);

  const std::vector<runtime::Region>& map() const override { return map_; }
  void write(std::uint64_t address, std::span<const std::byte> bytes) override;
  void read(std::uint64_t address, std::span<std::byte> bytes) override;
  void wait_for_interrupt(unsigned line) override;
  std::uint64_t now_ps() const override;

 private:
  cube::test::CubeBench& bench_;
  std::vector<runtime::Region> map_;
};

struct RunOptions {
  cube::Parameters parameters{};
  runtime::CheckRequest check{.kind = runtime::CheckRequest::Kind::exact};
  std::uint64_t seed = 1;
};

// Prepares and runs a program with these options (`{"shape", "9,10"}`); defaults are filled in as the command does.
runtime::ProgramResult run_program(const std::string& name, const std::map<std::string, std::string>& options,
                                   const RunOptions& run = {});
// What prepare() refuses; empty: nothing.
std::string refusal(const std::string& name, const std::map<std::string, std::string>& options,
                    const runtime::CheckRequest& check = {});

}  // namespace tilevp::pto::test
