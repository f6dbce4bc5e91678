#include "tilevp/neuroncore/scratchpad.hpp"

#include <cstring>

#include "tilevp/base/errors.hpp"
#include "tilevp/memory/rules.hpp"
#include "tilevp/neuroncore/race_detector.hpp"
#include "tilevp/neuroncore/statistics.hpp"
#include "tilevp/neuroncore/tile_geometry.hpp"

namespace tilevp::neuroncore {
namespace {

// Rows of a tile lie a partition apart. A distance that is no multiple of 64 KiB spreads 128 rows over the sets of the
// host's caches (4 to 64 KiB a way).
std::uint32_t spread_stride(std::uint32_t usable_bytes) { return (usable_bytes + 0xffff) / 0x10000 * 0x10000 + 576; }

std::string element_bytes_text(std::uint32_t bytes) { return bytes == 1 ? "1 byte" : std::to_string(bytes) + " bytes"; }

}  // namespace

Scratchpad::Scratchpad(sc_core::sc_module_name name, Simulation& simulation, const Layout& layout)
    : sc_module(name),
      simulation_(simulation),
      layout_(layout),
      nonblocking_(
          simulation, this->name(), 1,
          [this](int id, auto& payload, auto& delay) { memory_transport(id, payload, delay); },
          [this](int id, auto& payload, auto& phase, auto& delay) {
            return memory[id]->nb_transport_bw(payload, phase, delay);
          }),
      store_stride_(spread_stride(layout.usable_bytes)),
      store_(std::uint64_t{store_stride_} * max_partitions, this->name(), memory::HostPages::large),
      defined_(layout.usable_bytes) {
  tiles.register_b_transport(this, &Scratchpad::tile_transport);
  memory.register_b_transport(this, &Scratchpad::memory_transport);
  memory.register_nb_transport_fw(this, &Scratchpad::memory_nonblocking);
  memory.register_transport_dbg(this, &Scratchpad::memory_debug);
  simulation.statistics().add(this->name(), statistic_bytes_read, bytes_read_);
  simulation.statistics().add(this->name(), statistic_bytes_written, bytes_written_);
}

// ---- Tiles

void Scratchpad::tile_transport(int, TileAccess& access, sc_core::sc_time&) {
  access.direct = true;
  if (access.command == TileAccess::Command::query) return;
  require_bounds(access);
  const auto element_bytes = static_cast<std::uint32_t>(numeric::size_bytes(access.dtype));
  const std::uint64_t bytes = std::uint64_t{access.operand.elements()} * element_bytes * access.partitions;
  if (races_ != nullptr)
    races_->touches(access.operand, access.partitions, element_bytes, access.command == TileAccess::Command::write);
  if (access.command == TileAccess::Command::read) {
    require_defined(access);
    before_tile_read(access);
    bytes_read_ += bytes;
  } else {
    before_tile_write(access);
    defined_.set(access.operand, access.partitions, element_bytes);
    bytes_written_ += bytes;
  }
  access.view = view_of(access);
  if (simulation_.transactions() != nullptr) report(access, bytes);
}

void Scratchpad::report(const TileAccess& access, std::uint64_t bytes) const {
  const std::uint64_t instruction = access.id - part_of_id(access.id);
  Transaction transaction{.id = access.id, .parent = instruction, .cause = instruction};
  const auto agent = simulation_.agent_names().find(port_of_id(access.id));
  if (agent != simulation_.agent_names().end()) transaction.initiator = agent->second;
  transaction.target = this->name();
  transaction.kind = access.command == TileAccess::Command::read ? "tile_read" : "tile_write";
  transaction.what = {&access, [](const void* object, std::string& to) {
                        const auto& tile = *static_cast<const TileAccess*>(object);
                        to += operand_text(tile.operand, tile.partitions, tile.dtype);
                      }};
  transaction.bytes = bytes;
  transaction.requested_ps = transaction.begin_ps = transaction.end_ps = transaction.complete_ps = now_ps();
  simulation_.transactions()->happened(transaction);
}

void Scratchpad::require_bounds(const TileAccess& access) const {
  if (access.operand.space != layout_.space) throw Defect(std::string(name()) + ": a tile of another memory arrived");
  const auto element_bytes = static_cast<std::uint32_t>(numeric::size_bytes(access.dtype));
  const ByteSpan span = span_of(access.operand, element_bytes);
  if (access.operand.partition + access.partitions > max_partitions || span.low < 0 || span.high > layout_.usable_bytes)
    throw Fault(layout_.bounds_rule,
                std::string(access.engine) + " #" + std::to_string(access.instruction) + ": the tile reaches bytes " +
                    std::to_string(span.low) + " to " + std::to_string(span.high - 1) + " of partitions " +
                    std::to_string(access.operand.partition) + " to " +
                    std::to_string(access.operand.partition + access.partitions - 1) + "; " + layout_.kind +
                    " has 128 partitions of " + element_bytes_text(layout_.usable_bytes));
}

void Scratchpad::require_defined(const TileAccess& access) const {
  const auto hole = defined_.first_clear(access.operand, access.partitions,
                                         static_cast<std::uint32_t>(numeric::size_bytes(access.dtype)));
  if (!hole) return;
  throw Fault(layout_.undefined_read_rule, std::string(access.engine) + " #" + std::to_string(access.instruction) +
                                               ": reads byte " + std::to_string(hole->offset) + " of partition " +
                                               std::to_string(hole->partition) + " of " + name() +
                                               ", which nobody wrote");
}

numeric::MutableStridedTile Scratchpad::view_of(const TileAccess& access) {
  numeric::MutableStridedTile view;
  view.base = store_.data() + std::uint64_t{access.operand.partition} * store_stride_ + access.operand.offset;
  view.partition_stride_bytes = store_stride_;
  view.partitions = access.partitions;
  view.dtype = access.dtype;
  for (const Dim& dim : access.operand.dims)
    if (dim.num != 1) view.dims[static_cast<std::size_t>(view.dim_count++)] = {dim.num, dim.step};
  return view;
}

// ---- Memory-mapped

template <class Fn>
void Scratchpad::for_each_piece(const memory::AccessPattern& pattern, Fn&& fn) const {
  const std::uint64_t partition_span = std::uint64_t{1} << layout_.partition_shift;
  pattern.as_set().for_each_run([&](std::uint64_t address, std::uint64_t bytes) {
    while (bytes > 0) {
      const std::uint64_t offset = address & (partition_span - 1);
      const std::uint64_t piece = std::min(bytes, partition_span - offset);
      fn(static_cast<unsigned>(address >> layout_.partition_shift), static_cast<std::uint32_t>(offset),
         static_cast<std::uint32_t>(piece));
      address += piece;
      bytes -= piece;
    }
  });
}

std::byte* Scratchpad::at(std::uint64_t address) {
  const std::uint64_t offset = address & ((std::uint64_t{1} << layout_.partition_shift) - 1);
  return store_.data() + (address >> layout_.partition_shift) * store_stride_ + offset;
}

bool Scratchpad::in_bounds(const memory::AccessPattern& pattern) const {
  if (pattern.highest() >> layout_.partition_shift >= max_partitions) return false;
  bool inside = true;
  const std::uint64_t mask = (std::uint64_t{1} << layout_.partition_shift) - 1;
  pattern.for_each_run([&](std::uint64_t address, std::uint64_t bytes) {
    if ((address & mask) + bytes > layout_.usable_bytes) inside = false;
  });
  return inside;
}

tlm::tlm_response_status Scratchpad::problem_of(const tlm::tlm_generic_payload& payload,
                                                const memory::AccessPattern& pattern) const {
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (payload.get_streaming_width() < payload.get_data_length()) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.get_data_length() == 0) return tlm::TLM_BURST_ERROR_RESPONSE;
  return in_bounds(pattern) ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

void Scratchpad::memory_transport(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return;
  }
  auto* access = payload.get_extension<memory::MemoryAccess>();
  const memory::AccessPattern pattern =
      access != nullptr
          ? access->pattern
          : memory::AccessPattern::contiguous(payload.get_address(), std::max(payload.get_data_length(), 1U));
  const tlm::tlm_response_status status = problem_of(payload, pattern);
  payload.set_response_status(status);
  if (status != tlm::TLM_OK_RESPONSE) return;
  if (delay != sc_core::SC_ZERO_TIME) {
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
  }
  if (access != nullptr) {
    access->served = true;
    access->begin_ps = access->end_ps = now_ps();
    access->direct = this;
    access->direct_pattern = pattern;
    if (access->timing_only) return;
  }
  move(payload, pattern);
}

tlm::tlm_sync_enum Scratchpad::memory_nonblocking(int id, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                  sc_core::sc_time& delay) {
  return nonblocking_.forward(id, payload, phase, delay);
}

void Scratchpad::move(tlm::tlm_generic_payload& payload, const memory::AccessPattern& pattern) {
  auto* data = reinterpret_cast<std::byte*>(payload.get_data_ptr());
  simulation_.effects().join();
  if (payload.get_command() == tlm::TLM_READ_COMMAND) {
    commit_read(pattern, "a memory-mapped read");
    gather(pattern, data);
  } else {
    commit_write(pattern);
    scatter(pattern, data);
  }
}

unsigned int Scratchpad::memory_debug(int, tlm::tlm_generic_payload& payload) {
  if (auto* access = payload.get_extension<memory::MemoryAccess>();
      access != nullptr && payload.get_data_length() == 0) {
    if (!in_bounds(access->pattern)) return 0;
    access->direct = this;
    access->direct_pattern = access->pattern;
    return 0;
  }
  if (payload.get_data_length() == 0) return 0;
  const auto pattern = memory::AccessPattern::contiguous(payload.get_address(), payload.get_data_length());
  if (!in_bounds(pattern)) return 0;
  simulation_.effects().join();
  auto* data = reinterpret_cast<std::byte*>(payload.get_data_ptr());
  if (payload.get_command() == tlm::TLM_READ_COMMAND) {
    gather(pattern, data);
  } else if (payload.get_command() == tlm::TLM_WRITE_COMMAND) {
    simulation_.effects().note_write(extent(pattern));
    scatter(pattern, data);
    for_each_piece(pattern, [&](unsigned partition, std::uint32_t offset, std::uint32_t bytes) {
      before_memory_write(partition, offset, bytes);
      defined_.set({partition, 1}, offset, bytes);
    });
  }
  return payload.get_data_length();
}

void Scratchpad::gather(const memory::AccessPattern& pattern, std::byte* out) const {
  pattern.for_each_run([&](std::uint64_t address, std::uint64_t bytes) {
    std::memcpy(out, at(address), bytes);
    out += bytes;
  });
}

void Scratchpad::scatter(const memory::AccessPattern& pattern, const std::byte* in) {
  pattern.for_each_run([&](std::uint64_t address, std::uint64_t bytes) {
    std::memcpy(at(address), in, bytes);
    in += bytes;
  });
}

// Partitions lie in the order of their addresses.
HostRange Scratchpad::extent(const memory::AccessPattern& pattern) const {
  return HostRange::of(at(pattern.lowest()), at(pattern.highest()) + 1);
}

void Scratchpad::commit_read(const memory::AccessPattern& pattern, const std::string& reader) {
  for_each_piece(pattern, [&](unsigned partition, std::uint32_t offset, std::uint32_t bytes) {
    if (const auto hole = defined_.first_clear({partition, 1}, offset, bytes))
      throw Fault(memory::rule::undefined_read, reader + ": reads byte " + std::to_string(hole->offset) +
                                                    " of partition " + std::to_string(partition) + " of " + name() +
                                                    ", which nobody wrote");
    before_memory_read(partition, offset, bytes, reader);
  });
  bytes_read_ += pattern.bytes();
}

void Scratchpad::commit_write(const memory::AccessPattern& pattern) {
  simulation_.effects().note_write(extent(pattern));
  for_each_piece(pattern, [&](unsigned partition, std::uint32_t offset, std::uint32_t bytes) {
    before_memory_write(partition, offset, bytes);
    defined_.set({partition, 1}, offset, bytes);
  });
  bytes_written_ += pattern.bytes();
}

}  // namespace tilevp::neuroncore
