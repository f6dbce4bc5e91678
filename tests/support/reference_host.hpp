#pragma once
// A host whose machine is the untimed ReferenceMachine behind the register map: programs run on it whole, through
// encoded streams and descriptor rings.
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "support/reference_machine.hpp"
#include "tilevp/runtime/host.hpp"

namespace tilevp::test {

class ReferenceHost final : public runtime::Host {
 public:
  explicit ReferenceHost(std::size_t hbm_bytes, const neuron::Machine& machine = {}, std::uint64_t seed = 1);

  const std::vector<runtime::Region>& map() const override { return map_; }
  void write(std::uint64_t address, std::span<const std::byte> bytes) override;
  void read(std::uint64_t address, std::span<std::byte> bytes) override;
  void wait_for_interrupt(unsigned line) override;
  std::uint64_t now_ps() const override { return now_ps_; }

  std::uint64_t runs = 0;

 private:
  std::uint64_t register_value(std::uint64_t offset) const;
  neuron::Schedule schedule_in_memory() const;

  static constexpr std::uint64_t core_base = std::uint64_t{1} << 44;
  neuron::Machine description_;
  ReferenceMachine machine_;
  std::vector<runtime::Region> map_;
  std::map<std::uint64_t, std::uint64_t> written_;  // registers, by offset in the core
  std::uint32_t started_ = 0;
  std::uint32_t interrupt_ = 0;
  std::uint64_t now_ps_ = 0;
};

}  // namespace tilevp::test
