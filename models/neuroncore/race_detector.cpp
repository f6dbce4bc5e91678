#include "tilevp/neuroncore/race_detector.hpp"

#include <algorithm>
#include <cstring>

#include "tilevp/base/transaction_observer.hpp"

namespace tilevp::neuroncore {
namespace {

// Also where few bytes are touched: waits and updates are kept too.
constexpr std::uint64_t steps_a_collection = 4096;
constexpr std::size_t least_collected = 1024;

}  // namespace

RaceDetector::RaceDetector(const RaceSetup& setup)
    : setup_(setup), queues_(std::size_t{clock_dma_engines} * clock_dma_queues) {}

std::size_t RaceDetector::records() const { return records_.size() + records_.set_aside(); }

// ---- Sequencers

void RaceDetector::started(Engine engine) {
  take_back();
  Sequencer& sequencer = sequencers_[index_of(engine)];
  sequencer.clock.join(*host_);
  sequencer.clock.join(reset_);
  sequencer.running = true;
}

void RaceDetector::passed(Engine engine, std::uint64_t index, const Instruction& record) {
  Sequencer& sequencer = sequencers_[index_of(engine)];
  sequencer.index = index;
  Clock& clock = sequencer.clock.change();
  const std::uint32_t step = ++clock.steps[sequencer_clock(engine)];
  if (record.opcode == Opcode::drain || record.opcode == Opcode::halt) {
    clock.steps[unit_clock(engine)] = units_[index_of(engine)].issued;
  } else if (record.opcode != Opcode::nop) {
    for (const neuroncore::Wait& wait : record.waits) {
      if (wait.condition == Condition::none) continue;
      SemaphoreOrder::Wait passing{.engine = engine, .index = index, .step = step, .value = wait.value};
      if (const auto ambiguity =
              semaphores_[wait.semaphore].passed(passing, wait.condition == Condition::eq, sequencer.clock))
        fault(wait.semaphore, *ambiguity);
    }
  }
  tick();
}

void RaceDetector::ended(Engine engine) {
  Sequencer& sequencer = sequencers_[index_of(engine)];
  sequencer.clock.change().steps[unit_clock(engine)] = units_[index_of(engine)].issued;
  sequencer.running = false;
}

// ---- Units

void RaceDetector::issued(Engine engine, std::uint64_t index, const Instruction& instruction) {
  Unit& unit = units_[index_of(engine)];
  boost::intrusive_ptr<RaceActor> actor(new RaceActor);
  actor->stamp = {sequencers_[index_of(engine)].clock.now(), unit_clock(engine), ++unit.issued};
  actor->number = index;
  actor->instruction = instruction;
  unit.in_flight.push_back(std::move(actor));
}

void RaceDetector::touches(const Operand& tile, unsigned partitions, std::uint32_t element_bytes, bool write) {
  if (!committing_) return;  // nobody's instruction: a test that drives the memory itself
  touch(footprint_of(tile, partitions, element_bytes), write, units_[index_of(*committing_)].in_flight.front());
}

void RaceDetector::completed(Engine engine) {
  units_[index_of(engine)].in_flight.pop_front();
  committing_.reset();
}

void RaceDetector::touch(const Footprint& where, bool write, const RaceActorRef& actor) {
  if (const auto conflict = records_.touch({where, actor, write})) fault(*conflict);
  tick();
}

// ---- Semaphores

std::optional<Engine> RaceDetector::engine_of(std::uint64_t cause) const {
  const unsigned port = port_of_id(cause);
  if (port < setup_.engine_port_base || port >= setup_.engine_port_base + engines) return std::nullopt;
  return static_cast<Engine>(port - setup_.engine_port_base);
}

SemaphoreOrder::Update RaceDetector::update_of(std::int64_t count, std::uint64_t cause) {
  if (const auto engine = engine_of(cause)) {
    if (committing_ == engine) {
      const RaceActor& actor = *units_[index_of(*engine)].in_flight.front();
      return {count, actor.stamp, actor.number};
    }
    const Sequencer& sequencer = sequencers_[index_of(*engine)];
    const ClockAgent agent = sequencer_clock(*engine);
    return {count, {sequencer.clock.now(), agent, sequencer.clock->steps[agent]}, sequencer.index};
  }
  const unsigned port = port_of_id(cause);
  if (port >= setup_.dma_port_base && port < setup_.dma_port_base + setup_.dma_engines) {
    const unsigned dma_engine = port - setup_.dma_port_base;
    const Queue& queue = queue_of(dma_engine, last_queue_[dma_engine]);
    return {count, queue.last, queue.last_number};
  }
  const std::uint32_t step = ++host_.change().steps[host_clock];
  return {count, {host_.now(), host_clock, step}, 0};
}

void RaceDetector::semaphore_changed(unsigned semaphore, std::int64_t before, std::int64_t after, bool written,
                                     std::uint64_t cause) {
  if (!written && after == before) return;
  const SemaphoreOrder::Update update = update_of(after, cause);
  if (!update.stamp.begin) return;  // of an engine that nobody started
  if (written || after < before)
    semaphores_[semaphore].restarted(update);
  else if (const auto ambiguity = semaphores_[semaphore].rose(update))
    fault(semaphore, *ambiguity);
  tick();
}

void RaceDetector::core_was_reset() {
  for (std::size_t e = 0; e < engines; ++e) {
    reset_.join(*sequencers_[e].clock);
    reset_.steps[unit_clock(static_cast<Engine>(e))] = units_[e].issued;
    sequencers_[e].running = false;
  }
  for (SemaphoreOrder& semaphore : semaphores_) semaphore.reset();
}

// ---- DMA

void RaceDetector::rang(unsigned dma_engine, unsigned queue, std::uint32_t descriptors, std::uint64_t cause) {
  if (const auto engine = engine_of(cause)) {
    const Sequencer& sequencer = sequencers_[index_of(*engine)];
    queue_of(dma_engine, queue).rung.push_back({descriptors, sequencer.clock.now(), *engine, sequencer.index});
    return;
  }
  take_back();
  queue_of(dma_engine, queue).rung.push_back({descriptors, host_.now(), std::nullopt, 0});
}

// The descriptor that the queue is about to end, from its first access on.
RaceActor& RaceDetector::descriptor_of(unsigned dma_engine, unsigned queue, std::uint64_t number) {
  Queue& state = queue_of(dma_engine, queue);
  if (state.running) return *state.running;
  const Doorbell& doorbell = state.rung.front();
  if (!state.begin) {
    state.clock.join(*doorbell.clock);
    state.begin = state.clock.now();
  }
  state.running = new RaceActor;
  state.running->stamp = {state.begin, queue_clock(dma_engine, queue), ++state.step};
  state.running->number = number;
  state.running->trigger = doorbell.trigger;
  state.running->trigger_index = doorbell.index;
  return *state.running;
}

void RaceDetector::descriptor_touches(unsigned dma_engine, unsigned queue, std::uint64_t number,
                                      const memory::AccessPattern& bytes, bool write) {
  RaceActor& actor = descriptor_of(dma_engine, queue, number);
  auto& side = write ? actor.destination : actor.source;
  if (!side) side = bytes;
  for_each_footprint(bytes, setup_.core_base, [&](const Footprint& where) { touch(where, write, &actor); });
}

void RaceDetector::descriptor_ended(unsigned dma_engine, unsigned queue, std::uint64_t number, bool interrupts) {
  Queue& state = queue_of(dma_engine, queue);
  state.last = descriptor_of(dma_engine, queue, number).stamp;
  state.last_number = number;
  state.running.reset();
  last_queue_[dma_engine] = static_cast<std::uint8_t>(queue);
  if (number == 0) state.before_ring = state.step - 1;
  if (interrupts) state.interrupt_step = state.step;
  if (--state.rung.front().descriptors > 0) return;
  state.rung.pop_front();
  state.begin.reset();
}

void RaceDetector::dma_was_reset(unsigned dma_engine) {
  for (unsigned q = 0; q < clock_dma_queues; ++q) {
    Queue& state = queue_of(dma_engine, q);
    state.rung.clear();
    state.begin.reset();
    state.running.reset();
    state.before_ring = state.step;
  }
}

// ---- The host

void RaceDetector::host_access(std::uint64_t address, std::uint64_t bytes, bool write) {
  take_back();
  boost::intrusive_ptr<RaceActor> actor(new RaceActor);
  const std::uint32_t step = ++host_.change().steps[host_clock];
  actor->stamp = {host_.now(), host_clock, step};
  for_each_footprint(memory::AccessPattern::contiguous(address, bytes), setup_.core_base,
                     [&](const Footprint& where) { touch(where, write, actor); });
}

void RaceDetector::host_wrote(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t offset = address - setup_.core_base;
  if (bytes > 0 && (offset < registers::control_window || offset >= registers::window_bytes))
    host_access(address, bytes, true);
}

void RaceDetector::host_read(std::uint64_t address, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::uint64_t offset = address - setup_.core_base;
  if (offset < registers::control_window || offset >= registers::window_bytes) {
    host_access(address, bytes.size(), false);
    return;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
  if (offset < registers::dma_window) host_saw_control(offset - registers::control_window, value);
}

void RaceDetector::host_saw_ended(unsigned dma_engine, unsigned queue, std::uint32_t descriptors) {
  if (descriptors > 0) host_learns(dma_engine, queue, queue_of(dma_engine, queue).before_ring + descriptors);
}

void RaceDetector::host_saw_idle(unsigned dma_engine) {
  for (unsigned q = 0; q < clock_dma_queues; ++q) host_learns(dma_engine, q, queue_of(dma_engine, q).step);
}

void RaceDetector::host_saw_interrupt(unsigned dma_engine, unsigned queue) {
  host_learns(dma_engine, queue, queue_of(dma_engine, queue).interrupt_step);
}

void RaceDetector::host_learns(Engine engine) {
  if (!sequencers_[index_of(engine)].running) host_.join(*sequencers_[index_of(engine)].clock);
}

void RaceDetector::host_learns(unsigned dma_engine, unsigned queue, std::uint32_t step) {
  if (step == 0) return;
  Queue& state = queue_of(dma_engine, queue);
  host_.join(*state.clock);
  std::uint32_t& known = host_.change().steps[queue_clock(dma_engine, queue)];
  known = std::max(known, step);
}

void RaceDetector::host_saw_control(std::uint64_t offset, std::uint64_t value) {
  if (offset == registers::interrupt) {
    for (unsigned e = 0; e < engines; ++e)
      if (((value | value >> registers::fault_interrupt_shift) >> e & 1) != 0) host_learns(static_cast<Engine>(e));
  } else if (offset == registers::reset && value == 0) {
    host_.join(reset_);
  } else if (offset >= registers::semaphore(0) && offset < registers::semaphore(registers::semaphores)) {
    const auto count = static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
    semaphores_[(offset - registers::semaphore(0)) / 4].read(count, host_);
  } else {
    for (unsigned e = 0; e < engines; ++e)
      if (offset == registers::sequencer(e) + registers::status) host_learns(static_cast<Engine>(e));
  }
}

void RaceDetector::host_took_core_interrupt() {
  for (unsigned e = 0; e < engines; ++e) host_learns(static_cast<Engine>(e));
}

void RaceDetector::host_took_dma_interrupt() {
  for (unsigned d = 0; d < setup_.dma_engines; ++d)
    for (unsigned q = 0; q < clock_dma_queues; ++q) host_saw_interrupt(d, q);
}

// ---- What need not be kept

void RaceDetector::tick() {
  if (++since_collection_ < steps_a_collection && records_.size() < collect_at_) return;
  collect();
  since_collection_ = 0;
  collect_at_ = std::max(least_collected, 2 * records_.size());
}

// What all that run, are in flight or are about to be served know. Agents know their own past: they act in order.
void RaceDetector::collect() {
  Clock floor;
  floor.steps.fill(UINT32_MAX);
  const auto meet = [&](Clock clock, ClockAgent self) {
    clock.steps[self] = UINT32_MAX;
    floor.meet(clock);
  };
  for (std::size_t e = 0; e < engines; ++e) {
    const auto engine = static_cast<Engine>(e);
    if (sequencers_[e].running) meet(*sequencers_[e].clock, sequencer_clock(engine));
    if (!units_[e].in_flight.empty()) meet(*units_[e].in_flight.front()->stamp.begin, unit_clock(engine));
  }
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const Queue& queue = queues_[i];
    if (queue.rung.empty()) continue;
    Clock clock = *queue.clock;
    clock.join(*queue.rung.front().clock);
    meet(clock, static_cast<ClockAgent>(first_queue_clock + i));
  }
  records_.set_aside(floor);
  for (SemaphoreOrder& semaphore : semaphores_) semaphore.settle(floor);
}

}  // namespace tilevp::neuroncore
