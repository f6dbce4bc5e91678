#pragma once
// What happened, as it happens: every transaction, instruction, descriptor and wait of a run, for lists and timelines.
// With nobody watching (Simulation::transactions() is null) a model pays one pointer test.
#include <cstdint>
#include <string>
#include <string_view>

namespace tilevp {

// Ids of operations. They name the agent that issued one and count its operations, so they depend on neither the
// quantum nor the order in which processes run:  port << 44 | count << 8 | part.  0 means "none". `part` numbers what
// an operation is made of (the tile accesses of an instruction).
inline constexpr unsigned id_part_bits = 8;
inline constexpr unsigned id_count_bits = 36;
constexpr std::uint64_t id_of(unsigned port, std::uint64_t count) {
  return std::uint64_t{port} << (id_count_bits + id_part_bits) | count << id_part_bits;
}
constexpr unsigned port_of_id(std::uint64_t id) { return static_cast<unsigned>(id >> (id_count_bits + id_part_bits)); }
constexpr std::uint64_t count_of_id(std::uint64_t id) {
  return (id >> id_part_bits) & ((std::uint64_t{1} << id_count_bits) - 1);
}
constexpr unsigned part_of_id(std::uint64_t id) { return static_cast<unsigned>(id & ((1U << id_part_bits) - 1)); }

// A text that is made only when somebody wants it: `append` writes what `object` points to.
struct LazyText {
  const void* object = nullptr;
  void (*append)(const void* object, std::string& to) = nullptr;
};

// One transaction. Times in ps; end_ps is never before the present when it is reported. The views last as long as the
// modules, `what` as long as the call.
struct Transaction {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  // what it is part of, or what brought it: the fetch of an instruction or a descriptor
  std::uint64_t cause = 0;   // what released it: a doorbell, a trigger, the operation behind a semaphore
  std::string_view initiator{};
  std::string_view target{};
  std::string_view
      kind{};  // "read", "write", "tile_read", "tile_write", "instruction", "descriptor", "packet", "stall"
  std::string_view name{};  // of an instruction its mnemonic, of a stall its cause; empty otherwise
  LazyText what{};          // address, pattern, operands
  std::uint64_t bytes = 0;
  std::uint64_t requested_ps = 0;
  std::uint64_t begin_ps = 0;
  std::uint64_t end_ps = 0;
  std::uint64_t complete_ps = 0;  // its results are visible from here
  std::string_view status = "ok";
  std::uint64_t busy_ps = 0;  // of its initiator's or target's counter `busy_ps`, what this one added
  std::uint64_t runs = 0;
  std::uint64_t bursts = 0;
  std::uint64_t wasted_bytes = 0;
};

// A level that rises and falls: descriptors in a queue, bytes in flight.
struct LevelChange {
  std::string_view path{};  // "dma0.queue3"
  std::string_view what{};  // "depth"
  std::uint64_t time_ps = 0;
  std::int64_t by = 0;
};

class TransactionObserver {
 public:
  virtual void happened(const Transaction& transaction) = 0;
  // At a time that is not before the present.
  virtual void changed(const LevelChange& change) = 0;

 protected:
  ~TransactionObserver() = default;
};

}  // namespace tilevp
