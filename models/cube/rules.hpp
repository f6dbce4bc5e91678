#pragma once
// Why the CUBE core faults, one row a cause, in the order in which causes are looked for. The ids of a close carry the
// step: 2 to 12 are the steps of a matrix bundle (step 1, mask zero, cannot fault), transfer.1 to transfer.4 those of
// TLOAD and TSTORE.
#include <span>

#include "tilevp/base/rules.hpp"

namespace tilevp::cube {

using tilevp::Rule;

// In the order of the table in rules.cpp; ids are unique.
std::span<const Rule> rules();

namespace rule {
// Starting, fetch and decode: raised by the core.
inline constexpr char start_status[] = "cube.start.status";
inline constexpr char fetch_pc[] = "cube.fetch.pc";
inline constexpr char fetch_page[] = "cube.fetch.page";
inline constexpr char decode[] = "cube.decode";
// A header command.
inline constexpr char header_field[] = "cube.header.field";
inline constexpr char header_no_bundle[] = "cube.header.no_bundle";
inline constexpr char header_scalar[] = "cube.header.scalar";
inline constexpr char datr_twice[] = "cube.header.datr_twice";
inline constexpr char datr_value[] = "cube.header.datr_value";
inline constexpr char fpatr_operation[] = "cube.header.fpatr_operation";
inline constexpr char fpatr_twice[] = "cube.header.fpatr_twice";
inline constexpr char fpatr_late[] = "cube.header.fpatr_late";
inline constexpr char fpatr_reductions[] = "cube.header.fpatr_reductions";
inline constexpr char dimension_twice[] = "cube.header.dimension_twice";
inline constexpr char ior_twice[] = "cube.header.ior_twice";
inline constexpr char catr_twice[] = "cube.header.catr_twice";
inline constexpr char iot_after_last[] = "cube.header.iot_after_last";
inline constexpr char iot_mask[] = "cube.header.iot_mask";
inline constexpr char iot_count[] = "cube.header.iot_count";
inline constexpr char ios_twice[] = "cube.header.ios_twice";
inline constexpr char ios_count[] = "cube.header.ios_count";
// Closing, whatever the operation.
inline constexpr char close_no_bundle[] = "cube.close.no_bundle";
inline constexpr char close_pc[] = "cube.close.pc";
inline constexpr char close_dr[] = "cube.close.dr";
// A matrix bundle, by step.
inline constexpr char no_fpatr[] = "cube.2.no_fpatr";
inline constexpr char mx_form[] = "cube.3.mx_form";
inline constexpr char type_pair[] = "cube.4.type_pair";
inline constexpr char shared_tile[] = "cube.4.shared_tile";
inline constexpr char source_count[] = "cube.4.source_count";
inline constexpr char destination_count[] = "cube.4.destination_count";
inline constexpr char last_missing[] = "cube.4.last_missing";
inline constexpr char ior_unused[] = "cube.4.ior_unused";
inline constexpr char scalar_missing[] = "cube.4.scalar_missing";
inline constexpr char datr_unused[] = "cube.4.datr_unused";
inline constexpr char datr_conversion[] = "cube.4.datr_conversion";
inline constexpr char dimension_zero[] = "cube.4.dimension_zero";
inline constexpr char gemv_rows[] = "cube.5.gemv_rows";
inline constexpr char transpose_local[] = "cube.6.transpose_local";
inline constexpr char quant_word[] = "cube.7.quant_word";
inline constexpr char slope_word[] = "cube.7.slope_word";
inline constexpr char accumulator_class[] = "cube.8.accumulator_class";
inline constexpr char parameter_tile[] = "cube.8.parameter_tile";
inline constexpr char parameter_word[] = "cube.8.parameter_word";
inline constexpr char source_missing[] = "cube.9.source_missing";
inline constexpr char source_mask[] = "cube.9.source_mask";
inline constexpr char source_layout[] = "cube.9.source_layout";
inline constexpr char source_type[] = "cube.9.source_type";
inline constexpr char source_shape[] = "cube.9.source_shape";
inline constexpr char source_undefined[] = "cube.9.source_undefined";
inline constexpr char c_capacity[] = "cube.9.c_capacity";
inline constexpr char cscale_operation[] = "cube.9.cscale_operation";
inline constexpr char c_is_d[] = "cube.10.c_is_d";
inline constexpr char cscale_is_destination[] = "cube.10.cscale_is_destination";
inline constexpr char hand_full[] = "cube.12.hand_full";
inline constexpr char capacity[] = "cube.12.capacity";
inline constexpr char d_size[] = "cube.12.d_size";
inline constexpr char reduction_size[] = "cube.12.reduction_size";
inline constexpr char post_commit[] = "cube.15.post_commit";
// TLOAD and TSTORE.
inline constexpr char transfer_dimensions[] = "cube.transfer.1.dimensions";
inline constexpr char transfer_attributes[] = "cube.transfer.1.attributes";
inline constexpr char transfer_bindings[] = "cube.transfer.1.bindings";
inline constexpr char transfer_shared[] = "cube.transfer.1.shared_tile";
inline constexpr char transfer_ior[] = "cube.transfer.1.ior_unused";
inline constexpr char transfer_type[] = "cube.transfer.2.type";
inline constexpr char transfer_hand_full[] = "cube.transfer.3.hand_full";
inline constexpr char transfer_capacity[] = "cube.transfer.3.capacity";
inline constexpr char transfer_size[] = "cube.transfer.3.size";
inline constexpr char transfer_source[] = "cube.transfer.3.source";
inline constexpr char transfer_undefined[] = "cube.transfer.3.source_undefined";
// Raised by the core.
inline constexpr char transfer_memory[] = "cube.transfer.4.memory";
}  // namespace rule

}  // namespace tilevp::cube
