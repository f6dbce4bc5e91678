#include "tilevp/cube/rules.hpp"

#include <array>

namespace tilevp::cube {
namespace {

// Files of PTO-ISA/pto-spec.
constexpr char command_handlers[] = "PTO-ISA/pto-spec, asl/block/model/dispatch/commands.asl";
constexpr char b_datr[] = "PTO-ISA/pto-spec, asl/block/attributes/B.DATR.asl";
constexpr char b_fpatr[] = "PTO-ISA/pto-spec, asl/block/attributes/B.FPATR.asl";
constexpr char b_iot[] = "PTO-ISA/pto-spec, asl/block/operands/B.IOT.asl";
constexpr char b_ior[] = "PTO-ISA/pto-spec, asl/block/operands/B.IOR.asl";
constexpr char b_ios[] = "PTO-ISA/pto-spec, asl/block/operands/B.IOS.asl";
constexpr char lifecycle[] = "PTO-ISA/pto-spec, asl/block/model/lifecycle/enter-stop.asl";
constexpr char tmatmul[] = "PTO-ISA/pto-spec, asl/block/model/dispatch/cube-tmatmul.asl";
constexpr char destinations[] = "PTO-ISA/pto-spec, asl/block/model/dispatch/cube-destination.asl";
constexpr char scalars[] = "PTO-ISA/pto-spec, asl/block/model/dispatch/scalar-schema.asl";
constexpr char post_sources[] = "PTO-ISA/pto-spec, asl/tile/model/legality/matrix-postprocess.asl";
constexpr char math_sources[] = "PTO-ISA/pto-spec, asl/tile/model/legality/matrix-operands.asl";
constexpr char primary[] = "PTO-ISA/pto-spec, asl/tile/model/legality/matrix-cube-primary.asl";
constexpr char gemv[] = "PTO-ISA/pto-spec, PTO-TGEMV-CONTRACT-001";
constexpr char transport[] = "PTO-ISA/pto-spec, asl/block/model/dispatch/tlsu-layout-conversion.asl";
constexpr char tload[] = "PTO-ISA/pto-spec, asl/block/execution/BSTART.TLOAD.asl";
constexpr char platform[] = "TileVP: not modelled, refused by name";
constexpr char registers_page[] = "TileVP: the registers of a CUBE core";

constexpr std::array table{
    Rule{rule::start_status,
         "A core is started while it does not run, and restarted while it stands at a fault. [none: ends the run]",
         registers_page},
    Rule{rule::fetch_pc, "Instructions start at even addresses. [InstructionPC]", lifecycle},
    Rule{rule::fetch_page, "Every instruction can be read from memory. [InstructionPage]", lifecycle},
    Rule{rule::decode, "A fetched word is an instruction: known codes, fixed bits. [IllegalInstruction]",
         command_handlers},
    Rule{rule::header_field,
         "No field of a command has a reserved value (types, modes, SizeCode, GPR numbers). [IllegalInstruction]",
         command_handlers},
    Rule{rule::header_no_bundle, "Header commands stand between a BSTART and its closer. [BundleControl]",
         command_handlers},
    Rule{rule::header_scalar, "Scalar instructions stand outside of tile bundles. [BundleControl]", command_handlers},
    Rule{rule::datr_twice, "A bundle has at most one B.DATR. [BundleControl]", b_datr},
    Rule{rule::datr_value, "B.DATR carries assigned types, layouts and comparison modes. [TileLegality]", b_datr},
    Rule{rule::fpatr_operation, "Only matrix bundles have a B.FPATR. [BundleControl]", b_fpatr},
    Rule{rule::fpatr_twice, "A bundle has at most one B.FPATR. [BundleControl]", b_fpatr},
    Rule{rule::fpatr_late, "B.FPATR precedes the first effective B.IOR, B.IOT and B.IOS. [BundleControl]", b_fpatr},
    Rule{rule::fpatr_reductions,
         "RowMaxInit needs RowMaxEn, GroupMaxEn and GroupNCode each other, MaxAbsEn a reduction. [TileLegality]",
         b_fpatr},
    Rule{rule::dimension_twice, "LB0, LB1 and LB2 are written once a bundle. [BundleControl]",
         "PTO-ISA/pto-spec, asl/block/attributes/B.DIM.asl"},
    Rule{rule::ior_twice, "A bundle has at most one B.IOR. [BundleControl]", b_ior},
    Rule{rule::catr_twice, "A bundle has at most one B.CATR. [BundleControl]", command_handlers},
    Rule{rule::iot_after_last, "No effective B.IOT follows the one with L = 1. [BundleControl]", b_iot},
    Rule{rule::iot_mask, "All effective B.IOT of a bundle have the same PE mask. [TileLegality]", b_iot},
    Rule{rule::iot_count, "A bundle has at most 16 effective B.IOT. [TileLegality]",
         "PTO-ISA/pto-spec, asl/block/model/operands/tile-bindings.asl"},
    Rule{rule::ios_twice, "No two effective B.IOS of a bundle name the same shared tile. [BundleControl]", b_ios},
    Rule{rule::ios_count, "A bundle has at most four effective B.IOS. [BundleControl]", b_ios},
    Rule{rule::close_no_bundle, "BSTOP closes an open bundle. [BundleControl]", lifecycle},
    Rule{rule::close_pc, "A bundle continues at an even address. [InstructionPC]", lifecycle},
    Rule{rule::close_dr, "CUBE bundles leave B.CATR.DR clear. [BundleControl]", lifecycle},

    Rule{rule::no_fpatr, "A matrix bundle has a B.FPATR: there is no default. [BundleControl]", tmatmul},
    Rule{rule::mx_form, "The MX matrix forms are not executed. [IllegalInstruction]", platform},
    Rule{rule::type_pair, "A and B are ordinary matrix types of one numeric class. [TileLegality]", tmatmul},
    Rule{rule::shared_tile,
         "Matrix bundles bind local tiles only (TGEMV always; TMATMUL in this model). [TileLegality]", gemv},
    Rule{rule::source_count, "The sources are exactly those of the operation and its post-processing. [TileLegality]",
         tmatmul},
    Rule{rule::destination_count, "The destinations are exactly D and the enabled reductions. [TileLegality]", tmatmul},
    Rule{rule::last_missing, "The last effective B.IOT has L = 1. [TileLegality]", b_iot},
    Rule{rule::ior_unused, "B.IOR fields that the operation does not consume are zero. [TileLegality]", scalars},
    Rule{rule::scalar_missing, "A scalar parameter comes from a B.IOR. [TileLegality]", scalars},
    Rule{rule::datr_unused,
         "B.DATR of a matrix bundle has Layout, PadValue, CMode and Canonicalize zero. [TileLegality]", tmatmul},
    Rule{rule::datr_conversion,
         "RMode and Sat are zero where the PreQuant mode fixes the rounding or does not saturate. [TileLegality]",
         b_fpatr},
    Rule{rule::dimension_zero, "M, N and K are not zero (modulo 65536). [TileLegality]", tmatmul},
    Rule{rule::gemv_rows, "TGEMV has M = 1. [TileLegality]", gemv},
    Rule{rule::transpose_local, "TransA and TransB are zero where that operand is local. [TileLegality]", tmatmul},
    Rule{rule::quant_word, "The scalar quantisation word is one that the mode takes. [TileLegality]", scalars},
    Rule{rule::slope_word, "The scalar ReLU word is +0 or a positive normal FP19. [TileLegality]", scalars},
    Rule{rule::accumulator_class, "The PreQuant mode takes the accumulator's type. [TileLegality]", post_sources},
    Rule{rule::parameter_tile,
         "RowMaxIn and parameter vectors are whole row-major tiles of their type and shape. [TileLegality]",
         post_sources},
    Rule{rule::parameter_word, "Every word of a parameter vector is one that the mode takes. [TileLegality]",
         post_sources},
    Rule{rule::source_missing, "A source names a tile. [TileLegality]", b_iot},
    Rule{rule::source_mask, "A source has a payload in every PE of the bundle's mask. [TileLegality]",
         "TileVP: payloads a PE"},
    Rule{rule::source_layout, "A and C are in one M layout, B in CUBE_N8, Bias row-major. [TileLegality]", primary},
    Rule{rule::source_type, "Sources have the types of their operands. [TileLegality]", math_sources},
    Rule{rule::source_shape, "Sources have the valid rows and columns of their operands. [TileLegality]", math_sources},
    Rule{rule::source_undefined, "Every valid element of a source is defined. [TileLegality]", math_sources},
    Rule{rule::c_capacity, "C has D's capacity where D keeps the accumulator's type. [TileLegality]", primary},
    Rule{rule::cscale_operation, "CScaleEn goes with an accumulating operation on FP32, not TGEMV. [TileLegality]",
         math_sources},
    Rule{rule::c_is_d, "C's source code differs from the number of D's hand. [TileLegality]", tmatmul},
    Rule{rule::cscale_is_destination,
         "CScale's source code differs from the number of every destination's hand. [TileLegality]",
         "PTO-ISA/pto-spec, asl/block/model/dispatch/matrix-scale.asl"},
    Rule{rule::hand_full, "Every destination finds a free register in its hand. [TileAllocation]", destinations},
    Rule{rule::capacity, "The destinations fit into the tile capacity that is left. [TileAllocation]", destinations},
    Rule{rule::d_size, "D fits into the bytes of its SizeCode. [TileAllocation]", destinations},
    Rule{rule::reduction_size,
         "Reductions fill their SizeCode as row-major tiles: columns a power of two. [TileAllocation]", destinations},
    Rule{rule::post_commit, "B.CATR.trap stops the core after the bundle. [BundlePostCommit]", lifecycle},

    Rule{rule::transfer_dimensions,
         "Columns and rows are given where the layout asks for it, and are not zero. [TileLegality]", transport},
    Rule{rule::transfer_attributes,
         "B.DATR has a layout of the direction and no conversion; a cell layout takes no type. [TileLegality]",
         transport},
    Rule{rule::transfer_bindings, "TLOAD has one destination and no source, TSTORE the other way round. [TileLegality]",
         transport},
    Rule{rule::transfer_shared, "Transfers bind local tiles only. [TileLegality]", platform},
    Rule{rule::transfer_ior, "B.IOR gives base and row stride; its other fields are zero. [TileLegality]", scalars},
    Rule{rule::transfer_type, "Cell layouts take types of 4 to 32 bits, not HiF4X2. [TileLegality]", transport},
    Rule{rule::transfer_hand_full, "The destination of TLOAD finds a free register in its hand. [TileAllocation]",
         transport},
    Rule{rule::transfer_capacity, "The destination of TLOAD fits into the tile capacity that is left. [TileAllocation]",
         transport},
    Rule{rule::transfer_size, "The tile fits into the bytes of its SizeCode in the layout. [TileAllocation]", tload},
    Rule{rule::transfer_source, "TSTORE names a tile of its layout, type, shape and PEs. [TileLegality]", transport},
    Rule{rule::transfer_undefined, "TSTORE reads defined elements. [TileLegality]", transport},
    Rule{rule::transfer_memory, "Memory answers every access of a transfer. [DataPage]", tload},
};

}  // namespace

std::span<const Rule> rules() { return table; }

}  // namespace tilevp::cube
