#include "tilevp/cube/transfer_unit.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/hex_text.hpp"
#include "tilevp/cube/rules.hpp"
#include "tilevp/cube/statistics.hpp"

namespace tilevp::cube {
namespace {

using memory::AccessPattern;

constexpr unsigned stalled_memory = 1;
constexpr std::array<StallDefinition, 1> stall_definitions{{
    {{"stalled_memory_cycles", "cycles", "Cycles from asking memory for a grain to memory beginning to serve it."},
     {"stalled_memory_ps", "ps", "As stalled_memory_cycles, in ps."},
     "memory"},
}};
constexpr unsigned memory_step = 4;  // of a transfer's close: after everything that its preflight asks

// The rows of a tile in memory. Throws Fault where they leave the address space.
AccessPattern rows_in_memory(const TransferOperation& operation) {
  const std::array<memory::Loop, 2> loops{
      {{operation.rows, static_cast<std::int64_t>(operation.row_stride_bytes)}, {operation.row_bytes(), 1}}};
  if (const auto problem = AccessPattern::problem(operation.base, 1, loops))
    throw Fault(rule::transfer_memory, "rows from " + hex_text(operation.base) + ": " + *problem);
  return AccessPattern(operation.base, 1, loops);
}

// What is asked of memory at a time: `rows` pieces of rows.
struct Grain {
  std::uint64_t address = 0;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;  // of a piece
  std::uint64_t at = 0;     // its first byte in the packed rows
};

template <class Fn>
void for_each_grain(const TransferOperation& operation, std::uint64_t grain_bytes, Fn&& fn) {
  const std::uint64_t row_bytes = operation.row_bytes();
  const std::uint64_t rows_at_once = std::max<std::uint64_t>(1, grain_bytes / row_bytes);
  const std::uint64_t piece = row_bytes <= grain_bytes ? row_bytes : grain_bytes;
  for (std::uint64_t row = 0; row < operation.rows; row += rows_at_once) {
    const std::uint64_t start = operation.base + row * operation.row_stride_bytes;
    const std::uint64_t rows = std::min(rows_at_once, operation.rows - row);
    for (std::uint64_t at = 0; at < row_bytes; at += piece)
      fn(Grain{start + at, rows, std::min(piece, row_bytes - at), row * row_bytes + at});
  }
}

AccessPattern pattern_of(const TransferOperation& operation, const Grain& grain) {
  return AccessPattern(grain.address, 1,
                       {{grain.rows, static_cast<std::int64_t>(operation.row_stride_bytes)}, {grain.bytes, 1}});
}

// A row of 4-bit elements that ends in the middle of a byte: the other half of it stays as it is in memory.
bool keeps_bits(const TransferOperation& operation) {
  return !operation.load && bits(operation.type) == 4 && operation.columns % 2 != 0;
}

unsigned last_pe(PeMask mask) {
  unsigned pe = pes - 1;
  while (!selects(mask, pe)) --pe;
  return pe;
}

struct GatherEffect {
  const memory::DirectMemory* from;
  AccessPattern pattern;
  std::byte* to;
  void operator()() const { from->gather(pattern, to); }
};

struct ScatterEffect {
  memory::DirectMemory* to;
  AccessPattern pattern;
  const std::byte* from;
  void operator()() const { to->scatter(pattern, from); }
};

// The tile in each PE that takes it.
struct LoadEffect {
  TransferOperation operation;
  RowsView<const std::byte> rows;
  std::array<std::span<std::byte>, pes> payloads{};
  void operator()() const {
    const std::span<std::byte>* first = nullptr;
    for (const std::span<std::byte>& payload : payloads) {
      if (payload.empty()) continue;
      if (first == nullptr)
        rows_to_tile(operation, rows, payload);
      else
        std::memcpy(payload.data(), first->data(), first->size());
      if (first == nullptr) first = &payload;
    }
  }
};

struct StoreEffect {
  TransferOperation operation;
  std::span<const std::byte> payload;
  std::span<std::byte> rows;
  void operator()() const { tile_to_rows(operation, payload, dense_rows(operation, rows)); }
};

// Where the rows of a load lie, if the memory has them in a range of the host: one memory, for what lies behind several
// targets was moved already.
std::optional<RowsView<const std::byte>> rows_in_place(const BundleFlight& flight) {
  if (flight.moved) return {};
  const memory::AccessGrant& first = flight.reads.front();
  const std::byte* const bytes = first.direct->flat();
  if (bytes == nullptr) return {};
  return RowsView<const std::byte>{bytes + first.direct_pattern.start(),
                                   static_cast<std::int64_t>(flight.transfer.row_stride_bytes)};
}

}  // namespace

TransferUnit::TransferUnit(sc_core::sc_module_name name, Agent& agent, const ClockDomain& clock,
                           const TransferUnitParameters& parameters, TileRegisters& tiles, BundleWindow& window)
    : sc_module(name),
      memory("memory", agent),
      agent_(agent),
      clock_(clock),
      parameters_(parameters),
      tiles_(tiles),
      window_(window),
      monitor_(agent.simulation(), this->name(), clock, stall_definitions, "the unit moves cells"),
      rows_(max_local_tile_bytes),
      queued_(agent.simulation().probes(), std::string(this->name()) + ".queued", 8, "bundles that wait for the unit") {
  agent.simulation().statistics().add(this->name(), statistic_bytes, bytes_);
  agent.simulation().statistics().add(this->name(), statistic_runs, runs_);
  agent.simulation().thread(*this, "run", [this] { run(); });
}

void TransferUnit::issue(BundleFlight& flight) {
  flight.reads.clear();
  flight.writes.clear();
  flight.transfer_cycles = flight.transfer_ps = 0;
  flight.moved = false;
  queue_.push_back(&flight);
  queued_.set(now_ps(), queue_.size());
  wake_.notify(sc_core::SC_ZERO_TIME);
}

void TransferUnit::cancel() {
  queue_.clear();
  queued_.set(now_ps(), 0);
  failed_ = skipping_ = false;
  ending_ = 0;
  cancelled_ = active_;
  finished_.notify(sc_core::SC_ZERO_TIME);
}

void TransferUnit::run() {
  for (;;) {
    while (queue_.empty() || failed_) sc_core::wait(wake_);
    BundleFlight& flight = *queue_.front();
    queue_.pop_front();
    queued_.set(now_ps(), queue_.size());
    active_ = true;
    serve(flight);
    active_ = false;
    if (!cancelled_) continue;
    cancelled_ = false;
    idle_.notify(sc_core::SC_ZERO_TIME);
  }
}

void TransferUnit::serve(BundleFlight& flight) {
  agent_.wait_until(flight.record.ready_ps);
  if (cancelled_) return;
  std::uint64_t end_ps = 0;
  try {
    const AccessPattern whole = rows_in_memory(flight.transfer);
    flight.moved = !memory.is_direct(whole);
    end_ps = flight.moved ? move(flight, whole) : ask(flight);
  } catch (const Fault& fault) {
    flight.fault = BundleFault{FaultCode::data_page, rule::transfer_memory, fault.what(), memory_step};
    failed_ = true;
    end_ps = now_ps();
  }
  if (cancelled_) {
    failed_ = false;
    return;
  }
  last_end_ps_ = std::max({last_end_ps_, end_ps, now_ps()});
  ++ending_;
  window_.end_at(flight, last_end_ps_, agent_.port());
}

std::uint64_t TransferUnit::ask(BundleFlight& flight) {
  std::uint64_t end_ps = 0;
  const auto all = [&](memory::Command command) {
    for_each_grain(flight.transfer, parameters_.grain_bytes, [&](const Grain& grain) {
      if (!cancelled_) end_ps = std::max(end_ps, ask_grain(flight, command, pattern_of(flight.transfer, grain)));
    });
  };
  if (flight.transfer.load || keeps_bits(flight.transfer)) all(memory::Command::read);
  if (!flight.transfer.load) all(memory::Command::write);
  return std::max(end_ps, clock_.time_ps(free_));
}

void TransferUnit::await_slot(const std::vector<memory::AccessGrant>& grants) {
  if (grants.size() >= parameters_.outstanding_grains)
    agent_.wait_until(grants[grants.size() - parameters_.outstanding_grains].end_ps);
  agent_.wait_until(clock_.time_ps(free_));
}

std::uint64_t TransferUnit::ask_grain(BundleFlight& flight, memory::Command command, const AccessPattern& grain) {
  auto& grants = command == memory::Command::read ? flight.reads : flight.writes;
  await_slot(grants);
  if (cancelled_) return 0;
  const std::uint64_t asked = now_ps();
  grants.push_back(memory.request(command, grain, flight.record.id));
  monitor_.stalls().stalled(stalled_memory, asked, grants.back().begin_ps);
  occupy(flight, grants.back().begin_ps, grain);
  return grants.back().end_ps;
}

void TransferUnit::occupy(BundleFlight& flight, std::uint64_t begin_ps, const AccessPattern& grain) {
  const std::uint64_t begin = std::max(clock_.edge_at_or_after(begin_ps), free_);
  const std::uint64_t run = std::max<std::uint64_t>(
      parameters_.run_cycles, (grain.run_bytes() + parameters_.bytes_per_cycle - 1) / parameters_.bytes_per_cycle);
  free_ = begin + run * grain.runs();
  if (flight.transfer_cycles == 0) {
    flight.record.begin_ps = clock_.time_ps(begin);
    monitor_.began(flight.record.begin_ps, flight.record.operation, flight.record.index);
  }
  flight.transfer_cycles += run * grain.runs();
  flight.record.end_ps = clock_.time_ps(free_);
  flight.transfer_ps += flight.record.end_ps - clock_.time_ps(begin);
  monitor_.occupied(clock_.time_ps(begin), flight.record.end_ps);
}

// A store that memory refuses in part must not have written the rest: where memory answers debug accesses, they tell
// before anything is written.
void TransferUnit::require_reachable(const AccessPattern& whole) {
  std::vector<std::byte> scratch(whole.run_bytes());
  bool answers = false;
  whole.for_each_run([&](std::uint64_t address, std::uint64_t bytes) {
    const bool reached = memory.debug(memory::Command::read, address, std::span(scratch).first(bytes)) == bytes;
    if (answers && !reached)
      throw Fault(rule::transfer_memory, "write of " + std::to_string(bytes) + " bytes at " + hex_text(address) +
                                             ": memory answers for rows before it alone");
    answers = reached;
  });
}

std::uint64_t TransferUnit::move(BundleFlight& flight, const AccessPattern& whole) {
  while (ending_ > 0 && !cancelled_) sc_core::wait(finished_);
  agent_.wait_until(clock_.time_ps(free_));
  if (cancelled_) return 0;
  const TransferOperation& operation = flight.transfer;
  const std::span<std::byte> rows = rows_of(operation);
  agent_.simulation().effects().join();
  const std::uint64_t begin_ps = now_ps();
  const auto all = [&](memory::Command command) {
    for_each_grain(operation, parameters_.grain_bytes, [&](const Grain& grain) {
      if (!cancelled_)
        memory.transfer(command, pattern_of(operation, grain), rows.subspan(grain.at, grain.rows * grain.bytes),
                        flight.record.id);
    });
  };
  if (!operation.load) require_reachable(whole);
  if (operation.load || keeps_bits(operation)) all(memory::Command::read);
  if (cancelled_) return 0;
  if (!operation.load) {
    const auto& tiles = tiles_;
    tile_to_rows(operation, tiles.payload(operation.tile, last_pe(operation.mask)), dense_rows(operation, rows));
    all(memory::Command::write);
  }
  occupy(flight, begin_ps, whole);
  return std::max(now_ps(), clock_.time_ps(free_));
}

void TransferUnit::append_load(const BundleFlight& flight) {
  EffectsQueue& effects = agent_.simulation().effects();
  if (!effects.enabled()) return;
  const TransferOperation& operation = flight.transfer;
  LoadEffect load{.operation = operation, .rows = {}};
  if (const auto in_place = rows_in_place(flight)) {
    load.rows = *in_place;
  } else {
    std::size_t grant = 0;
    for_each_grain(operation, parameters_.grain_bytes, [&](const Grain& grain) {
      if (flight.moved) return;
      const memory::AccessGrant& from = flight.reads[grant++];
      effects.append(GatherEffect{from.direct, from.direct_pattern, rows_.data() + grain.at}, HostRange{});
    });
    load.rows = dense_rows(operation, std::span<const std::byte>(rows_of(operation)));
  }
  for (unsigned pe = 0; pe < pes; ++pe)
    if (selects(operation.mask, pe)) load.payloads[pe] = tiles_.payload(operation.tile, pe);
  effects.append(load, HostRange{});
}

void TransferUnit::append_store(const BundleFlight& flight) {
  EffectsQueue& effects = agent_.simulation().effects();
  const TransferOperation& operation = flight.transfer;
  const auto& tiles = tiles_;
  if (flight.moved) return;
  std::size_t grant = 0;
  if (keeps_bits(operation))
    for_each_grain(operation, parameters_.grain_bytes, [&](const Grain& grain) {
      const memory::AccessGrant& from = flight.reads[grant++];
      effects.append(GatherEffect{from.direct, from.direct_pattern, rows_.data() + grain.at}, HostRange{});
    });
  effects.append(StoreEffect{operation, tiles.payload(operation.tile, last_pe(operation.mask)), rows_of(operation)},
                 HostRange{});
  grant = 0;
  for_each_grain(operation, parameters_.grain_bytes, [&](const Grain& grain) {
    const memory::AccessGrant& to = flight.writes[grant++];
    effects.append(ScatterEffect{to.direct, to.direct_pattern, rows_.data() + grain.at},
                   to.direct->extent(to.direct_pattern));
  });
}

void TransferUnit::finish(BundleFlight& flight) {
  if (--ending_ == 0) finished_.notify(sc_core::SC_ZERO_TIME);
  const BundleRecord& record = flight.record;
  if (skipping_) return;
  try {
    if (!flight.fault && flight.transfer.load)
      for (const memory::AccessGrant& read : flight.reads) read.direct->commit_read(read.direct_pattern, agent_.name());
  } catch (const Fault& fault) {  // a byte that nobody wrote
    flight.fault = BundleFault{FaultCode::data_page, rule::transfer_memory, fault.what(), memory_step};
  }
  if (flight.fault) {
    failed_ = skipping_ = true;
    return;
  }
  for (const memory::AccessGrant& write : flight.writes) write.direct->commit_write(write.direct_pattern);
  if (flight.transfer.load)
    append_load(flight);
  else
    append_store(flight);
  bytes_ += flight.transfer.rows * flight.transfer.row_bytes();
  runs_ += rows_in_memory(flight.transfer).runs();
  monitor_.worked(flight.transfer_ps, flight.transfer_cycles);
  monitor_.executed(1);
  monitor_.report({cube::name(record.operation), record.index, record.pc, record.id, record.fetch, record.ready_ps,
                   record.begin_ps, now_ps(), now_ps(), flight.transfer_ps, record.cause});
}

}  // namespace tilevp::cube
