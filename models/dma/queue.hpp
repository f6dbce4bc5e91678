#pragma once
// One ring of an engine: what its doorbell released, what was fetched, what runs, what has ended.
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "tilevp/base/break_point.hpp"
#include "tilevp/base/simulation.hpp"
#include "tilevp/dma/packets.hpp"
#include "tilevp/memory/initiator_port.hpp"

namespace tilevp::dma {

// Descriptors are numbered from 0 since the ring base was set; number n lies in slot n % size of the ring.
class Queue {
 public:
  static constexpr std::uint64_t no_time = UINT64_MAX;
  // A decoded descriptor that waits for its turn.
  struct Ready {
    Descriptor descriptor;
    std::uint64_t number = 0;
    std::uint64_t doorbell_ps = 0;
    std::uint64_t ready_ps = 0;  // may run from then on
    std::uint64_t fetch = 0;     // id of the fetch that brought it
    std::uint64_t cause = 0;     // id of what rang the doorbell; 0: it has none
  };
  // The descriptor that is being cut into packets.
  struct Running {
    Ready entry;
    PacketCutter cutter;
    std::vector<Copy> rows{};  // after the one that is being cut, last first: of a descriptor that gathers or scatters
    bool moves = true;         // false: it is empty, or none of its rows is in bounds
    std::uint64_t id = 0;
    std::uint64_t begin_ps = no_time;  // of its first packet
    memory::Reach source{true, false};
    memory::Reach destination{true, false};
    bool direct() const { return source.direct && destination.direct; }
  };
  // The next descriptors to fetch: one contiguous piece of the ring.
  struct Block {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::uint64_t address = 0;
    std::uint64_t cause = 0;
  };

  Queue(Simulation& simulation, const std::string& engine, unsigned index, const Parameters& parameters);

  unsigned index() const { return index_; }
  const std::string& name() const { return name_; }
  // As statistics and probes name it: "core0.dma3.queue5".
  const std::string& path() const { return path_; }
  // "core0.dma3 queue 5 descriptor 17", for messages.
  std::string place(std::uint64_t number) const { return name_ + " descriptor " + std::to_string(number); }

  // Programming the ring; throws Fault `dma.ring_busy` while descriptors are pending.
  void set_base(std::uint64_t address);
  void set_size(std::uint32_t descriptors);
  // Releases `count` more descriptors. Throws Fault `dma.ring` when the ring is not set up, `dma.doorbell` when more
  // are pending than it holds.
  void ring(std::uint32_t count, std::uint64_t now, std::uint64_t ready_ps, std::uint64_t cause);
  void end_descriptor();
  // As built, but for statistics: no ring, nothing released. Nothing of the queue may be in flight.
  void reset();

  // Descriptors ended since the ring base was set.
  std::uint64_t completed() const { return completed_; }
  bool pending() const { return rung_ != completed_; }
  // Descriptors released since the ring base was set, and how many the ring holds.
  std::uint64_t released() const { return rung_; }
  std::uint32_t ring_size() const { return ring_size_; }
  // Number of the descriptor that the run stops before.
  std::uint64_t break_at = no_break;
  // The block to fetch now, if any: at most the prefetch limit ahead, again when half of it is used up.
  std::optional<Block> next_block() const;
  void begin_fetch() { fetching_ = true; }
  // `descriptor` is number `number`, decoded at `now`; `fetch` is the id of what brought it.
  void fetched(const Descriptor& descriptor, std::uint64_t number, std::uint64_t now, std::uint64_t fetch);
  void end_fetch() { fetching_ = false; }
  bool fetching() const { return fetching_; }

  // When the first waiting or running descriptor may go on; nothing when none is there.
  std::optional<std::uint64_t> ready_ps() const;

  std::deque<Ready> waiting;
  std::optional<Running> running;
  std::uint64_t last_end_ps = 0;  // packets of a queue end in order

  Counter descriptors_count;
  Counter runs_count;
  Counter bursts_count;
  Counter bytes_count;
  Counter wasted_count;
  Counter busy_ps;
  Probe depth;

 private:
  struct Doorbell {
    std::uint64_t end = 0;  // number of the first descriptor it did not release
    std::uint64_t at_ps = 0;
    std::uint64_t ready_ps = 0;
    std::uint64_t cause = 0;
  };
  void require_idle(const char* what) const;
  void set_depth(std::uint64_t now, std::int64_t change);

  unsigned index_;
  std::string name_;
  std::string path_;
  Simulation& simulation_;
  std::uint32_t prefetch_;
  std::uint64_t ring_base_ = 0;
  std::uint32_t ring_size_ = 0;
  bool base_set_ = false;
  bool fetching_ = false;
  std::uint64_t rung_ = 0;
  std::uint64_t fetched_ = 0;
  std::uint64_t completed_ = 0;
  std::deque<Doorbell> doorbells_;
};

}  // namespace tilevp::dma
