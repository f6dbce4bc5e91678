#pragma once
// The accelerator of a platform: what a kind of machine brings beside the host, the router and the memory. One kind a
// file (neuron_machine.cpp); the description says which.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/base/break_point.hpp"
#include "tilevp/base/clock_domain.hpp"
#include "tilevp/base/simulation.hpp"
#include "tilevp/interconnect/router.hpp"
#include "tilevp/memory/memory.hpp"
#include "tilevp/platform/wiring.hpp"

namespace tilevp::platform {

struct Description;
class HostAgent;

// Registers of one window, as a Markdown table.
struct RegisterWindow {
  std::string name;
  std::string table;
};

// A memory of the address map. Its bytes lie in pieces (partitions) of `piece_bytes`, `piece_stride` apart; one piece
// where it has none.
struct MemoryRegion {
  std::string name;  // "hbm", "core0.sbuf", "core0.psum"
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::uint64_t piece_stride = 0;
  std::uint64_t piece_bytes = 0;
  bool read_only = false;  // and only where something lies: the tiles of a CUBE core
};

// Bytes of a memory that held data: a byte that was written once counts for good.
struct Occupancy {
  std::string path;
  std::vector<std::uint64_t> by_partition;
  std::vector<std::uint64_t> by_bank;  // empty where there are none
};

using Steps = std::vector<std::function<void()>>;

// What a machine sees of the platform around it.
struct MachineSurroundings {
  Simulation& simulation;
  const Description& description;
  // The built-in memory, once it is built; null where a plug-in's stands in its place.
  std::function<const memory::Memory*()> hbm;
  // A debug read; false where not all bytes lie in memory.
  std::function<bool(std::uint64_t address, std::span<std::byte> bytes)> read;
};

class Machine {
 public:
  virtual ~Machine() = default;
  // Makes its parts; then binds them to each other and to the router. Steps of one list may run in any order.
  virtual Steps construction() = 0;
  virtual Steps bindings(Wiring& wiring, interconnect::Router& router) = 0;
  // Last: interrupt lines, and whatever is not a socket.
  virtual void connect(HostAgent& host) = 0;

  virtual std::vector<RegisterWindow> register_windows() const = 0;
  // Of its on-chip memories, as the run stands.
  virtual std::vector<Occupancy> occupancy() const { return {}; }
  // As Platform::break_at, stopped_text and state_text.
  virtual void break_at(std::string_view option, const std::string& unit, std::uint64_t number) = 0;
  virtual std::string stopped_text(const BreakReached& where) const = 0;
  virtual std::string state_text(const BreakReached& where) const = 0;
};

// Outputs of the router: the memory's, then the machine's.
inline constexpr unsigned hbm_output = 0;
inline constexpr unsigned first_machine_output = 1;

// What is known of a machine before it is built. Its core's window stands at map.core0_base.
class MachineKind {
 public:
  virtual ~MachineKind() = default;
  virtual std::string_view name() const = 0;  // as programs say what they run on: "neuroncore", "cube"
  virtual std::uint64_t window_bytes() const = 0;
  virtual std::vector<interconnect::Region> regions(const Description& description) const = 0;
  virtual std::vector<MemoryRegion> memories(const Description& description) const = 0;
  virtual std::vector<ClockDomain> clocks(const Description& description) const = 0;
  // Throws KeyError.
  virtual void check(const Description& description, const std::string& path) const = 0;
  // Its lines in a description as a person reads it.
  virtual std::string text(const Description& description) const = 0;
  virtual std::unique_ptr<Machine> make(MachineSurroundings surroundings) const = 0;
};

const MachineKind& neuron_machine();
const MachineKind& cube_machine();

}  // namespace tilevp::platform
