#pragma once
// What the hardware forbids or leaves undefined, one row a rule. Breaking one ends the run with a Fault of that id.
#include <span>

#include "tilevp/base/rules.hpp"

namespace tilevp::neuroncore {

using tilevp::Rule;

// In the order of the table in rules.cpp; ids are unique.
std::span<const Rule> rules();

namespace rule {
inline constexpr char isa_decode[] = "isa.decode";
inline constexpr char engine_opcode[] = "engine.opcode";
inline constexpr char operand_space[] = "operand.space";
inline constexpr char operand_empty[] = "operand.empty";
inline constexpr char operand_elements[] = "operand.elements";
inline constexpr char operand_alignment[] = "operand.alignment";
inline constexpr char operand_free_size[] = "operand.free_size";
inline constexpr char operand_dtype[] = "operand.dtype";
inline constexpr char operand_op[] = "operand.op";
inline constexpr char operand_transpose_size[] = "operand.transpose_size";
inline constexpr char partition_count[] = "partition.count";
inline constexpr char partition_range[] = "partition.range";
inline constexpr char partition_start[] = "partition.start";
inline constexpr char sbuf_bounds[] = "sbuf.bounds";
inline constexpr char sbuf_undefined_read[] = "sbuf.undefined_read";
inline constexpr char psum_bounds[] = "psum.bounds";
inline constexpr char psum_undefined_read[] = "psum.undefined_read";
inline constexpr char psum_bank_span[] = "psum.bank_span";
inline constexpr char psum_two_inputs[] = "psum.two_inputs";
inline constexpr char psum_accumulate_unstarted[] = "psum.accumulate_unstarted";
inline constexpr char psum_read_open_group[] = "psum.read_open_group";
inline constexpr char psum_second_group[] = "psum.second_group";
inline constexpr char pe_moving_free_size[] = "pe.moving_free_size";
inline constexpr char pe_stationary_free_size[] = "pe.stationary_free_size";
inline constexpr char pe_partition_start[] = "pe.partition_start";
inline constexpr char pe_dtype[] = "pe.dtype";
inline constexpr char pe_flags[] = "pe.flags";
inline constexpr char pe_reuse_fp32[] = "pe.reuse_fp32";
inline constexpr char pe_reuse_not_loaded[] = "pe.reuse_not_loaded";
inline constexpr char semaphore_reserved[] = "semaphore.reserved";
inline constexpr char semaphore_overflow[] = "semaphore.overflow";
inline constexpr char race_access[] = "race.access";
inline constexpr char race_ambiguous_wait[] = "race.ambiguous_wait";
inline constexpr char dma_queue[] = "dma_trigger.queue";
inline constexpr char dma_descriptors[] = "dma_trigger.descriptors";
inline constexpr char stream_end[] = "sequencer.stream_end";
inline constexpr char stream_alignment[] = "sequencer.stream_alignment";
inline constexpr char stream_running[] = "sequencer.running";
}  // namespace rule

}  // namespace tilevp::neuroncore
