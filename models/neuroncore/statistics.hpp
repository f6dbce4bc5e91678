#pragma once
// The figures a NeuronCore counts.
#include "tilevp/base/statistics.hpp"

namespace tilevp::neuroncore {

inline constexpr StatisticDefinition statistic_instructions{
    "instructions", "1", "Records executed by the sequencer, control records included; counted when they issue."};
inline constexpr StatisticDefinition statistic_busy_cycles{
    "busy_cycles", "cycles",
    "Cycles of its own clock in which an instruction occupies the engine; counted at completion."};
inline constexpr StatisticDefinition statistic_busy_ps{
    "busy_ps", "ps", "Time in which an instruction occupies the engine; counted at completion."};
inline constexpr StatisticDefinition statistic_matmuls{"matmuls", "1", "Matmul instructions completed."};
inline constexpr StatisticDefinition statistic_transposes{"transposes", "1", "Transposes completed by the PE array."};
inline constexpr StatisticDefinition statistic_macs{"macs", "1",
                                                    "Multiply-accumulates of completed matmuls: K x M x N each."};
inline constexpr StatisticDefinition statistic_pe_cycles{
    "pe_cycles", "cycles",
    "Initiation intervals of completed matmuls, passes x max(N, min(64, M)) each, and of transposes of P x F elements, "
    "max(P, min(64, F)) each."};
inline constexpr StatisticDefinition statistic_weight_loads{"weight_loads", "1",
                                                            "Stationary tiles loaded into the array."};
inline constexpr StatisticDefinition statistic_bytes_read{
    "bytes_read", "bytes", "Bytes read by engines, DMA and host; a repeated element counts each time."};
inline constexpr StatisticDefinition statistic_bytes_written{"bytes_written", "bytes",
                                                             "Bytes written by engines, DMA and host."};
inline constexpr StatisticDefinition statistic_semaphore_updates{"updates", "1", "Updates of semaphores of the core."};

}  // namespace tilevp::neuroncore
