#pragma once
// What a program sees of the machine: addresses, bytes, interrupts, time. A TLM initiator stands behind it; nothing
// reaches into a model from the side.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilevp::runtime {

// One range of the host's address map, named as in the platform's description ("hbm", "core0").
struct Region {
  std::string name;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
};

class Host {
 public:
  virtual ~Host() = default;

  // Ordered by address.
  virtual const std::vector<Region>& map() const = 0;
  // The region of that name. Throws UserError naming the regions there are.
  const Region& region(std::string_view name) const;

  // Blocking accesses, each with the host's stated cost. Throws Fault on an error response, with address and size.
  virtual void write(std::uint64_t address, std::span<const std::byte> bytes) = 0;
  virtual void read(std::uint64_t address, std::span<std::byte> bytes) = 0;
  // Returns when interrupt line `line` is raised (a core: its number; the DMA engines: dma::registers::interrupt_line);
  // the program clears it in the device.
  virtual void wait_for_interrupt(unsigned line) = 0;
  virtual std::uint64_t now_ps() const = 0;

  template <class T>
  void write_value(std::uint64_t address, T value) {
    std::byte bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    write(address, bytes);
  }
  template <class T>
  T read_value(std::uint64_t address) {
    std::byte bytes[sizeof(T)];
    read(address, bytes);
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
  }
};

}  // namespace tilevp::runtime
