#pragma once
// A CUBE core with a memory and a host: enough to run a program in a test.
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "tilevp/base/agent.hpp"
#include "tilevp/cube/bundle_observer.hpp"
#include "tilevp/cube/cube_core.hpp"
#include "tilevp/cube/parameters.hpp"
#include "tilevp/cube/registers.hpp"
#include "tilevp/memory/initiator_port.hpp"
#include "tilevp/memory/memory.hpp"

namespace tilevp::cube::test {

using Bytes = std::vector<std::byte>;

inline constexpr std::uint64_t program_address = 0x10'0000;
inline constexpr std::uint64_t data_address = 0x20'0000;

// Little-endian elements of 1, 2, 4 or 8 bytes.
template <class Element>
Bytes bytes_of(const std::vector<Element>& elements) {
  const auto raw = std::as_bytes(std::span(elements));
  return {raw.begin(), raw.end()};
}

// ---- Programs: bytes appended word by word.

class Words {
 public:
  Words& word(std::uint32_t value) { return append(value, 4); }
  Words& half(std::uint16_t value) { return append(value, 2); }
  Words& words(std::initializer_list<std::uint32_t> values) {
    for (const std::uint32_t value : values) word(value);
    return *this;
  }
  Words& command(const Command& command);
  // Rows of memory at `address`, dense, into a tile of a size code in a hand; PEs by PEMode.
  Words& load(std::uint64_t address, unsigned layout, DataType type, unsigned rows, unsigned columns,
              unsigned size_code, Hand hand, unsigned pe_mode = 7);
  // The tile that a source code names, dense.
  Words& store(std::uint64_t address, unsigned layout, DataType type, unsigned rows, unsigned columns,
               unsigned selector, unsigned pe_mode = 7);
  std::uint64_t size() const { return bytes_.size(); }
  std::uint64_t instructions() const { return instructions_; }
  const Bytes& bytes() const { return bytes_; }

 private:
  Words& append(std::uint64_t value, unsigned bytes);
  Bytes bytes_;
  std::uint64_t instructions_ = 0;
};

struct BenchOptions {
  Parameters parameters{};
  SimulationOptions simulation{};
  memory::MemoryParameters memory{.size_bytes = 1 << 24};
  bool host_first = true;      // the order in which modules are made
  bool keep_records = true;    // of bundles
  bool bind_transfers = true;  // TLOAD and TSTORE to the memory
};

class CubeBench : public sc_core::sc_module, private BundleObserver {
 public:
  explicit CubeBench(const BenchOptions& options = {});

  // Before run(): bytes that the host writes to memory before it starts the core.
  void data(std::uint64_t address, Bytes bytes) { data_.push_back({address, std::move(bytes)}); }
  void program(const Words& words) { program_ = words.bytes(); }
  // Instead of starting and awaiting the halt: what the host does.
  std::function<void()> host;
  // When the core has halted.
  std::function<void()> after;

  // On the host's thread.
  void write(std::uint64_t address, std::span<const std::byte> bytes);
  Bytes read(std::uint64_t address, std::size_t bytes);
  void set(std::uint64_t offset, unsigned bytes, std::uint64_t value);
  std::uint64_t get(std::uint64_t offset, unsigned bytes = 4);
  // `bytes` bytes of the tile that a source code names, in one PE, in the order of programs.
  Bytes tile(unsigned selector, unsigned pe, std::size_t bytes);
  void start();
  // Until an interrupt; clears and returns its bits.
  std::uint64_t await_interrupt();
  // start, await_interrupt.
  void run_program();

  void run();

  Simulation simulation;
  std::unique_ptr<memory::Memory> dram;
  std::unique_ptr<CubeCore> core;
  std::vector<BundleRecord> records;

  std::uint64_t statistic(std::string_view unit, std::string_view name) const;
  // Cycles of the core's clock from the start of its first bundle's header.
  std::uint64_t cycle(std::uint64_t time_ps) const { return core->clock().edge_at_or_after(time_ps); }

 private:
  struct Piece {
    std::uint64_t address;
    Bytes bytes;
  };
  void committed(const BundleRecord& record) override { records.push_back(record); }
  void host_thread();

  std::unique_ptr<Agent> agent_;
  std::unique_ptr<memory::InitiatorPort> to_dram_;
  std::unique_ptr<memory::InitiatorPort> to_control_;
  std::unique_ptr<memory::InitiatorPort> to_tiles_;
  std::vector<Piece> data_;
  Bytes program_;
  bool pending_ = false;
  sc_core::sc_event interrupted_;
};

}  // namespace tilevp::cube::test
