#pragma once
// The driver: brings a program into memory and runs it on a CUBE core. Everything goes through runtime::Host: memory
// and registers.
#include <cstdint>
#include <span>
#include <string>

#include "tilevp/pto/machine.hpp"
#include "tilevp/runtime/host.hpp"

namespace tilevp::pto {

// What the core counted since it was built.
struct WorkCounters {
  std::uint64_t bundles = 0;
  std::uint64_t words = 0;
  std::uint64_t macs = 0;
  std::uint64_t issued_macs = 0;
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
};

class Driver {
 public:
  // The core is region "core0" of the host's map, its memory region "hbm".
  explicit Driver(runtime::Host& host);

  const Machine& machine() const { return machine_; }

  // `bytes` of memory, at a multiple of 64; never freed. UserError(name) where there is no room.
  std::uint64_t allocate(const std::string& name, std::uint64_t bytes);
  std::uint64_t store(const std::string& name, std::span<const std::byte> bytes);

  void set_gpr(unsigned gpr, std::uint64_t value);
  // Puts the words into memory, starts the core and returns when it has halted: the time from start to halt, in ps.
  std::uint64_t run(std::span<const std::byte> words);
  // The same at an address.
  std::uint64_t run_at(std::uint64_t address, std::span<const std::byte> words);
  // The last place in memory that has room for `bytes`. UserError(name) where there is none.
  std::uint64_t last_place(const std::string& name, std::uint64_t bytes) const;

  std::uint8_t flags() const;  // sticky NumericFlag bits
  WorkCounters counters() const;

 private:
  std::uint64_t control(std::uint64_t offset) const;

  runtime::Host& host_;
  Machine machine_;
  std::uint64_t next_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace tilevp::pto
