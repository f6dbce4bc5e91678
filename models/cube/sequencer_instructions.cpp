// What the sequencer does with instructions: load, decode, latch, close, fault.
#include <algorithm>
#include <cstring>
#include <utility>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/hex_text.hpp"
#include "tilevp/cube/prequant.hpp"
#include "tilevp/cube/rules.hpp"
#include "tilevp/cube/sequencer.hpp"

namespace tilevp::cube {
namespace {

// Whether the close looks at words in tiles, and not only at descriptors.
bool reads_payloads(const Header& header) {
  if (!header.fpatr) return false;
  constexpr unsigned vector_of_slopes = 3;
  const PreQuantMode* const mode = find_prequant(header.fpatr->prequant);
  return header.fpatr->relu == vector_of_slopes || (mode != nullptr && mode->parameter == Parameter::vector);
}

}  // namespace

// ---- Instructions.

void Sequencer::reach(std::uint64_t bytes) {
  const std::uint64_t offset = pc_ - base_;
  if (pc_ + bytes > end_)
    raise({FaultCode::instruction_page, rule::fetch_page,
           std::to_string(bytes) + " bytes, but the program ends at " + hex_text(end_)},
          "instruction");
  std::string refused;
  while (refused.empty() && instructions_.needs_block(offset + bytes)) {
    context_.agent.advance_to(time_ps());
    try {
      instructions_.await_block(offset);
    } catch (const Fault& fault) {
      refused = fault.what();
    }
    checkpoint();
    cycle_ = std::max(cycle_, context_.clock.edge_at_or_after(context_.agent.local_ps()));
  }
  if (!refused.empty()) raise({FaultCode::instruction_page, rule::fetch_page, refused}, "instruction");
}

Encoded Sequencer::load() {
  if (pc_ % 2 != 0) raise({FaultCode::instruction_pc, rule::fetch_pc, "an odd address"}, "instruction");
  std::uint64_t word = 0;
  // Mostly all of it is there: no instruction is longer than 8 bytes.
  if (pc_ + sizeof word <= end_ && !instructions_.needs_block(pc_ - base_ + sizeof word)) {
    std::memcpy(&word, instructions_.bytes(pc_ - base_).data(), sizeof word);
    return {word, instruction_bytes(static_cast<std::uint16_t>(word))};
  }
  const auto read = [&](std::uint64_t bytes) {
    reach(bytes);
    std::memcpy(&word, instructions_.bytes(pc_ - base_).data(), bytes);
  };
  constexpr unsigned halfword = 2;
  read(halfword);
  const unsigned bytes = instruction_bytes(static_cast<std::uint16_t>(word));
  if (bytes > halfword) read(bytes);
  return {word, bytes};
}

void Sequencer::step() {
  const Encoded encoded = load();
  work(context_.parameters.sequencer.decode_cycles);
  const auto& decoded = decoded_.decoded(encoded);
  if (const auto* error = std::get_if<DecodeError>(&decoded))
    raise({FaultCode::illegal_instruction, rule::decode, error->what}, "word " + hex_text(encoded.word));
  const std::uint64_t next_pc = pc_ + encoded.bytes;
  execute(std::get<Decoded>(decoded).command, next_pc);  // nothing else is decoded meanwhile
  monitor_.executed(1);
  pc_ = next_pc;
}

void Sequencer::require(MaybeFault fault, const Command& command) {
  if (fault) raise(std::move(*fault), disassemble(command));
}

void Sequencer::execute(const Command& command, std::uint64_t next_pc) {
  if (const auto* start = std::get_if<BStart>(&command)) {
    if (header_.active) close(command, pc_);
    require(open(header_, *start, pc_), command);
  } else if (std::holds_alternative<BStop>(command)) {
    close(command, next_pc);
  } else if (const auto* scalar = std::get_if<Scalar>(&command)) {
    require(admits_scalar(header_), command);
    execute_scalar(*scalar);
  } else if (const auto* dimension = std::get_if<BDim>(&command)) {
    require(latch(header_, *dimension, gpr_), command);
  } else if (const auto* fpatr = std::get_if<BFpatr>(&command)) {
    require(latch(header_, *fpatr, context_.parameters.isa_revision), command);
  } else if (const auto* iot = std::get_if<BIot>(&command)) {
    require(latch(header_, *iot), command);
  } else if (const auto* datr = std::get_if<BDatr>(&command)) {
    require(latch(header_, *datr), command);
  } else if (const auto* ior = std::get_if<BIor>(&command)) {
    require(latch(header_, *ior), command);
  } else if (const auto* ios = std::get_if<BIos>(&command)) {
    require(latch(header_, *ios), command);
  } else {
    require(latch(header_, std::get<BCatr>(command)), command);
  }
}

void Sequencer::execute_scalar(const Scalar& scalar) {
  const std::uint64_t result = result_of(scalar, gpr_.at(scalar.left), gpr_.at(scalar.right));
  if (scalar.destination != 0) gpr_.at(scalar.destination) = result;
}

// ---- Closing.

void Sequencer::close(const Command& closer, std::uint64_t next_pc) {
  require(check_close(header_, next_pc), closer);
  const std::uint64_t requested = cycle_;
  if (context_.window.pushed() == break_at_) stop_before();
  await_window();
  Verdict verdict = judge();
  if (auto* fault = std::get_if<BundleFault>(&verdict)) raise(std::move(*fault), disassemble(closer));
  work(context_.parameters.sequencer.preflight_cycles);
  issue(closer, verdict, requested);
  MaybeFault trapped = check_committed(header_);
  header_ = Header{};
  if (!trapped) return;
  drain();
  pc_ = next_pc;
  raise(std::move(*trapped), disassemble(closer));
}

Verdict Sequencer::judge() {
  for (;;) {
    if (reads_payloads(header_)) context_.agent.simulation().effects().join();
    Verdict verdict = preflight(header_, gpr_, context_.parameters, context_.tiles, !context_.window.empty());
    const auto* wait = std::get_if<Wait>(&verdict);
    if (wait != nullptr) {
      await_verdict(*wait);
      continue;
    }
    cycle_ = std::max(cycle_, cycle_now());
    return verdict;
  }
}

void Sequencer::issue(const Command& closer, const Verdict& verdict, std::uint64_t requested) {
  const std::uint64_t index = context_.window.pushed();
  BundleFlight& flight = context_.window.push();
  const std::uint64_t ready_ps = time_ps();
  flight.record = {.operation = header_.start.operation,
                   .index = index,
                   .pc = header_.pc,
                   .id = context_.agent.next_id(),
                   .fetch = instructions_.id(),
                   .cause = cause_,
                   .requested_ps = context_.clock.time_ps(requested),
                   .ready_ps = ready_ps,
                   .begin_ps = ready_ps,
                   .end_ps = ready_ps};
  flight.header = header_;
  flight.gpr = gpr_;
  flight.closer_pc = pc_;
  flight.closer = closer;
  pc_probe_.set(ready_ps, pc_);
  monitor_.began(ready_ps, header_.start.operation, index);
  count_busy(&flight);
  const unsigned port = context_.agent.port();
  const auto define = [&](const auto& operation) {
    flight.record.mask = operation.mask;
    flight.record.cause = cause_of(sources(operation));
    flight.destinations = destinations(operation);
    for (const TileSlot slot : flight.destinations) producers_[slot] = flight.record.id;
  };
  if (const auto* matrix = std::get_if<MatrixOperation>(&verdict)) {
    flight.kind = BundleFlight::Kind::matrix;
    flight.matrix = *matrix;
    define(*matrix);
    context_.window.end_at(flight, context_.matrix.issue(flight, cycle_), port);
  } else if (const auto* transfer = std::get_if<TransferOperation>(&verdict)) {
    flight.kind = BundleFlight::Kind::transfer;
    flight.transfer = *transfer;
    define(*transfer);
    context_.transfer.issue(flight);
  } else {
    flight.kind = BundleFlight::Kind::nothing;
    context_.window.end_at(flight, ready_ps, port);
  }
}

// All before it have committed, so that what it would read is there to be seen.
void Sequencer::stop_before() {
  await_until_cycle();
  drain();
  context_.agent.simulation().arbiter().settle(context_.agent.port());
  throw BreakReached("bundle", break_at_);
}

void Sequencer::work(std::uint64_t cycles) {
  if (cycles > 0 && monitor_.traced()) monitor_.occupied(time_ps(), context_.clock.time_ps(cycle_ + cycles));
  cycle_ += cycles;
  busy_cycles_ += cycles;
}

void Sequencer::count_busy(const BundleFlight* flight) {
  const std::uint64_t busy_ps = context_.clock.time_ps(busy_cycles_) - context_.clock.time_ps(counted_cycles_);
  monitor_.worked(busy_ps, busy_cycles_ - counted_cycles_);
  const std::uint64_t begin_ps = context_.clock.time_ps(counted_to_);
  const bool seen = busy_cycles_ > counted_cycles_ && context_.agent.simulation().transactions() != nullptr;
  counted_cycles_ = busy_cycles_;
  counted_to_ = cycle_;
  if (!seen) return;
  constexpr unsigned sequencer_part = pes;  // parts 0 to 3 are the units of the PEs
  const std::uint64_t end_ps = std::max(time_ps(), now_ps());
  const std::uint64_t id = flight == nullptr ? context_.agent.next_id() : flight->record.id + sequencer_part;
  monitor_.report({flight == nullptr ? "scalar" : cube::name(flight->record.operation),
                   flight == nullptr ? context_.window.pushed() : flight->record.index,
                   flight == nullptr ? pc_ : flight->record.pc, id, instructions_.id(), begin_ps, begin_ps, end_ps,
                   end_ps, busy_ps, cause_});
}

// The operation that made the last of the sources ready.
std::uint64_t Sequencer::cause_of(const Slots& sources) const {
  std::uint64_t latest = 0;
  for (const TileSlot slot : sources)
    if (count_of_id(producers_[slot]) > count_of_id(latest)) latest = producers_[slot];
  return latest == 0 ? cause_ : latest;
}

// ---- Faults.

void Sequencer::raise(BundleFault fault, const std::string& instruction) {
  await_until_cycle();
  drain();
  trap(std::move(fault), pc_, instruction);
  throw Stopped{};
}

void Sequencer::fail(const BundleFlight& flight) {
  const BundleWindow& window = context_.window;
  for (std::size_t position = window.size(); position-- > 0;) {
    const Slots& slots = window.flight(position).destinations;
    context_.tiles.release(std::span(slots.data(), slots.size()));
  }
  header_ = flight.header;
  gpr_ = flight.gpr;
  context_.transfer.cancel();
  trap(*flight.fault, flight.closer_pc, disassemble(flight.closer));
}

void Sequencer::trap(BundleFault fault, std::uint64_t pc, const std::string& instruction) {
  faults_ += 1;
  ++stops_;
  status_ = Status::faulted;
  status_probe_.set(now_ps(), static_cast<std::uint64_t>(status_));
  fault_probe_.set(now_ps(), static_cast<std::uint64_t>(fault.code));
  pc_probe_.set(now_ps(), pc);
  pc_ = fault_pc_ = pc;
  fault_ = std::move(fault);
  if (survives_faults_) {
    status_changed_();
    return;
  }
  const std::string step = fault_.step == 0 ? "" : ", step " + std::to_string(fault_.step);
  throw Fault(fault_.rule, context_.agent.name() + " at " + hex_text(pc) + " " + instruction + ": " + fault_.text +
                               " [" + std::string(cube::name(fault_.code)) + step + "]");
}

}  // namespace tilevp::cube
