#pragma once
// A DMA engine: copies n-D patterns between memories as descriptors in rings tell it.
//
//   doorbells --> ring q --> fetch --> waiting --> [round robin by packet] --> packets in flight --> commit, semaphore,
//   (registers,   (memory,   (through  (decoded,    an engine at a time:       (up to                interrupt, head
//    trigger())    16)        memory)   in order)   its floors and rate)        outstanding_packets)
//
// Time. A descriptor may run `start_latency` after its doorbell, or once it is fetched when that is later. Its packets
// go one after the other: a packet asks both memories for time when the engine is free, begins when both begin, and
// frees the engine after max(run floor, bytes / rate) summed over its runs. It ends when the read, the write and the
// engine have ended and no packet of the same queue issued before is still in flight.
//
// The hardware moves at most 64 KiB a descriptor element; here a descriptor is a whole n-D copy and any size goes.
// A memory without direct access (memory_access.hpp) is served too, run by run. A loosely timed engine moves one packet
// at a time, slowly; with coding_style `at` up to outstanding_packets are in flight, the reads of each before its
// writes.
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/base/agent.hpp"
#include "tilevp/base/register_file.hpp"
#include "tilevp/base/simulation.hpp"
#include "tilevp/dma/packets.hpp"
#include "tilevp/dma/parameters.hpp"
#include "tilevp/dma/queue.hpp"
#include "tilevp/dma/registers.hpp"
#include "tilevp/memory/initiator_port.hpp"

namespace tilevp::dma {

// Where completions are counted: the semaphores of a core.
class SemaphoreSink {
 public:
  // Called when the last byte of a descriptor is written; `cause` is the descriptor's id.
  virtual void add(unsigned semaphore, std::int32_t amount, std::uint64_t cause) = 0;

 protected:
  ~SemaphoreSink() = default;
};

// One descriptor that ran, for timelines and transaction lists. Times in ps.
struct DescriptorRecord {
  unsigned queue;
  std::uint64_t number;       // since the ring base was set
  std::uint64_t id;           // the cause of its accesses to memory and of its semaphore update
  std::uint64_t fetch;        // id of the fetch that brought it
  std::uint64_t cause;        // id of what released it: a trigger instruction, the register access; 0: it has none
  std::uint64_t doorbell_ps;  // when that was
  std::uint64_t ready_ps;     // it could run from here
  std::uint64_t begin_ps;     // its first packet began
  std::uint64_t end_ps;       // its last byte is written
};

class DescriptorObserver {
 public:
  // When the descriptor ends, before its semaphore changes.
  virtual void ended(const DescriptorRecord& record) = 0;

 protected:
  ~DescriptorObserver() = default;
};

// What orders the descriptors of an engine, for who looks for races.
class OrderObserver {
 public:
  // So many more descriptors of the queue were released, by the operation `cause`.
  virtual void rang(unsigned queue, std::uint32_t descriptors, std::uint64_t cause) = 0;
  // Descriptor `number` has read or written these bytes: called once a side, or for each packet of one that gathers or
  // scatters. May throw Fault.
  virtual void touched(unsigned queue, std::uint64_t number, const memory::AccessPattern& bytes, bool write) = 0;
  // And has ended; its semaphore and interrupt follow.
  virtual void ended(unsigned queue, std::uint64_t number, bool interrupts) = 0;
  // All that was released and has not ended is dropped.
  virtual void dropped() = 0;

 protected:
  ~OrderObserver() = default;
};

// Throws UserError at `place` naming the key that is out of range.
void validate(const Parameters& parameters, std::string_view place);

class DmaEngine : public sc_core::sc_module {
 public:
  // `port` is the engine's number in same-instant arbitration. Throws UserError as `validate` does.
  DmaEngine(sc_core::sc_module_name name, Simulation& simulation, const Parameters& parameters, unsigned port,
            std::string_view place = "dma");
  ~DmaEngine() override;

  // To bind: the way to the memories and rings, and the register window (registers.hpp).
  memory::InitiatorPort& memory() { return memory_; }
  RegisterFile& registers() { return registers_; }

  // To connect while the platform is built. A descriptor that signals without a sink is a fault.
  void connect_semaphores(SemaphoreSink& sink) { semaphores_ = &sink; }
  // Which addresses are SBUF: transposes end there, and cost by where they begin. Without it there are none.
  void connect_sbuf(std::uint64_t base, std::uint64_t bytes) {
    sbuf_base_ = base;
    sbuf_bytes_ = bytes;
  }
  // Called with the level of the engine's interrupt line when it changes: high while a bit of the interrupt register is
  // set, that is from the end of a descriptor with the interrupt flag until the bits are cleared.
  void on_interrupt(std::function<void(bool level)> callback) { interrupt_changed_ = std::move(callback); }
  // Sees every descriptor.
  void observe(DescriptorObserver& observer) { observer_ = &observer; }
  void observe(OrderObserver& observer) { order_ = &observer; }

  // Releases the next `count` descriptors of a queue, now: what the doorbell register and a core's trigger instruction
  // do. `cause` is the id of what released them, 0 where it has none. Throws Fault `dma.queue`, `dma.ring` or
  // `dma.doorbell`.
  void trigger(unsigned queue, std::uint32_t count, std::uint64_t cause);

  // Bytes written by the descriptors' packets that have ended.
  std::uint64_t queue_bytes(unsigned queue) const { return queues_.at(queue)->bytes_count.value(); }
  // Stops the run before descriptor `number` of a queue: when the engine could cut its first packet.
  void break_at(unsigned queue, std::uint64_t number) { queues_.at(queue)->break_at = number; }
  const Queue& queue(unsigned index) const { return *queues_.at(index); }
  // Whether a released descriptor has not ended.
  bool busy() const;

 private:
  struct Flight;
  struct Fetch;

  void add_registers();
  void add_statistics();

  void run();
  void wake();
  void sleep();
  Queue* choose();
  void reset();

  void fetch_blocks();
  void fetch(Queue& queue, const Queue::Block& block);
  void deliver(const Fetch& fetch);

  void start(Queue& queue);
  // How the memories of a copy are reached; with several, as the least of them.
  void reach(Queue::Running& running, const Copy& copy);
  void choose_rows(Queue& queue, Queue::Running& running);
  void next_row(Queue::Running& running);
  Packet next_packet(Queue::Running& running);
  // Of a copy's rate. Throws Fault `dma.transpose`.
  std::uint32_t transpose_percent(const Descriptor& descriptor) const;
  bool in_sbuf(const memory::AccessPattern& pattern) const { return pattern.start() - sbuf_base_ < sbuf_bytes_; }
  void issue(Queue& queue);
  Flight& take_flight(Queue& queue);
  // Three ways to issue a packet: ask for time only, move the bytes while waiting, start its runs (reads first).
  void request(Flight& flight, const Queue::Running& running);
  void move(Flight& flight);
  void start_reads(Flight& flight, const Queue::Running& running);
  void start_writes(Flight& flight);
  bool start_waiting_writes();
  void move_side(Flight& flight, memory::Command command, const memory::Reach& reach, std::byte* data);
  void occupy(Flight& flight, std::uint64_t begin_ps);
  void count_outstanding_stall(std::uint64_t ready_ps);
  void stalled(Counter& counter, std::string_view cause, std::uint64_t from_ps, std::uint64_t to_ps);
  // What the engine tells who watches (reports.cpp).
  void report_packet(const Flight& flight) const;
  void report_descriptor(const Flight& flight) const;
  void report_in_flight(std::int64_t bytes) const;
  void drain();
  void drain(Queue& queue);
  void settle(Flight& flight, std::uint64_t asked);
  // Packets of a queue end in order: lands those at the front that have all their responses.
  void retire(Queue& queue);
  void land(Flight& flight);
  void answered(Flight& flight);
  [[noreturn]] void access_failed(const Flight& flight, const Fault& fault);
  bool at() const { return parameters_.coding_style == memory::CodingStyle::at; }
  std::uint64_t free_ps() const { return static_cast<std::uint64_t>((free_ + 0xffff'ffff) >> 32); }

  void end_packet(Flight& flight);
  void commit(Flight& flight);
  void end_descriptor(const Flight& flight);
  void report_bytes(const Flight& flight) const;
  void update_interrupt();

  Simulation& simulation_;
  Parameters parameters_;
  EngineTime time_;
  std::uint64_t start_latency_ps_;
  Agent agent_;
  memory::InitiatorPort memory_;
  RegisterFile registers_;
  Register* interrupt_ = nullptr;
  SemaphoreSink* semaphores_ = nullptr;
  std::uint64_t sbuf_base_ = 0;
  std::uint64_t sbuf_bytes_ = 0;
  DescriptorObserver* observer_ = nullptr;
  OrderObserver* order_ = nullptr;
  std::function<void(bool)> interrupt_changed_;
  bool interrupt_level_ = false;

  std::array<std::unique_ptr<Queue>, registers::queues> queues_;
  std::array<std::unique_ptr<Fetch>, registers::queues> fetches_;
  std::vector<std::unique_ptr<Flight>> flights_;
  std::vector<Flight*> idle_flights_;
  std::array<std::deque<Flight*>, registers::queues> flying_;  // of each queue, in order, until their end is settled
  std::deque<Flight*> to_write_;                               // packets moved by runs whose reads have ended
  unsigned in_flight_ = 0;
  unsigned next_queue_ = 0;
  std::uint32_t pending_queues_ = 0;  // bit q: queue q has descriptors that have not ended
  CyclesQ32 free_ = 0;                // when the engine takes the next packet, in ps * 2^32
  std::uint64_t slot_freed_ps_ = 0;   // when the limit on packets in flight last held the engine up
  bool woken_ = false;
  bool resetting_ = false;
  bool watches_flights_ = false;
  sc_core::sc_event wake_event_;
  std::vector<std::byte> source_bytes_;  // scratch of effects: one packet
  std::vector<std::byte> target_bytes_;
  std::vector<float> wide_;

  CyclesQ32 busy_ = 0;
  Counter busy_ps_;
  Counter packets_;
  Counter stalled_descriptor_ps_;
  Counter stalled_outstanding_ps_;
  Counter stalled_memory_ps_;
  Probe busy_probe_;
};

}  // namespace tilevp::dma
