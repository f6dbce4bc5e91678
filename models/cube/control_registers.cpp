#include "tilevp/cube/control_registers.hpp"

#include "tilevp/base/errors.hpp"
#include "tilevp/cube/registers.hpp"
#include "tilevp/cube/rules.hpp"
#include "tilevp/memory/memory_access.hpp"

namespace tilevp::cube {

ControlRegisters::ControlRegisters(RegisterFile& file, const CoreState& state) : file_(file), state_(state) {
  add_identity();
  add_running();
  add_starting();
  add_place();
  add_counters();
  add_tiles();
}

void ControlRegisters::read_only(const char* name, std::uint64_t offset, unsigned bytes, const char* text, Read read) {
  file_.add({.name = name,
             .offset = offset,
             .bytes = bytes,
             .access = RegisterAccess::ro,
             .text = text,
             .on_read = std::move(read)});
}

void ControlRegisters::add_identity() {
  read_only("pe_count", registers::pe_count, 4, "PEs", [](unsigned) -> std::uint64_t { return pes; });
  read_only("tile_count", registers::tile_count, 4, "local tile registers a PE",
            [](unsigned) -> std::uint64_t { return local_tiles; });
  read_only("isa_revision", registers::isa_revision, 4, "0: r1, 1: r2",
            [this](unsigned) -> std::uint64_t { return static_cast<std::uint64_t>(state_.parameters.isa_revision); });
  read_only("capacity_bytes", registers::capacity_bytes, 4, "of tiles: of the core, or of each PE (reading)",
            [this](unsigned) -> std::uint64_t { return state_.parameters.tile_capacity_bytes; });
  read_only("reading", registers::reading, 4,
            "bit 0: tile selectors are register numbers; bit 1: capacity_bytes bounds each PE; bits 3:2: sums round 0 "
            "twice, 1 once a term, 2 add raw codes",
            [this](unsigned) {
              const Parameters& p = state_.parameters;
              return std::uint64_t{p.tile_selectors == TileSelectors::absolute} << registers::reading_absolute |
                     std::uint64_t{p.capacity == CapacityRule::pe} << registers::reading_per_pe |
                     static_cast<std::uint64_t>(p.accumulate) << registers::reading_accumulate;
            });
}

void ControlRegisters::add_running() {
  Sequencer& sequencer = state_.sequencer;
  read_only("status", registers::status, 4, "0 idle, 1 running, 2 halted, 3 faulted",
            [&sequencer](unsigned) { return static_cast<std::uint64_t>(sequencer.status()); });
  interrupt_ = &file_.add({.name = "interrupt",
                           .offset = registers::interrupt,
                           .access = RegisterAccess::w1c,
                           .text = "bit 0: the core has halted; bit 1: it has stopped at a fault",
                           .on_write = [this](unsigned, std::uint64_t) {
                             if (interrupt_changed) interrupt_changed();
                           }});
  file_.add({.name = "fault_control",
             .offset = registers::fault_control,
             .text = "bit 0: a fault stops the core and raises its interrupt; 0: it ends the run",
             .on_write = [&sequencer](unsigned, std::uint64_t value) { sequencer.survive_faults((value & 1) != 0); }});
  file_.add({.name = "reset",
             .offset = registers::reset,
             .text = "1 resets the core; reads 1 until everything in flight has ended",
             .on_read = [&sequencer](unsigned) -> std::uint64_t { return sequencer.resetting() ? 1 : 0; },
             .on_write =
                 [&sequencer](unsigned, std::uint64_t value) {
                   if (value == 1) sequencer.reset();
                 }});
}

void ControlRegisters::add_starting() {
  Sequencer& sequencer = state_.sequencer;
  start_pc_ = &file_.add({.name = "start_pc",
                          .offset = registers::start_pc,
                          .bytes = 8,
                          .text = "address of the first instruction, even"});
  program_end_ = &file_.add({.name = "program_end",
                             .offset = registers::program_end,
                             .bytes = 8,
                             .text = "address after the last instruction: the core halts there"});
  file_.add({.name = "start",
             .offset = registers::start,
             .access = RegisterAccess::wo,
             .text = "1 starts at start_pc, with no bundle open",
             .on_write = [this, &sequencer](unsigned, std::uint64_t value) {
               if (value == 1)
                 sequencer.start(start_pc_->value(), program_end_->value(), memory::id_of_access(file_.access()));
             }});
  file_.add({.name = "restart",
             .offset = registers::restart,
             .access = RegisterAccess::wo,
             .text = "after a fault, at pc: 1 goes on with the header as it was, 2 with no bundle open",
             .on_write = [this, &sequencer](unsigned, std::uint64_t value) {
               const auto how = static_cast<registers::Restart>(value);
               if (how == registers::Restart::resume || how == registers::Restart::discard_header)
                 sequencer.restart(how, program_end_->value(), memory::id_of_access(file_.access()));
             }});
}

void ControlRegisters::add_place() {
  Sequencer& sequencer = state_.sequencer;
  file_.add({.name = "pc",
             .offset = registers::pc,
             .bytes = 8,
             .text = "the next instruction; written while the core stands still: where it restarts",
             .on_read = [&sequencer](unsigned) { return sequencer.pc(); },
             .on_write = [&sequencer](unsigned, std::uint64_t value) { sequencer.set_pc(value); }});
  read_only("bundle_pc", registers::bundle_pc, 8, "BSTART of the open bundle; 0: none is open",
            [&sequencer](unsigned) { return sequencer.header().active ? sequencer.header().pc : 0; });
  read_only("fault_pc", registers::fault_pc, 8, "the instruction that faulted",
            [&sequencer](unsigned) { return sequencer.fault_pc(); });
  read_only("fault_code", registers::fault_code, 4, "what it raised: a FaultCode of isa.hpp",
            [&sequencer](unsigned) { return static_cast<std::uint64_t>(sequencer.fault().code); });
  read_only("fault_step", registers::fault_step, 4, "the step of the close that found it; 0: a command by itself",
            [&sequencer](unsigned) -> std::uint64_t { return sequencer.fault().step; });
  file_.add({.name = "flags",
             .offset = registers::flags,
             .text = "sticky numeric flags: 1 invalid, 2 divide by zero, 4 overflow, 8 underflow, 16 inexact",
             .on_read = [this](unsigned) -> std::uint64_t { return state_.matrix.flags(); },
             .on_write =
                 [this](unsigned, std::uint64_t value) {
                   constexpr std::uint64_t all = 0x1f;
                   state_.matrix.set_flags(static_cast<std::uint8_t>(value & all));
                 }});
  file_.add({.name = "gpr",
             .offset = registers::gpr(0),
             .bytes = 8,
             .text = "general register g; 0 reads zero; written while the core stands still",
             .count = gprs,
             .stride = registers::gpr(1) - registers::gpr(0),
             .on_read = [&sequencer](unsigned g) { return sequencer.gpr(g); },
             .on_write = [&sequencer](unsigned g, std::uint64_t value) { sequencer.set_gpr(g, value); }});
}

void ControlRegisters::add_counters() {
  const auto counter = [this](const char* name, std::uint64_t offset, const char* text, auto value) {
    read_only(name, offset, 8, text, [this, value](unsigned) { return value(state_); });
  };
  counter("bundles", registers::counter_bundles, "bundles committed, strict no-ops included",
          [](const CoreState& s) { return s.bundles.value(); });
  counter("words", registers::counter_words, "instructions executed, of any length",
          [](const CoreState& s) { return s.sequencer.words(); });
  counter("macs", registers::counter_macs, "M x N x K summed over matrix bundles and their PEs",
          [](const CoreState& s) { return s.matrix.macs(); });
  counter("issued_macs", registers::counter_issued_macs, "the same with M, N and K rounded up to whole steps",
          [](const CoreState& s) { return s.matrix.issued_macs(); });
  counter("loads", registers::counter_loads, "TLOAD bundles committed",
          [](const CoreState& s) { return s.loads.value(); });
  counter("stores", registers::counter_stores, "TSTORE bundles committed",
          [](const CoreState& s) { return s.stores.value(); });
  counter("faults", registers::counter_faults, "faults raised",
          [](const CoreState& s) { return s.sequencer.faults(); });
}

void ControlRegisters::add_tiles() {
  file_.add({.name = "release_tile",
             .offset = registers::release_tile,
             .access = RegisterAccess::wo,
             .text = "frees the tile that a source code (0-63) names; while the core stands still",
             .on_write = [this](unsigned, std::uint64_t value) { release(value); }});
  const auto info = [this](const char* name, std::uint64_t offset, const char* text, auto value) {
    file_.add({.name = name,
               .offset = registers::tile_info(0) + offset,
               .access = RegisterAccess::ro,
               .text = text,
               .count = local_tiles,
               .stride = registers::tile_info(1) - registers::tile_info(0),
               .on_read = [this, value](unsigned tile) -> std::uint64_t {
                 const auto slot = state_.tiles.find(static_cast<std::uint8_t>(tile));
                 return slot && state_.tiles.published(*slot) ? value(state_.tiles.descriptor(*slot)) : 0;
               }});
  };
  info("tile_capacity", registers::tile_capacity, "bytes a PE of the tile that source code t names; 0: none",
       [](const TileDescriptor& d) -> std::uint64_t { return d.capacity_bytes; });
  info("tile_mask", registers::tile_mask, "PEs that hold it: bit 3 is PE0",
       [](const TileDescriptor& d) -> std::uint64_t { return d.mask; });
  info("tile_type", registers::tile_type, "its DataType",
       [](const TileDescriptor& d) { return static_cast<std::uint64_t>(d.type); });
  info("tile_layout", registers::tile_layout, "its layout: 0 row major, 1 CUBE_M16, 2 CUBE_M32, 3 CUBE_N8",
       [](const TileDescriptor& d) { return static_cast<std::uint64_t>(d.layout); });
  info("tile_valid_rows", registers::tile_valid_rows, "its valid rows",
       [](const TileDescriptor& d) -> std::uint64_t { return d.valid_rows; });
  info("tile_valid_columns", registers::tile_valid_columns, "its valid columns",
       [](const TileDescriptor& d) -> std::uint64_t { return d.valid_columns; });
}

void ControlRegisters::release(std::uint64_t selector) {
  if (state_.sequencer.status() == Sequencer::Status::running)
    throw Fault(rule::start_status, std::string(file_.name()) + ": a tile is released while the core runs");
  if (selector >= local_tiles) return;
  const auto slot = state_.tiles.find(static_cast<std::uint8_t>(selector));
  if (slot && state_.tiles.published(*slot)) state_.tiles.retire(*slot);
}

}  // namespace tilevp::cube
