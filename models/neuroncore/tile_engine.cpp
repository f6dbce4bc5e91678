#include "tilevp/neuroncore/tile_engine.hpp"

#include <algorithm>
#include <span>

#include "tilevp/neuroncore/engine_costs.hpp"
#include "tilevp/neuroncore/opcode_names.hpp"

namespace tilevp::neuroncore {
namespace {

std::uint32_t size_of(numeric::DType dtype) { return static_cast<std::uint32_t>(numeric::size_bytes(dtype)); }
bool has_source0(const Instruction& i) { return i.opcode != Opcode::memset; }
bool has_source1(const Instruction& i) { return i.opcode == Opcode::tensor_tensor; }

void find_tiles(Flight& flight) {
  const Instruction& i = flight.instruction;
  flight.destination = extent_of(i.destination, i.partitions, size_of(i.dtype));
  flight.source_count = 0;
  const auto reads = [&](const Operand& tile, std::uint32_t element_bytes) {
    flight.sources[flight.source_count++] = extent_of(tile, i.source_partitions, element_bytes);
  };
  if (!has_source0(i)) return;
  reads(i.source0, size_of(i.source0_dtype));
  if (has_source1(i)) reads(i.source1, size_of(i.source1_dtype));
  for (const Scalar* scalar : {&i.scalar0, &i.scalar1})
    if (scalar->is_address) reads(scalar_tile(*scalar, i.source0.partition), sizeof(float));
}

std::span<const TileExtent> sources_of(const Flight& flight) { return {flight.sources.data(), flight.source_count}; }

bool any_overlaps(std::span<const TileExtent> tiles, const TileExtent& other) {
  for (const TileExtent& tile : tiles)
    if (may_overlap(tile, other)) return true;
  return false;
}

bool depends(const Flight& flight, const Flight& before) {
  return may_overlap(flight.destination, before.destination) || any_overlaps(sources_of(flight), before.destination) ||
         any_overlaps(sources_of(before), flight.destination);
}

// A part of an instruction's arithmetic is worth the meeting of two threads from here on.
constexpr std::size_t least_part_elements = 8192;

// How many rows make a part. A row must not read what another one writes: where a source lies in the destination's
// memory and starts at another partition, all stay together, as they do in a transpose.
std::size_t rows_a_part(const Instruction& i) {
  if (i.opcode == Opcode::transpose) return i.partitions;
  const auto shifted = [&](Space space, unsigned partition) {
    return space == i.destination.space && partition != i.destination.partition;
  };
  const bool addressed = i.scalar0.is_address || i.scalar1.is_address;
  if ((has_source0(i) && shifted(i.source0.space, i.source0.partition)) ||
      (has_source1(i) && shifted(i.source1.space, i.source1.partition)) ||
      (addressed && shifted(Space::sbuf, i.source0.partition)))
    return i.partitions;
  const std::size_t row = std::max(i.destination.elements(), i.source0.elements());
  return std::max<std::size_t>(1, least_part_elements / row);
}

}  // namespace

TileEngine::TileEngine(sc_core::sc_module_name name, const EngineContext& context, const EngineParameters& parameters,
                       std::uint32_t generation, SharedResources& shared)
    : sc_module(name), ExecutionUnit(context), parameters_(parameters), generation_(generation), shared_(shared) {
  if (context.engine != Engine::gpsimd) psum = std::make_unique<TilePort>("psum");
}

// ---- Time

std::uint64_t TileEngine::dependency_ps(const Flight& flight, std::uint64_t after_ps) const {
  std::uint64_t latest = after_ps;
  for (std::size_t f = 0; f < in_flight(); ++f) {
    const Flight& before = this->flight(f);
    if (before.complete_ps > latest && depends(flight, before)) latest = before.complete_ps;
  }
  return latest;
}

ResourceSet TileEngine::resources_of(const Flight& flight, unsigned& banks) const {
  bool uses_sbuf = false;
  banks = 0;
  const auto add = [&](const TileExtent& tile) {
    if (tile.space == Space::sbuf) {
      uses_sbuf = true;
      return;
    }
    const auto first = static_cast<unsigned>(tile.span.low) / psum_bank_bytes;
    const auto last = static_cast<unsigned>(tile.span.high - 1) / psum_bank_bytes;
    for (unsigned b = first; b <= last; ++b) banks |= 1U << b;
  };
  add(flight.destination);
  for (const TileExtent& source : sources_of(flight)) add(source);
  ResourceSet set;
  if (shared_.psum_bank_exclusive)
    for (unsigned b = 0; b < psum_banks; ++b)
      if ((banks >> b & 1) != 0) set.add(shared_.psum.bank(b));
  if (uses_sbuf && shared_.vector_gpsimd_sbuf && context().engine != Engine::scalar)
    set.add(*shared_.vector_gpsimd_sbuf);
  if (banks != 0 && shared_.vector_scalar_psum) set.add(*shared_.vector_scalar_psum);
  return set;
}

Stall TileEngine::stall_of(const Resource* blocker) const {
  return shared_.psum.find(blocker) != nullptr ? Stall::psum_bank : Stall::port;
}

std::uint64_t TileEngine::begin_of(const Flight& flight, std::uint64_t earliest_ps) {
  const ClockDomain& clock = context().clock;
  const std::uint64_t first = clock.edge_at_or_after(earliest_ps);
  unsigned banks = 0;
  const ResourceSet resources = resources_of(flight, banks);
  if (resources.empty()) {
    context().agent.advance_to(clock.time_ps(first));
    return first;
  }
  context().agent.wait_until(clock.time_ps(first));
  const Grant grant =
      context().simulation.arbiter().acquire(resources.span(), context().agent.port(), clock, flight.cycles);
  if (grant.blocker != nullptr)
    context().monitor.stalled(stall_of(grant.blocker), clock.time_ps(first), grant.begin_ps);
  if (shared_.psum_bank_exclusive)
    for (unsigned b = 0; b < psum_banks; ++b)
      if ((banks >> b & 1) != 0) shared_.psum.occupied(b, grant.begin_ps, grant.end_ps);
  return clock.edge_at_or_after(grant.begin_ps);
}

void TileEngine::schedule(Flight& flight) {
  const ClockDomain& clock = context().clock;
  find_tiles(flight);
  flight.cycles = cost_cycles(flight.instruction, parameters_, generation_);
  const std::uint64_t engine_free = std::max(flight.requested_ps, clock.time_ps(free_at_));
  const std::uint64_t earliest = dependency_ps(flight, engine_free);
  context().monitor.stalled(Stall::dependency, engine_free, earliest);
  const std::uint64_t begin = begin_of(flight, earliest);
  free_at_ = begin + flight.cycles;
  flight.begin_ps = clock.time_ps(begin);
  flight.end_ps = clock.time_ps(free_at_);
  flight.complete_ps = clock.time_ps(free_at_ + parameters_.latency_cycles);
}

// ---- Bytes

TilePort& TileEngine::port_of(Space space) { return space == Space::sbuf ? sbuf : *psum; }

bool TileEngine::all_direct(const Flight& flight) {
  const std::span<const TileExtent> sources = sources_of(flight);
  return port_of(flight.destination.space).direct() &&
         std::all_of(sources.begin(), sources.end(),
                     [this](const TileExtent& source) { return port_of(source.space).direct(); });
}

TileAccess TileEngine::access_to(const Operand& operand, const Flight& flight, numeric::DType dtype,
                                 TilePart part) const {
  TileAccess access;
  access.operand = operand;
  access.partitions =
      part == TilePart::destination ? flight.instruction.partitions : flight.instruction.source_partitions;
  access.dtype = dtype;
  access.engine = mnemonic(flight.instruction.opcode);
  access.instruction = flight.index;
  access.id = flight.id + static_cast<std::uint64_t>(part);
  return access;
}

ScalarView TileEngine::scalar_of(const Scalar& scalar, const Flight& flight, TilePart part,
                                 std::vector<std::byte>& buffer) {
  if (!scalar.is_address) return {.immediate = scalar.immediate};
  TileAccess access =
      access_to(scalar_tile(scalar, flight.instruction.source0.partition), flight, numeric::DType::fp32, part);
  const numeric::StridedTile tile = sbuf.read(access, buffer);
  return {.base = tile.base, .partition_stride_bytes = tile.partition_stride_bytes};
}

// Reads the sources; the destination is not set.
TileOperation TileEngine::operation_of(const Flight& flight) {
  const Instruction& i = flight.instruction;
  TileOperation operation;
  operation.opcode = i.opcode;
  operation.op0 = i.op0;
  operation.op1 = i.op1;
  operation.function = i.function;
  operation.bit_exact =
      i.opcode == Opcode::tensor_copy && i.dtype == i.source0_dtype && context().engine != Engine::scalar;
  if (i.opcode == Opcode::tensor_reduce) operation.reduced = reduced_elements(i);
  operation.integer = i.opcode == Opcode::tensor_tensor && context().engine == Engine::gpsimd;
  if (has_source0(i)) {
    TileAccess access = access_to(i.source0, flight, i.source0_dtype, TilePart::source0);
    operation.source0 = port_of(i.source0.space).read(access, source0_bytes_);
  }
  if (has_source1(i)) {
    TileAccess access = access_to(i.source1, flight, i.source1_dtype, TilePart::source1);
    operation.source1 = port_of(i.source1.space).read(access, source1_bytes_);
  }
  operation.scalar0 = scalar_of(i.scalar0, flight, TilePart::scalar0, scalar0_bytes_);
  operation.scalar1 = scalar_of(i.scalar1, flight, TilePart::scalar1, scalar1_bytes_);
  return operation;
}

// The effect of one instruction, its partitions in parts.
struct TileEngine::RowsEffect {
  TileEngine* engine;
  TileOperation operation;
  std::size_t part_rows;

  unsigned prepare() const {
    return static_cast<unsigned>((operation.destination.partitions + part_rows - 1) / part_rows);
  }
  void run(unsigned part, unsigned thread) const {
    const std::size_t first = part * part_rows;
    execute(operation, first, std::min(part_rows, operation.destination.partitions - first), engine->buffers_[thread]);
  }
};

void TileEngine::commit(const Flight& flight) {
  const Instruction& i = flight.instruction;
  EffectsQueue& effects = context().simulation.effects();
  TilePort& target = port_of(i.destination.space);
  const bool immediate = !all_direct(flight);
  if (immediate) effects.join();
  TileOperation operation = operation_of(flight);
  TileAccess result = access_to(i.destination, flight, i.dtype, TilePart::destination);
  operation.destination =
      target.direct() ? target.write_direct(result) : target.packed_destination(result, result_bytes_);
  if (effects.enabled()) {
    effects.append(RowsEffect{this, operation, rows_a_part(i)}, numeric::extent(operation.destination));
    if (immediate) effects.join();
  }
  if (!target.direct()) target.write_packed(result);
}

}  // namespace tilevp::neuroncore
