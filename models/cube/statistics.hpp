#pragma once
// The figures a CUBE core counts.
#include "tilevp/base/statistics.hpp"

namespace tilevp::cube {

// Of a unit: the sequencer, a matrix unit, the transfer unit.
inline constexpr StatisticDefinition statistic_instructions{
    "instructions", "1",
    "Instructions decoded by a CUBE core's sequencer; bundles that took one of its matrix units or its transfer unit."};
inline constexpr StatisticDefinition statistic_busy_cycles{
    "busy_cycles", "cycles",
    "Cycles in which a CUBE core's sequencer decodes or judges a bundle; in which a bundle occupies a matrix unit's "
    "array; in which the transfer unit moves cells. Counted when the bundle ends."};
inline constexpr StatisticDefinition statistic_busy_ps{"busy_ps", "ps", "As busy_cycles, in ps."};
// Of the core.
inline constexpr StatisticDefinition statistic_bundles{"bundles", "1", "Bundles committed, strict no-ops included."};
inline constexpr StatisticDefinition statistic_faults{"faults", "1", "Faults raised."};
inline constexpr StatisticDefinition statistic_loads{"loads", "1", "TLOAD bundles committed."};
inline constexpr StatisticDefinition statistic_stores{"stores", "1", "TSTORE bundles committed."};
inline constexpr StatisticDefinition statistic_macs{
    "macs", "1", "Multiply-accumulates of committed matrix bundles that results need: M x N x K, a PE."};
inline constexpr StatisticDefinition statistic_row_padding_macs{
    "row_padding_macs", "1",
    "Multiply-accumulates that the arrays did beyond `macs` because M is rounded up to whole steps (16 rows)."};
inline constexpr StatisticDefinition statistic_step_padding_macs{
    "step_padding_macs", "1",
    "Multiply-accumulates that the arrays did beyond those because N and K are rounded up to whole steps."};
inline constexpr StatisticDefinition statistic_waiting_macs{
    "waiting_macs", "1",
    "Multiply-accumulates that the arrays could have done in the cycles in which bundles occupied them and no step "
    "could begin: the start from idle, operands that were still being read."};
inline constexpr StatisticDefinition statistic_bytes{"bytes", "bytes", "Bytes of memory moved by TLOAD and TSTORE."};
inline constexpr StatisticDefinition statistic_runs{"runs", "1", "Contiguous runs of memory in them."};

}  // namespace tilevp::cube
