#include "models/cube/state_bench.hpp"

#include <cstring>
#include <stdexcept>

namespace tilevp::cube::testing {

std::vector<Command> Plan::commands() const {
  std::vector<Command> all{start};
  if (datr) all.push_back(*datr);
  if (fpatr) all.push_back(*fpatr);
  all.insert(all.end(), dimensions.begin(), dimensions.end());
  if (ior) all.push_back(*ior);
  all.insert(all.end(), shared.begin(), shared.end());
  all.insert(all.end(), tiles.begin(), tiles.end());
  return all;
}

MaybeFault Machine::execute(const Command& command) {
  if (const auto* start = std::get_if<BStart>(&command)) {
    if (header.active)
      if (auto fault = close()) return fault;
    return open(header, *start, 0);
  }
  if (std::holds_alternative<BStop>(command)) return close();
  if (std::holds_alternative<Scalar>(command)) return admits_scalar(header);
  if (const auto* fpatr = std::get_if<BFpatr>(&command)) return latch(header, *fpatr, parameters.isa_revision);
  if (const auto* dim = std::get_if<BDim>(&command)) return latch(header, *dim, gpr);
  if (const auto* datr = std::get_if<BDatr>(&command)) return latch(header, *datr);
  if (const auto* iot = std::get_if<BIot>(&command)) return latch(header, *iot);
  if (const auto* ior = std::get_if<BIor>(&command)) return latch(header, *ior);
  if (const auto* ios = std::get_if<BIos>(&command)) return latch(header, *ios);
  return latch(header, std::get<BCatr>(command));
}

MaybeFault Machine::close() {
  if (auto fault = check_close(header, 2)) return fault;
  Verdict verdict = preflight(header, gpr, parameters, tiles);
  if (auto* fault = std::get_if<BundleFault>(&verdict)) return std::move(*fault);
  if (std::holds_alternative<Wait>(verdict)) throw std::logic_error("waits with nothing in flight");
  Slots group;
  PeMask mask = 0;
  if (const auto* matrix = std::get_if<MatrixOperation>(&verdict)) {
    group = destinations(*matrix);
    mask = matrix->mask;
    last_matrix = *matrix;
    flags |= flag_inexact;
  } else if (const auto* transfer = std::get_if<TransferOperation>(&verdict)) {
    group = destinations(*transfer);
    mask = transfer->mask;
    last_transfer = *transfer;
  }
  for (const TileSlot slot : group)
    for (unsigned pe = 0; pe < pes; ++pe)
      if (selects(mask, pe)) {
        const auto payload = tiles.payload(slot, pe);
        std::memset(payload.data(), 0xd0 + static_cast<int>(pe), payload.size());
      }
  tiles.publish(group);
  ++committed;
  const Header done = header;
  header = Header{};
  return check_committed(done);
}

MaybeFault Machine::run(const std::vector<Command>& commands) {
  for (const Command& command : commands)
    if (auto fault = execute(command)) return fault;
  return {};
}

MaybeFault Machine::run(const Plan& plan) {
  if (auto fault = run(plan.commands())) return fault;
  return execute(BStop{});
}

TileSlot Machine::add(Hand hand, const TileDescriptor& tile, unsigned seed) {
  const TileSlot slot = tiles.next_free(hand).value();
  tiles.allocate(slot, tile);
  for (unsigned pe = 0; pe < pes; ++pe) {
    if (!selects(tile.mask, pe)) continue;
    unsigned next = seed * 31 + pe * 7;
    for (std::byte& byte : tiles.payload(slot, pe)) byte = static_cast<std::byte>(next = next * 5 + 1);
  }
  tiles.publish({&slot, 1});
  return slot;
}

TileSlot Machine::cells(Hand hand, Layout layout, DataType type, std::uint32_t rows, std::uint32_t columns,
                        std::uint32_t capacity, PeMask mask, unsigned seed) {
  return add(hand, cell_tile(layout, type, rows, columns, capacity, mask).value(), seed);
}

TileSlot Machine::row_major(Hand hand, DataType type, std::uint32_t rows, std::uint32_t columns, std::uint32_t capacity,
                            PeMask mask) {
  std::uint32_t physical = 1;
  while (physical < columns) physical *= 2;
  return add(hand, row_major_tile(type, rows, columns, physical, capacity, mask).value(), 3);
}

TileSlot Machine::words(Hand hand, std::uint32_t columns, std::uint64_t word) {
  const TileSlot slot = row_major(hand, DataType::u64, 1, columns, 128);
  for (unsigned pe = 0; pe < pes; ++pe) {
    const auto payload = tiles.payload(slot, pe);
    for (std::size_t at = 0; at < payload.size(); at += 8) std::memcpy(payload.data() + at, &word, 8);
  }
  return slot;
}

Snapshot Machine::snapshot() const {
  Snapshot all;
  for (unsigned slot = 0; slot < tile_slots; ++slot) {
    if (!tiles.allocated(static_cast<TileSlot>(slot))) continue;
    const TileDescriptor& tile = tiles.descriptor(static_cast<TileSlot>(slot));
    all.tiles[slot] = tile;
    all.defined[slot] = tiles.defined(static_cast<TileSlot>(slot));
    for (unsigned pe = 0; pe < pes; ++pe)
      if (selects(tile.mask, pe)) {
        const auto payload = tiles.payload(static_cast<TileSlot>(slot), pe);
        all.payloads[{slot, pe}].assign(payload.begin(), payload.end());
      }
  }
  for (unsigned selector = 0; selector < local_tiles; ++selector)
    all.names.push_back(tiles.find(static_cast<std::uint8_t>(selector)));
  for (unsigned pe = 0; pe < pes; ++pe) all.used[pe] = tiles.used_bytes(pe);
  all.flags = flags;
  return all;
}

BDim dimension(unsigned which, std::uint32_t value) {
  return {.dimension = static_cast<std::uint8_t>(which), .gpr = 0, .immediate = value, .compressed = false};
}

BIot sources(std::uint8_t a, std::uint8_t b, bool last, std::uint8_t pe_mode) {
  return {.sources = 2, .source = {a, b}, .last = last, .size_code = 0, .destination = T, .pe_mode = pe_mode};
}

BIot source(std::uint8_t a, bool last, std::uint8_t pe_mode) {
  return {.sources = 1, .source = {a, 0}, .last = last, .size_code = 0, .destination = T, .pe_mode = pe_mode};
}

BIot destination(Hand hand, unsigned size_code, bool last, std::uint8_t pe_mode) {
  return {.sources = 0,
          .source = {},
          .last = last,
          .size_code = static_cast<std::uint8_t>(size_code),
          .destination = hand,
          .pe_mode = pe_mode};
}

Plan gemv() {
  Plan plan;
  plan.start = {Operation::tgemv, DataType::fp16};
  plan.dimensions = {dimension(1, 8), dimension(2, 4)};
  plan.tiles = {sources(code(T, 1), code(U, 1)), destination(M, 3, true)};
  return plan;
}

void define_gemv(Machine& machine) {
  machine.cells(T, Layout::cube_m16, DataType::fp16, 1, 4, 128);
  machine.cells(U, Layout::cube_n8, DataType::fp16, 4, 8, 128);
}

}  // namespace tilevp::cube::testing
