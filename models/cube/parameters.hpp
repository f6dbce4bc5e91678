#pragma once
// What a description says of one CUBE core: which reading of the specification it follows, and what its work costs.
#include <boost/describe.hpp>
#include <cstdint>
#include <string>

#include "tilevp/cube/matrix_operation.hpp"

namespace tilevp::cube {

BOOST_DESCRIBE_ENUM(Accumulate, two_round, fma, raw_asl)

// What a 6-bit source code of B.IOT names, and which register a destination gets.
// `relative`: #1 is the newest tile published in the hand, #2 the one before (asl/block/operands/B.IOT.asl, "newest
// published generation"); a hand that publishes beyond 16 retires its oldest tile. The only reading in which a program
// can define more than 64 tiles: nothing else frees one.
// `absolute`: the code is the register number, a destination is the lowest free register of its hand, and a 17th live
// tile in a hand is TileAllocation (the register file of the executable model, release 0.58.3).
enum class TileSelectors : std::uint8_t { relative, absolute };
BOOST_DESCRIBE_ENUM(TileSelectors, relative, absolute)

// Whether `tile_capacity_bytes` bounds the sum over the four PEs (release 0.58.3, TILE_CAPACITY) or each PE
// (PTO-B-IOT-STREAM-001 of later texts).
enum class CapacityRule : std::uint8_t { core, pe };
BOOST_DESCRIBE_ENUM(CapacityRule, core, pe)

// r1: release 0.58.3: no CScaleEn (illegal instruction), scalar parameter words are judged with the schema.
// r2: 0.58.4 before the CCTRL change: CScaleEn, scalar words after the Shared schema.
enum class IsaRevision : std::uint8_t { r1, r2 };
BOOST_DESCRIBE_ENUM(IsaRevision, r1, r2)

struct SequencerParameters {
  std::uint32_t fetch_bytes = 256;     // fetched at a time; the next block comes while this one is decoded
  std::uint32_t decode_cycles = 1;     // an instruction
  std::uint32_t preflight_cycles = 2;  // a bundle, from its closer to the allocation of its destinations
  std::uint32_t issue_depth = 8;       // bundles in flight (our estimate)
  void check(const std::string& path) const;
};
BOOST_DESCRIBE_STRUCT(SequencerParameters, (), (fetch_bytes, decode_cycles, preflight_cycles, issue_depth))

// PTO leaves time out of its contract. One step is 16 x 16 outputs by 32 bytes of K (hw-native-sys/pto-isa,
// include/pto/costmodel: 6 cycles from idle, then 1 a step, 2 a step of 32-bit elements, 1.85 GHz; 4096 FP16 MAC a
// cycle as Huawei's Hot Chips 31 talk says); 4 cycles from the first step to the first sum (pyCircuit's Cube v2).
struct MatrixUnitParameters {
  std::uint32_t tile_m = 16;
  std::uint32_t tile_n = 16;
  std::uint32_t tile_k_bytes = 32;  // of the wider operand: 8 elements of 32 bits, 16 of 16, 32 of 8, 64 of 4
  std::uint32_t step_cycles = 1;
  std::uint32_t step_cycles_32bit = 2;
  std::uint32_t fill_cycles = 4;
  std::uint32_t idle_start_cycles = 6;            // where the unit had nothing to do before
  std::uint32_t tile_read_bytes_per_cycle = 256;  // operands, overlapped with the steps (our estimate)
  std::uint32_t post_elements_per_cycle = 16;     // post-processing, overlapped with the steps (our estimate)
  std::uint32_t post_latency_cycles = 4;
  std::uint32_t reduction_cycles = 1;              // RowMax and GroupMax, a column group
  std::uint32_t tile_write_bytes_per_cycle = 256;  // D and the reductions (our estimate)
  bool unit_per_pe = true;                         // false: the four PEs take turns at one matrix unit
  void check(const std::string& path) const;
};
BOOST_DESCRIBE_STRUCT(MatrixUnitParameters, (),
                      (tile_m, tile_n, tile_k_bytes, step_cycles, step_cycles_32bit, fill_cycles, idle_start_cycles,
                       tile_read_bytes_per_cycle, post_elements_per_cycle, post_latency_cycles, reduction_cycles,
                       tile_write_bytes_per_cycle, unit_per_pe))

// TLOAD and TSTORE. A cell of 128 bytes a cycle, and no contiguous run of memory below a cycle (our estimates).
struct TransferUnitParameters {
  std::uint32_t bytes_per_cycle = 128;
  std::uint32_t run_cycles = 1;
  // What is asked of memory at a time, in whole rows where they are shorter; the grain of arbitration at its port.
  std::uint32_t grain_bytes = 4096;
  std::uint32_t outstanding_grains = 8;
  void check(const std::string& path) const;
};
BOOST_DESCRIBE_STRUCT(TransferUnitParameters, (), (bytes_per_cycle, run_cycles, grain_bytes, outstanding_grains))

struct Parameters {
  std::uint64_t clock_hz = 1'850'000'000;
  IsaRevision isa_revision = IsaRevision::r2;
  TileSelectors tile_selectors = TileSelectors::relative;
  CapacityRule capacity = CapacityRule::core;
  std::uint32_t tile_capacity_bytes = 262'144;  // 2048 cells
  Accumulate accumulate = Accumulate::two_round;
  SequencerParameters sequencer{};
  MatrixUnitParameters matrix_unit{};
  TransferUnitParameters transfer_unit{};
  // Throws UserError: `path.key: expected ..., found ...`.
  void check(const std::string& path) const;
};
BOOST_DESCRIBE_STRUCT(Parameters, (),
                      (clock_hz, isa_revision, tile_selectors, capacity, tile_capacity_bytes, accumulate, sequencer,
                       matrix_unit, transfer_unit))

}  // namespace tilevp::cube
