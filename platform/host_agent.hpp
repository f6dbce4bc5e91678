#pragma once
// The host: a processor on which the program runs as C++, seen from the machine as one TLM initiator.
//
// An access takes its latency (HostParameters) before it reaches the machine; then it goes piece by piece, each taking
// what its target needs or what the link needs, whichever is longer. Nothing else of the host's own work takes
// simulated time.
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <systemc>
#include <vector>

#include "tilevp/base/agent.hpp"
#include "tilevp/memory/initiator_port.hpp"
#include "tilevp/platform/description.hpp"
#include "tilevp/runtime/host.hpp"

namespace tilevp::platform {

inline constexpr unsigned interrupt_lines = 32;

// Sees what the program's accesses touched or showed it, and the interrupts it took, when they have ended. May throw
// Fault.
class HostObserver {
 public:
  virtual void wrote(std::uint64_t address, std::uint64_t bytes) = 0;
  virtual void read(std::uint64_t address, std::span<const std::byte> bytes) = 0;
  virtual void interrupted(unsigned line) = 0;

 protected:
  ~HostObserver() = default;
};

class HostAgent final : public sc_core::sc_module, public runtime::Host {
 public:
  // `port` is the host's number in same-instant arbitration. `map` is ordered by address.
  HostAgent(sc_core::sc_module_name name, Simulation& simulation, const HostParameters& parameters,
            std::vector<runtime::Region> map, unsigned port);

  memory::InitiatorPort& port() { return port_; }

  void observe(HostObserver& observer) { observer_ = &observer; }

  // The level of an interrupt line, now. Lines are low until set.
  void set_interrupt(unsigned line, bool level);
  // What the host runs from time 0; when it returns the simulation is finished. Call it before the simulation starts.
  void run(std::function<void(runtime::Host&)> program) { program_ = std::move(program); }

  // Host seconds from the begin of the first write to the end of the last access; 0 without a write.
  double access_seconds() const { return std::chrono::duration<double>(last_access_ - first_write_).count(); }

  // Time that memories were busy while the host accessed them, by path.
  const std::map<std::string, std::uint64_t, std::less<>>& memory_busy_ps() const { return memory_busy_ps_; }

  const std::vector<runtime::Region>& map() const override { return map_; }
  void write(std::uint64_t address, std::span<const std::byte> bytes) override;
  void read(std::uint64_t address, std::span<std::byte> bytes) override;
  void wait_for_interrupt(unsigned line) override;
  std::uint64_t now_ps() const override { return agent_.local_ps(); }

 private:
  void access(memory::Command command, std::uint64_t address, std::span<std::byte> bytes, std::uint64_t latency_ps);
  // Tells who watches of the access or wait of the program that has ended now.
  void report_access(std::uint64_t id, std::uint64_t begin_ps) const;
  void report_wait() const;
  WaitingRecord waiting() const;
  WaitingRecord accessing() const;
  // The busy time of the memory at `address`; null where none is counted.
  struct BusyTime {
    std::string path;
    const Counter* counter = nullptr;
  };
  const BusyTime* busy_time(std::uint64_t address);

  HostParameters parameters_;
  std::vector<runtime::Region> map_;
  Simulation& simulation_;
  Agent agent_;
  memory::InitiatorPort port_;
  HostObserver* observer_ = nullptr;
  std::array<bool, interrupt_lines> levels_{};
  sc_core::sc_event raised_;
  std::function<void(runtime::Host&)> program_;
  std::chrono::steady_clock::time_point first_write_{};
  std::chrono::steady_clock::time_point last_access_{};
  unsigned waits_for_line_ = 0;
  std::uint64_t waits_since_ps_ = 0;
  // The access that is under way, for the wait board.
  struct Access {
    memory::Command command = memory::Command::read;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t done = 0;
    std::uint64_t since_ps = 0;
  } current_;
  std::vector<BusyTime> busy_times_;  // one a region of the map, found at the first access
  std::map<std::string, std::uint64_t, std::less<>> memory_busy_ps_;
};

}  // namespace tilevp::platform
