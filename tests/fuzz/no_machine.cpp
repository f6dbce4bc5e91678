// In the place of the machines, whose models are not part of libFuzzer's build: nothing of a description is theirs to
// check. The fuzz test under ctest, and test_mutated_descriptions, have the real ones.
#include "tilevp/base/errors.hpp"
#include "tilevp/platform/description.hpp"
#include "tilevp/platform/machine.hpp"

namespace tilevp::platform {
namespace {

class NoMachine final : public MachineKind {
 public:
  explicit NoMachine(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }
  std::uint64_t window_bytes() const override { return 1u << 30; }
  std::vector<interconnect::Region> regions(const Description&) const override { return {}; }
  std::vector<MemoryRegion> memories(const Description&) const override { return {}; }
  std::vector<ClockDomain> clocks(const Description&) const override { return {}; }
  void check(const Description&, const std::string&) const override {}
  std::string text(const Description&) const override { return ""; }
  std::unique_ptr<Machine> make(MachineSurroundings) const override { throw Defect("there is no machine"); }

 private:
  std::string_view name_;
};

}  // namespace

const MachineKind& neuron_machine() {
  static const NoMachine machine("neuroncore");
  return machine;
}

const MachineKind& cube_machine() {
  static const NoMachine machine("cube");
  return machine;
}

}  // namespace tilevp::platform

// SystemC's library asks for it; libFuzzer has the main function.
int sc_main(int, char**) { return 0; }
