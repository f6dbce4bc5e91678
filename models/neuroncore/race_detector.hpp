#pragma once
// Finds accesses to the same bytes that nothing orders: by what happens before what (Lamport), never by when it
// happened in this run.
//
//   host: its accesses follow each other; start of a sequencer, doorbell -> what it started
//   sequencer: its records follow each other; a wait follows the updates that it needs (semaphore_order.hpp); a drain
//     follows all its unit was given
//   unit: an instruction follows its sequencer's record and the unit's instruction before; its update, with it
//   DMA queue: a descriptor follows what released it and the queue's descriptor before; its update, with it. Queues
//     do not follow each other, nor do the same queues of two DMA engines
//   host: a read that shows a halt, an interrupt bit, a count of a semaphore or of a ring -> what it shows has ended
//
// An access is looked at when it commits. It faults (`race.access`) where an earlier one that its agent knows nothing
// of touched one of its bytes and one of the two writes; a wait faults (`race.ambiguous_wait`) where another update of
// the semaphore could have satisfied it. Not watched: fetches of instructions and descriptors, accesses of initiators
// that are none of these, and bytes moved by DMI or debug transport.
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "tilevp/neuroncore/access_records.hpp"
#include "tilevp/neuroncore/registers.hpp"
#include "tilevp/neuroncore/semaphore_order.hpp"

namespace tilevp::neuroncore {

// The core that is watched.
struct RaceSetup {
  std::string core = "core0";   // for messages
  std::uint64_t core_base = 0;  // where its window stands in the address map
  unsigned dma_engines = clock_dma_engines;
  // Agents' numbers in same-instant arbitration, by which the ids of operations tell who acts.
  unsigned engine_port_base = 0;
  unsigned dma_port_base = 0;
};

class RaceDetector {
 public:
  explicit RaceDetector(const RaceSetup& setup);

  // ---- Sequencers.
  void started(Engine engine);
  // Record `index` has waited for what it waits for, and takes effect now.
  void passed(Engine engine, std::uint64_t index, const Instruction& record);
  // The stream has ended and so has all that was issued.
  void ended(Engine engine);

  // ---- Units.
  void issued(Engine engine, std::uint64_t index, const Instruction& instruction);
  // The oldest instruction that has not ended commits: its accesses, then its update, then completed().
  void commits(Engine engine) { committing_ = engine; }
  void touches(const Operand& tile, unsigned partitions, std::uint32_t element_bytes, bool write);
  void completed(Engine engine);

  // ---- Semaphores. `cause` is the id of the operation that changed it, as everywhere below: a record of a sequencer,
  // an instruction while it commits, the descriptor that has ended last, else the host.
  void semaphore_changed(unsigned semaphore, std::int64_t before, std::int64_t after, bool written,
                         std::uint64_t cause);
  // All at 0, and nothing of the core is in flight.
  void core_was_reset();

  // ---- DMA.
  void rang(unsigned dma_engine, unsigned queue, std::uint32_t descriptors, std::uint64_t cause);
  // Descriptor `number` of the ring reads or writes these bytes; then it has ended, and what it updates follows.
  void descriptor_touches(unsigned dma_engine, unsigned queue, std::uint64_t number, const memory::AccessPattern& bytes,
                          bool write);
  void descriptor_ended(unsigned dma_engine, unsigned queue, std::uint64_t number, bool interrupts);
  void dma_was_reset(unsigned dma_engine);

  // ---- The host. Addresses are those of the map.
  void host_wrote(std::uint64_t address, std::uint64_t bytes);
  // Memory, or registers of the core: then `bytes` are what they showed.
  void host_read(std::uint64_t address, std::span<const std::byte> bytes);
  // Of a DMA engine's registers: that so many descriptors of a queue's ring have ended, that all released ones have, or
  // that a queue's bit of the interrupt register is set.
  void host_saw_ended(unsigned dma_engine, unsigned queue, std::uint32_t descriptors);
  void host_saw_idle(unsigned dma_engine);
  void host_saw_interrupt(unsigned dma_engine, unsigned queue);
  void host_took_core_interrupt();
  void host_took_dma_interrupt();

  // Accesses and semaphore updates that are kept, for tests of their bound.
  std::size_t records() const;

 private:
  struct Sequencer {
    SharedClock clock;
    std::uint64_t index = 0;  // of the record that takes effect
    bool running = false;
  };
  struct Unit {
    std::uint32_t issued = 0;
    std::deque<boost::intrusive_ptr<RaceActor>> in_flight;
  };
  struct Doorbell {
    std::uint32_t descriptors = 0;
    ClockRef clock{};
    std::optional<Engine> trigger{};
    std::uint64_t index = 0;
  };
  struct Queue {
    SharedClock clock;
    ClockRef begin{};  // of the descriptors of the doorbell that is being served
    std::uint32_t step = 0;
    std::uint32_t before_ring = 0;  // steps before descriptor 0 of the ring
    std::uint32_t interrupt_step = 0;
    Stamp last{};
    std::uint64_t last_number = 0;
    boost::intrusive_ptr<RaceActor> running{};  // the descriptor that has touched bytes and not ended
    std::deque<Doorbell> rung;
  };

  static std::size_t index_of(Engine engine) { return static_cast<std::size_t>(engine); }
  Queue& queue_of(unsigned dma_engine, unsigned queue) { return queues_[dma_engine * clock_dma_queues + queue]; }
  RaceActor& descriptor_of(unsigned dma_engine, unsigned queue, std::uint64_t number);
  std::optional<Engine> engine_of(std::uint64_t cause) const;
  SemaphoreOrder::Update update_of(std::int64_t count, std::uint64_t cause);
  void touch(const Footprint& where, bool write, const RaceActorRef& actor);
  void host_access(std::uint64_t address, std::uint64_t bytes, bool write);
  void host_learns(Engine engine);
  void host_learns(unsigned dma_engine, unsigned queue, std::uint32_t step);
  void host_saw_control(std::uint64_t offset, std::uint64_t value);
  // The host is about to act on what may have been set aside as known to all others.
  void take_back() {
    if (records_.set_aside() > 0) records_.take_back(*host_);
  }
  void tick();
  void collect();

  // Texts (race_texts.cpp).
  [[noreturn]] void fault(const AccessConflict& conflict) const;
  [[noreturn]] void fault(unsigned semaphore, const SemaphoreOrder::Ambiguity& ambiguity) const;
  std::string agent_text(ClockAgent agent, std::uint64_t number) const;
  std::string description_of(const RaceActor& actor) const;
  bool others_pending(ClockAgent agent) const;
  std::string count_text(const SemaphoreOrder& semaphore, const SemaphoreOrder::Update& update) const;
  std::string missing_wait(const RaceActor& before, const RaceActor& now) const;
  std::string where_text(const AccessConflict& conflict) const;

  RaceSetup setup_;
  SharedClock host_;
  std::array<Sequencer, engines> sequencers_;
  std::array<Unit, engines> units_;
  std::vector<Queue> queues_;
  std::array<SemaphoreOrder, registers::semaphores> semaphores_;
  AccessRecords records_;
  Clock reset_;  // what had ended when the core was reset last
  std::optional<Engine> committing_{};
  std::array<std::uint8_t, clock_dma_engines> last_queue_{};  // of each DMA engine, where a descriptor ended last
  std::uint64_t since_collection_ = 0;
  std::size_t collect_at_ = 1024;
};

}  // namespace tilevp::neuroncore
