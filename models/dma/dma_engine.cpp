#include "tilevp/dma/dma_engine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/number_text.hpp"
#include "tilevp/dma/flight.hpp"
#include "tilevp/dma/rules.hpp"

namespace tilevp::dma {
namespace {

constexpr StatisticDefinition busy_ps_definition{
    "busy_ps", "ps", "Time the engine spent on packets: floors and rate, without waiting for memory."};
constexpr StatisticDefinition packets_definition{"packets", "1", "Packets that have ended."};
constexpr StatisticDefinition stalled_descriptor_definition{
    "stalled_descriptor_ps", "ps",
    "Time the free engine waited between the doorbell of the descriptor it ran next and that descriptor being ready."};
constexpr StatisticDefinition stalled_outstanding_definition{
    "stalled_outstanding_ps", "ps", "Time the free engine had a ready descriptor and its limit of packets in flight."};
constexpr StatisticDefinition stalled_memory_definition{
    "stalled_memory_ps", "ps", "Time from the issue of packets to their begin in both memories."};

CyclesQ32 q32(std::uint64_t ps) { return static_cast<CyclesQ32>(ps) << 32; }

}  // namespace

void validate(const Parameters& parameters, std::string_view place) {
  const auto at_least_one = [&](std::uint32_t value, const char* key) {
    if (value == 0) throw UserError(std::string(place) + "." + key, "expected at least 1, found 0");
  };
  at_least_one(parameters.engines, "engines");
  at_least_one(parameters.packet_bytes, "packet_bytes");
  at_least_one(parameters.packet_runs, "packet_runs");
  at_least_one(parameters.outstanding_packets, "outstanding_packets");
  at_least_one(parameters.prefetch_descriptors, "prefetch_descriptors");
  for (const auto& [percent, key] : {std::pair{parameters.transpose_percent_from_hbm, "transpose_percent_from_hbm"},
                                     std::pair{parameters.transpose_percent_from_sbuf, "transpose_percent_from_sbuf"}})
    if (percent > 100)
      throw UserError(std::string(place) + "." + key, "expected 0 to 100, found " + std::to_string(percent));
  if (!(parameters.start_latency_ns >= 0) || parameters.start_latency_ns > 1e9)
    throw UserError(std::string(place) + ".start_latency_ns",
                    "expected 0 to 1e9 nanoseconds, found " + number_text(parameters.start_latency_ns));
  const EngineTime checked(parameters, place);
}

DmaEngine::DmaEngine(sc_core::sc_module_name name, Simulation& simulation, const Parameters& parameters, unsigned port,
                     std::string_view place)
    : sc_module(name),
      simulation_(simulation),
      parameters_(parameters),
      time_(parameters, place),
      start_latency_ps_(static_cast<std::uint64_t>(std::llround(parameters.start_latency_ns * 1000))),
      agent_(simulation, this->name(), port),
      memory_("memory", agent_, parameters.coding_style),
      registers_("registers", simulation, registers::window_bytes),
      source_bytes_(std::max(parameters.packet_bytes, memory::AccessPattern::max_element_bytes)),
      target_bytes_(source_bytes_.size()),
      wide_(source_bytes_.size()),
      busy_probe_(simulation.probes(), std::string(this->name()) + ".busy", 1, "the engine works on a packet") {
  validate(parameters, place);
  for (unsigned q = 0; q < registers::queues; ++q) {
    queues_[q] = std::make_unique<Queue>(simulation, this->name(), q, parameters_);
    fetches_[q] = std::make_unique<Fetch>();
  }
  add_registers();
  add_statistics();
  simulation.thread(*this, "run", [this] { run(); });
}

DmaEngine::~DmaEngine() = default;

void DmaEngine::add_statistics() {
  auto& statistics = simulation_.statistics();
  statistics.add(name(), busy_ps_definition, busy_ps_);
  statistics.add(name(), packets_definition, packets_);
  statistics.add(name(), stalled_descriptor_definition, stalled_descriptor_ps_);
  statistics.add(name(), stalled_outstanding_definition, stalled_outstanding_ps_);
  statistics.add(name(), stalled_memory_definition, stalled_memory_ps_);
}

void DmaEngine::add_registers() {
  using enum RegisterAccess;
  registers_.add({.name = "status",
                  .offset = registers::status,
                  .access = ro,
                  .text = "bit 0: a released descriptor has not ended",
                  .on_read = [this](unsigned) -> std::uint64_t { return busy() ? 1 : 0; }});
  interrupt_ = &registers_.add({.name = "interrupt",
                                .offset = registers::interrupt,
                                .access = w1c,
                                .text = "bit q: a descriptor of queue q with the interrupt flag has ended",
                                .on_write = [this](unsigned, std::uint64_t) { update_interrupt(); }});
  registers_.add({.name = "reset",
                  .offset = registers::reset,
                  .text = "1 drops all that was released; reads 1 until the packets in flight have ended",
                  .on_read = [this](unsigned) -> std::uint64_t { return resetting_ ? 1 : 0; },
                  .on_write =
                      [this](unsigned, std::uint64_t value) {
                        if (value != 1) return;
                        resetting_ = true;
                        wake();
                      }});
  const auto ring_register = [](const char* name, std::uint64_t offset, unsigned bytes, RegisterAccess access) {
    RegisterSpec spec;
    spec.name = name;
    spec.offset = registers::queue_base(0) + offset;
    spec.bytes = bytes;
    spec.access = access;
    spec.count = registers::queues;
    spec.stride = registers::queue_base(1) - registers::queue_base(0);
    return spec;
  };
  RegisterSpec base = ring_register("ring_base", registers::ring_base, 8, rw);
  base.text = "address of descriptor 0; a write starts the ring anew";
  base.on_write = [this](unsigned q, std::uint64_t value) { queues_[q]->set_base(value); };
  registers_.add(std::move(base));
  RegisterSpec size = ring_register("ring_size", registers::ring_size, 4, rw);
  size.text = "descriptors in the ring";
  size.on_write = [this](unsigned q, std::uint64_t value) { queues_[q]->set_size(static_cast<std::uint32_t>(value)); };
  registers_.add(std::move(size));
  RegisterSpec tail = ring_register("tail", registers::tail, 4, wo);
  tail.text = "doorbell: adds this many descriptors to those that may run";
  tail.on_write = [this](unsigned q, std::uint64_t value) {
    trigger(q, static_cast<std::uint32_t>(value), memory::id_of_access(registers_.access()));
  };
  registers_.add(std::move(tail));
  RegisterSpec head = ring_register("head", registers::head, 4, ro);
  head.text = "descriptors ended since ring_base was set, modulo 2^32";
  head.on_read = [this](unsigned q) { return queues_[q]->completed(); };
  registers_.add(std::move(head));
}

bool DmaEngine::busy() const { return pending_queues_ != 0; }

void DmaEngine::trigger(unsigned queue, std::uint32_t count, std::uint64_t cause) {
  if (queue >= registers::queues)
    throw Fault(rule::queue, std::string(name()) + ": doorbell of queue " + std::to_string(queue) + "; there are " +
                                 std::to_string(registers::queues));
  if (count == 0) return;
  queues_[queue]->ring(count, now_ps(), now_ps() + start_latency_ps_, cause);
  if (order_ != nullptr) order_->rang(queue, count, cause);
  pending_queues_ |= 1u << queue;
  wake();
}

void DmaEngine::wake() {
  woken_ = true;
  wake_event_.notify(sc_core::SC_ZERO_TIME);
}

// Everything of an instant has happened before the engine chooses, so its choice depends on no process order.
void DmaEngine::run() {
  for (;;) {
    simulation_.arbiter().settle(agent_.port());
    woken_ = false;
    if (resetting_) reset();
    fetch_blocks();
    if (start_waiting_writes()) continue;
    if (Queue* queue = choose())
      issue(*queue);
    else
      sleep();
  }
}

// Packets in flight were granted: they end as they would have, and so do descriptors of which they are the last.
void DmaEngine::reset() {
  const auto fetching = [](const auto& queue) { return queue->fetching(); };
  while (in_flight_ > 0 || std::ranges::any_of(queues_, fetching)) {
    if (start_waiting_writes()) continue;
    watches_flights_ = true;
    sc_core::wait(wake_event_);
  }
  watches_flights_ = false;
  for (const auto& queue : queues_) queue->reset();
  if (order_ != nullptr) order_->dropped();
  pending_queues_ = 0;
  registers_.reset();
  update_interrupt();
  resetting_ = false;
}

Queue* DmaEngine::choose() {
  if (in_flight_ >= parameters_.outstanding_packets || free_ps() > now_ps()) return nullptr;
  for (unsigned i = 0; i < registers::queues; ++i) {
    const unsigned q = (next_queue_ + i) % registers::queues;
    if ((pending_queues_ >> q & 1) == 0) continue;
    const auto ready = queues_[q]->ready_ps();
    if (!ready || *ready > now_ps()) continue;
    next_queue_ = q + 1;
    return queues_[q].get();
  }
  return nullptr;
}

// Until a packet can be issued as far as is known, or something changes.
void DmaEngine::sleep() {
  if (woken_) return;
  watches_flights_ = in_flight_ >= parameters_.outstanding_packets;
  std::uint64_t next = UINT64_MAX;
  for (std::uint32_t left = watches_flights_ ? 0 : pending_queues_; left != 0; left &= left - 1)
    if (const auto ready = queues_[static_cast<unsigned>(std::countr_zero(left))]->ready_ps())
      next = std::min(next, std::max(*ready, free_ps()));
  if (next == UINT64_MAX)
    sc_core::wait(wake_event_);
  else
    sc_core::wait(from_ps(next - now_ps()), wake_event_);
  watches_flights_ = false;
}

std::uint32_t DmaEngine::transpose_percent(const Descriptor& descriptor) const {
  const std::uint32_t element = descriptor.source.element_bytes();
  if (element != 2 && element != 4)
    throw Fault(rule::transpose, "transposes elements of " + std::to_string(element) + " bytes, expected 2 or 4");
  if (!in_sbuf(descriptor.destination)) throw Fault(rule::transpose, "transposes to an address outside SBUF");
  const std::uint32_t percent =
      in_sbuf(descriptor.source) ? parameters_.transpose_percent_from_sbuf : parameters_.transpose_percent_from_hbm;
  if (percent == 0) throw Fault(rule::transpose, "the engine has no transposes (NC-v3 and later have)");
  return percent;
}

void DmaEngine::start(Queue& queue) {
  Queue::Ready entry = queue.waiting.front();
  if (entry.number == queue.break_at)
    throw BreakReached(std::string(name()) + ".q" + std::to_string(queue.index()), entry.number);
  queue.waiting.pop_front();
  const Descriptor& descriptor = entry.descriptor;
  const Copy copy{descriptor.source, descriptor.destination};
  std::uint32_t percent = 0;
  if (descriptor.transposes) for_descriptor(queue, entry.number, [&] { percent = transpose_percent(descriptor); });
  Queue::Running& running = queue.running.emplace(Queue::Running{.entry = entry,
                                                                 .cutter = PacketCutter(copy, parameters_, percent),
                                                                 .moves = !descriptor.empty,
                                                                 .id = agent_.next_id()});
  if (descriptor.rows.side != Indirect::none)
    choose_rows(queue, running);
  else if (running.moves)
    reach(running, copy);
  if (running.moves && at() && !running.direct()) drain(queue);
  const std::uint64_t idle_since = std::max(free_ps(), entry.doorbell_ps);
  stalled(stalled_descriptor_ps_, "descriptor", idle_since, entry.ready_ps);
}

void DmaEngine::reach(Queue::Running& running, const Copy& copy) {
  const auto narrow = [](memory::Reach& all, const memory::Reach& one) {
    all.direct = all.direct && one.direct;
    all.nonblocking = all.nonblocking || one.nonblocking;
  };
  narrow(running.source, memory_.reach(copy.source));
  narrow(running.destination, memory_.reach(copy.destination));
}

void DmaEngine::issue(Queue& queue) {
  if (!queue.running) start(queue);
  Queue::Running& running = *queue.running;
  if (!running.direct() && !at()) drain();
  count_outstanding_stall(running.entry.ready_ps);
  Flight& flight = take_flight(queue);
  const std::uint64_t asked = now_ps();
  if (!running.moves) {
    flight.packet = Packet{};
    flight.packet.last = true;
    flight.issued = true;
  } else {
    flight.packet = next_packet(running);
    if (running.direct())
      request(flight, running);
    else if (at())
      start_reads(flight, running);
    else
      move(flight);
  }
  running.begin_ps = std::min(running.begin_ps, flight.begin_ps);
  flight.descriptor_begin_ps = running.begin_ps;
  if (flight.packet.last) queue.running.reset();
  settle(flight, asked);
}

// A packet whose accesses have all been granted ends when they do, and after those before it in its queue; otherwise
// its end is known when its last response is there.
void DmaEngine::settle(Flight& flight, std::uint64_t asked) {
  Queue& queue = *flight.queue;
  auto& flying = flying_[queue.index()];
  flight.asked_ps = asked;
  flight.end_known = flight.issued && (flying.empty() || flying.back()->end_known);
  if (flight.end_known) flight.end_ps = queue.last_end_ps = std::max(queue.last_end_ps, flight.end_ps);
  if (simulation_.transactions() != nullptr && flight.packet.count > 0) {
    report_in_flight(static_cast<std::int64_t>(flight.packet.bytes));
    if (flight.end_known) report_packet(flight);
  }
  if (flying.empty() && flight.is_settled()) {
    land(flight);
    return;
  }
  flying.push_back(&flight);
  retire(queue);
}

void DmaEngine::retire(Queue& queue) {
  auto& flying = flying_[queue.index()];
  while (!flying.empty() && flying.front()->is_settled()) {
    Flight& flight = *flying.front();
    flying.pop_front();
    land(flight);
  }
}

void DmaEngine::land(Flight& flight) {
  Queue& queue = *flight.queue;
  if (!flight.end_known) {
    flight.end_ps = queue.last_end_ps = std::max({queue.last_end_ps, flight.end_ps, now_ps()});
    if (simulation_.transactions() != nullptr && flight.packet.count > 0) report_packet(flight);
  }
  simulation_.completions().complete_at(std::max(flight.end_ps, now_ps()), agent_.port(), flight);
}

DmaEngine::Flight& DmaEngine::take_flight(Queue& queue) {
  if (idle_flights_.empty()) {
    flights_.push_back(std::make_unique<Flight>());
    flights_.back()->engine = this;
    for (auto& [read, write] : flights_.back()->accesses) read.flight = write.flight = flights_.back().get();
    idle_flights_.push_back(flights_.back().get());
  }
  Flight& flight = *idle_flights_.back();
  idle_flights_.pop_back();
  ++in_flight_;
  flight.queue = &queue;
  flight.entry = queue.running->entry;
  flight.id = queue.running->id;
  flight.packet_id = agent_.next_id();
  flight.begin_ps = flight.end_ps = now_ps();
  flight.moved = flight.issued = flight.reading = flight.end_known = false;
  flight.awaited = 0;
  return flight;
}

void DmaEngine::count_outstanding_stall(std::uint64_t ready_ps) {
  const std::uint64_t able_since = std::max(free_ps(), ready_ps);
  stalled(stalled_outstanding_ps_, "outstanding", able_since, slot_freed_ps_);
}

void DmaEngine::request(Flight& flight, const Queue::Running& running) {
  const std::uint64_t asked = now_ps();
  const auto ask = [&](memory::Command command, const memory::AccessPattern& pattern, bool nonblocking,
                       Flight::Access& access) {
    access.grant = at() && nonblocking ? memory_.request(command, pattern, flight.id, access)
                                       : memory_.request(command, pattern, flight.id);
    if (access.grant.pending) ++flight.awaited;
    flight.end_ps = std::max(flight.end_ps, access.grant.end_ps);
  };
  const auto slices = flight.packet.span();
  for (std::size_t i = 0; i < slices.size(); ++i)
    ask(memory::Command::read, slices[i].source, running.source.nonblocking, flight.accesses[i].read);
  for (std::size_t i = 0; i < slices.size(); ++i)
    ask(memory::Command::write, slices[i].destination, running.destination.nonblocking, flight.accesses[i].write);
  const auto& [read, write] = flight.accesses[0];
  const std::uint64_t begin = std::max(read.grant.begin_ps, write.grant.begin_ps);
  stalled(stalled_memory_ps_, "memory", asked, begin);
  occupy(flight, begin);
  flight.end_ps = std::max(flight.end_ps, free_ps());
  flight.issued = true;
}

// The engine works on the packet from `begin_ps` on; from the very end of the packet before, where it began then.
void DmaEngine::occupy(Flight& flight, std::uint64_t begin_ps) {
  const CyclesQ32 begin = begin_ps > free_ps() ? q32(begin_ps) : free_;
  const CyclesQ32 time = time_.ps_q32(flight.packet);
  free_ = begin + time;
  busy_ += time;
  const std::uint64_t added = static_cast<std::uint64_t>(busy_ >> 32) - busy_ps_.value();
  busy_ps_ += added;
  flight.queue->busy_ps += added;
  busy_probe_.set(begin_ps, 1);
  busy_probe_.set(free_ps(), 0);
  flight.begin_ps = begin_ps;
  flight.free_ps = free_ps();
  flight.busy_ps = added;
}

}  // namespace tilevp::dma
