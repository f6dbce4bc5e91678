#pragma once
// What a description says of one NeuronCore. Figures and their sources stand in platform/descriptions/trn*.json.
#include <boost/describe.hpp>
#include <cstdint>

namespace tilevp::neuroncore {

struct PeParameters {
  std::uint64_t clock_hz = 2'800'000'000;
  // From the last moving column to the result in PSUM, in PE cycles: 200 cycles of the 1.4 GHz base clock on NC-v2.
  std::uint32_t fill_cycles = 400;
  // A matmul takes max(moving free size, min(this, stationary free size)) cycles.
  std::uint32_t min_interval_cycles = 64;
  // Columns of the stationary tile loaded a cycle, in the background of the matmul before.
  std::uint32_t weight_load_columns_per_cycle = 4;
  // fp32 operands cost this many times the cycles (a cost, not a value).
  std::uint32_t fp32_passes = 4;
};
BOOST_DESCRIBE_STRUCT(PeParameters, (),
                      (clock_hz, fill_cycles, min_interval_cycles, weight_load_columns_per_cycle, fp32_passes))

struct EngineParameters {
  std::uint64_t clock_hz = 1'120'000'000;
  // An instruction takes at least this many cycles (MIN_II).
  std::uint32_t min_interval_cycles = 64;
  // From the last element to the result being visible to others and to a dependent instruction of the same engine.
  std::uint32_t latency_cycles = 100;
};
BOOST_DESCRIBE_STRUCT(EngineParameters, (), (clock_hz, min_interval_cycles, latency_cycles))

struct SequencerParameters {
  // Cycles of the engine's clock to issue one record.
  std::uint32_t issue_cycles = 1;
  // Instructions fetched from memory at a time; the next block is fetched while one is executed.
  std::uint32_t fetch_instructions = 64;
};
BOOST_DESCRIBE_STRUCT(SequencerParameters, (), (issue_cycles, fetch_instructions))

struct Parameters {
  std::uint32_t generation = 2;  // 2, 3, 4: NC-v2, v3, v4
  std::uint32_t sbuf_partition_bytes = 196'608;
  std::uint32_t sbuf_reserved_bytes = 16'384;  // of each partition, not usable by programs
  PeParameters pe{};
  EngineParameters vector{.clock_hz = 1'120'000'000, .min_interval_cycles = 64, .latency_cycles = 100};
  EngineParameters scalar{.clock_hz = 1'400'000'000, .min_interval_cycles = 64, .latency_cycles = 200};
  EngineParameters gpsimd{.clock_hz = 1'400'000'000, .min_interval_cycles = 64, .latency_cycles = 100};
  EngineParameters sync{.clock_hz = 1'400'000'000, .min_interval_cycles = 1, .latency_cycles = 0};
  SequencerParameters sequencer{};
  // An engine that reads or writes a PSUM bank holds it for the length of its instruction.
  bool psum_bank_exclusive = true;
  // NC-v2: the vector and gpsimd engines share one SBUF port, the vector and scalar engines one PSUM port.
  bool vector_gpsimd_share_sbuf_port = true;
  bool vector_scalar_share_psum_port = true;
};
BOOST_DESCRIBE_STRUCT(Parameters, (),
                      (generation, sbuf_partition_bytes, sbuf_reserved_bytes, pe, vector, scalar, gpsimd, sync,
                       sequencer, psum_bank_exclusive, vector_gpsimd_share_sbuf_port, vector_scalar_share_psum_port))

}  // namespace tilevp::neuroncore
