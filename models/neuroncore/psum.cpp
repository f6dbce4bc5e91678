#include "tilevp/neuroncore/psum.hpp"

#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/rules.hpp"
#include "tilevp/neuroncore/tile_geometry.hpp"

namespace tilevp::neuroncore {
namespace {

std::string place_of(const TileAccess& access) {
  return std::string(access.engine) + " #" + std::to_string(access.instruction);
}

}  // namespace

Psum::Psum(sc_core::sc_module_name name, Simulation& simulation)
    : Scratchpad(name, simulation,
                 {.space = Space::psum,
                  .partition_shift = psum_partition_shift,
                  .usable_bytes = psum_banks * psum_bank_bytes,
                  .kind = "psum",
                  .bounds_rule = rule::psum_bounds,
                  .undefined_read_rule = rule::psum_undefined_read}),
      matmul_cells_(psum_banks * psum_bank_bytes) {
  for (unsigned b = 0; b < psum_banks; ++b) {
    const std::string bank_name = std::string(this->name()) + ".bank" + std::to_string(b);
    banks_[b].resource = std::make_unique<ExclusiveResource>(bank_name);
    banks_[b].busy = std::make_unique<Probe>(simulation.probes(), bank_name + ".busy", 1, "an engine holds the bank");
    banks_[b].open_group = std::make_unique<Probe>(simulation.probes(), bank_name + ".open_group", 1,
                                                   "an accumulation group has no STOP yet");
  }
}

const ExclusiveResource* Psum::find(const Resource* resource) const {
  for (const Bank& bank : banks_)
    if (bank.resource.get() == resource) return bank.resource.get();
  return nullptr;
}

void Psum::occupied(unsigned index, std::uint64_t begin_ps, std::uint64_t end_ps) {
  banks_[index].busy->set(begin_ps, 1);
  banks_[index].busy->set(end_ps, 0);
}

void Psum::set_open(Bank& bank, bool open) {
  bank.open = open;
  if (auto* const observer = simulation().transactions())
    observer->changed({.path = name(), .what = "open_banks", .time_ps = now_ps(), .by = open ? 1 : -1});
  bank.open_group->set(now_ps(), open ? 1 : 0);
}

void Psum::close_groups() {
  for (Bank& bank : banks_)
    if (bank.open) set_open(bank, false);
  matmul_cells_.clear({0, max_partitions}, 0, psum_banks * psum_bank_bytes);
}

void Psum::require_closed(std::uint32_t first_byte, std::uint32_t last_byte, const std::string& reader) const {
  for (std::uint32_t b = first_byte / psum_bank_bytes; b <= last_byte / psum_bank_bytes; ++b)
    if (banks_[b].open)
      throw Fault(rule::psum_read_open_group, reader + ": reads bank " + std::to_string(b) + " of " + name() +
                                                  ", whose accumulation group has no STOP yet");
}

void Psum::before_tile_read(const TileAccess& access) {
  const ByteSpan span = span_of(access.operand, static_cast<std::uint32_t>(numeric::size_bytes(access.dtype)));
  bool any_open = false;
  for (const Bank& bank : banks_) any_open = any_open || bank.open;
  if (any_open)
    require_closed(static_cast<std::uint32_t>(span.low), static_cast<std::uint32_t>(span.high - 1), place_of(access));
}

void Psum::require_started(const TileAccess& access) const {
  const auto element_bytes = static_cast<std::uint32_t>(numeric::size_bytes(access.dtype));
  const auto cell = matmul_cells_.first_clear(access.operand, access.partitions, element_bytes);
  if (!cell) return;
  const bool written = !defined().first_clear({cell->partition, 1}, cell->offset, 1);
  throw Fault(rule::psum_accumulate_unstarted,
              place_of(access) + ": adds to byte " + std::to_string(cell->offset) + " of partition " +
                  std::to_string(cell->partition) + " of " + name() +
                  (written ? ", which another engine wrote last" : ", which nobody wrote") +
                  "; the first matmul of a group must carry START");
}

void Psum::before_tile_write(const TileAccess& access) {
  const auto element_bytes = static_cast<std::uint32_t>(numeric::size_bytes(access.dtype));
  if (access.writer == Writer::other) {
    matmul_cells_.clear(access.operand, access.partitions, element_bytes);
    return;
  }
  Bank& bank = banks_[access.operand.offset / psum_bank_bytes];
  if (access.writer == Writer::matmul_accumulate) require_started(access);
  if (access.writer == Writer::matmul_overwrite && bank.open)
    throw Fault(rule::psum_second_group, place_of(access) + ": START in bank " +
                                             std::to_string(access.operand.offset / psum_bank_bytes) + " of " + name() +
                                             ", whose accumulation group has no STOP yet; a bank holds one group");
  matmul_cells_.set(access.operand, access.partitions, element_bytes);
  if (bank.open == access.last) set_open(bank, !access.last);
}

void Psum::before_memory_read(unsigned, std::uint32_t offset, std::uint32_t bytes, const std::string& reader) {
  require_closed(offset, offset + bytes - 1, reader);
}

void Psum::before_memory_write(unsigned partition, std::uint32_t offset, std::uint32_t bytes) {
  matmul_cells_.clear({partition, 1}, offset, bytes);
}

}  // namespace tilevp::neuroncore
