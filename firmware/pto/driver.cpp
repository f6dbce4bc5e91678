#include "tilevp/pto/driver.hpp"

#include "tilevp/base/errors.hpp"
#include "tilevp/cube/registers.hpp"

namespace tilevp::pto {
namespace {

namespace registers = cube::registers;

constexpr std::uint64_t alignment = 64;
constexpr unsigned interrupt_line = 0;

[[noreturn]] void no_room(const std::string& name, std::uint64_t bytes, std::uint64_t left) {
  throw UserError(name, "takes " + std::to_string(bytes) + " bytes of memory, " + std::to_string(left) + " are left");
}

}  // namespace

Driver::Driver(runtime::Host& host) : host_(host) {
  const runtime::Region& memory = host.region("hbm");
  next_ = memory.base;
  end_ = memory.base + memory.bytes;
  machine_.core_base = host.region("core0").base;
  machine_.isa_revision = host.read_value<std::uint32_t>(control(registers::isa_revision));
  machine_.capacity_bytes = host.read_value<std::uint32_t>(control(registers::capacity_bytes));
  const auto reading = host.read_value<std::uint32_t>(control(registers::reading));
  machine_.absolute_selectors = (reading >> registers::reading_absolute & 1) != 0;
  machine_.accumulate = reading >> registers::reading_accumulate & 3;
  machine_.capacity_per_pe = (reading >> registers::reading_per_pe & 1) != 0;
}

std::uint64_t Driver::control(std::uint64_t offset) const {
  return machine_.core_base + registers::control_window + offset;
}

std::uint64_t Driver::allocate(const std::string& name, std::uint64_t bytes) {
  const std::uint64_t left = end_ - next_;
  if (bytes > left || left - bytes < alignment)
    throw UserError(name, "takes " + std::to_string(bytes) + " bytes of memory, " + std::to_string(left) + " are left");
  const std::uint64_t address = next_;
  next_ += (bytes + alignment - 1) / alignment * alignment;
  return address;
}

std::uint64_t Driver::store(const std::string& name, std::span<const std::byte> bytes) {
  const std::uint64_t address = allocate(name, bytes.size());
  host_.write(address, bytes);
  return address;
}

void Driver::set_gpr(unsigned gpr, std::uint64_t value) { host_.write_value(control(registers::gpr(gpr)), value); }

std::uint64_t Driver::last_place(const std::string& name, std::uint64_t bytes) const {
  if (bytes > end_ - next_) no_room(name, bytes, end_ - next_);
  return (end_ - bytes) / alignment * alignment;
}

std::uint64_t Driver::run(std::span<const std::byte> words) {
  return run_at(allocate("the program", words.size()), words);
}

std::uint64_t Driver::run_at(std::uint64_t address, std::span<const std::byte> words) {
  host_.write(address, words);
  host_.write_value<std::uint64_t>(control(registers::start_pc), address);
  host_.write_value<std::uint64_t>(control(registers::program_end), address + words.size());
  const std::uint64_t begin = host_.now_ps();
  host_.write_value<std::uint32_t>(control(registers::start), 1);
  host_.wait_for_interrupt(interrupt_line);
  const std::uint64_t time_ps = host_.now_ps() - begin;
  host_.write_value(control(registers::interrupt), host_.read_value<std::uint32_t>(control(registers::interrupt)));
  return time_ps;
}

std::uint8_t Driver::flags() const {
  return static_cast<std::uint8_t>(host_.read_value<std::uint32_t>(control(registers::flags)));
}

WorkCounters Driver::counters() const {
  const auto read = [&](std::uint64_t offset) { return host_.read_value<std::uint64_t>(control(offset)); };
  return {read(registers::counter_bundles),     read(registers::counter_words), read(registers::counter_macs),
          read(registers::counter_issued_macs), read(registers::counter_loads), read(registers::counter_stores)};
}

}  // namespace tilevp::pto
