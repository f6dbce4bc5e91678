#pragma once
// Where the fields of each instruction lie in its word: what encoder and decoder share (PTO-ISA/pto-spec, the encoding
// records at the head of asl/block/*/*.asl and asl/scalar/alu/*.asl).
#include <array>
#include <cstdint>
#include <string>

#include "tilevp/base/errors.hpp"
#include "tilevp/cube/isa.hpp"

namespace tilevp::cube::word {

struct Field {
  unsigned low = 0;
  unsigned width = 0;
  constexpr std::uint64_t mask() const { return (std::uint64_t{1} << width) - 1; }
  template <class T = unsigned>
  constexpr T get(std::uint64_t from) const {
    return static_cast<T>(from >> low & mask());
  }
  // The value in its place. Throws Defect where it does not fit.
  std::uint64_t put(std::uint64_t value) const {
    if (value > mask())
      throw Defect("a field of " + std::to_string(width) + " bits was given " + std::to_string(value));
    return value << low;
  }
};

// A word whose bits under `mask` are `match`.
struct Form {
  std::uint64_t mask = 0;
  std::uint64_t match = 0;
  constexpr bool fits(std::uint64_t from) const { return (from & mask) == match; }
};

// BSTART of a tile engine: the engine in bits 19:15, the function in bits 24:20.
inline constexpr Form bstart{0x7fff, 0x1181};
inline constexpr Field bstart_engine{15, 5}, bstart_function{20, 5}, bstart_type{27, 5};
inline constexpr Field bstart_fixed{25, 2};
inline constexpr unsigned engine_tlsu = 2, engine_cube = 6;
// By Operation.
struct OperationCode {
  unsigned engine = 0;
  unsigned function = 0;
};
inline constexpr std::array<OperationCode, 14> operation_codes{{{engine_tlsu, 0},
                                                                {engine_tlsu, 1},
                                                                {engine_cube, 0},
                                                                {engine_cube, 1},
                                                                {engine_cube, 2},
                                                                {engine_cube, 4},
                                                                {engine_cube, 5},
                                                                {engine_cube, 6},
                                                                {engine_cube, 16},
                                                                {engine_cube, 17},
                                                                {engine_cube, 18},
                                                                {engine_cube, 20},
                                                                {engine_cube, 21},
                                                                {engine_cube, 22}}};

inline constexpr Form datr{0x000c'707f, 0x0000'1023};
inline constexpr Field datr_cmode{29, 3}, datr_pad{27, 2}, datr_saturate{26, 1}, datr_canonicalize{25, 1},
    datr_type{20, 5}, datr_rounding{15, 3}, datr_layout{7, 5};

inline constexpr Form fpatr{0x0000'7c7f, 0x0000'2023};
inline constexpr Field fpatr_prequant{26, 6}, fpatr_relu{23, 3}, fpatr_group_n{19, 4}, fpatr_row_max{18, 1},
    fpatr_group_max{17, 1}, fpatr_row_max_init{16, 1}, fpatr_max_abs{15, 1}, fpatr_cscale{9, 1}, fpatr_trans_b{8, 1},
    fpatr_trans_a{7, 1};

inline constexpr Form catr{0xfbf0'7fff, 0x0000'0023};
inline constexpr Field catr_dr{26, 1}, catr_trap{19, 1}, catr_far{18, 1}, catr_atom{17, 1}, catr_aq{16, 1},
    catr_rl{15, 1};

inline constexpr Form dim{0x0000'007f, 0x0000'0043};
inline constexpr Field dim_dimension{12, 3}, dim_gpr{15, 5}, dim_low{20, 12}, dim_high{7, 5};

inline constexpr Form dimi{0x003f, 0x003c};
inline constexpr Field dimi_dimension{14, 2}, dimi_immediate{6, 8};

// B.IOR, B.IOS and B.IOT share the opcode; bits 14:12 tell them apart.
inline constexpr Form io{0x7f, 0x13};
inline constexpr Field io_kind{12, 3};
inline constexpr unsigned io_ior = 0, io_ios = 1, io_two_sources = 4, io_one_source = 5, io_no_source = 6;

inline constexpr Form ior{0x0600'707f, 0x0000'0013};
inline constexpr Field ior_destination{7, 5};
inline constexpr std::array<Field, 3> ior_sources{{{15, 5}, {20, 5}, {27, 5}}};

inline constexpr Form ios{0xf008'71ff, 0x0000'1013};
inline constexpr Field ios_tile{20, 8}, ios_size{15, 4}, ios_pe_mode{9, 3};

inline constexpr std::array<Field, 2> iot_sources{{{20, 6}, {26, 6}}};
inline constexpr Field iot_last{19, 1}, iot_size{15, 4}, iot_pe_mode{9, 3}, iot_destination{7, 2};
inline constexpr unsigned max_local_size_code = 10, max_shared_size_code = 12;

inline constexpr std::uint64_t bstop = 0x0000'0001, c_bstop = 0x0000, l_bstop = 0x0000'0001'0000'000f;

// Scalar instructions of 32 bits; the 48-bit ones are these 16 bits higher, behind a prefix of 12 bits of immediate and
// 0xe.
inline constexpr Form scalar_immediate{0x7f, 0x15}, scalar_register{0x7f, 0x05}, scalar_lui{0x7f, 0x17};
inline constexpr Field scalar_function{12, 3}, scalar_destination{7, 5}, scalar_left{15, 5}, scalar_right{20, 5},
    scalar_modifier{25, 2}, scalar_shift{27, 5}, scalar_uimm12{20, 12}, scalar_imm20{12, 20};
inline constexpr unsigned function_add = 0, function_sub = 1;
inline constexpr Form long_prefix{0xf, 0xe};
inline constexpr unsigned long_shift = 16;
inline constexpr Field long_high{4, 12};
inline constexpr unsigned long_opcode_immediate = 0x15, long_opcode_liu = 0x1d, long_opcode_lis = 0x0d,
                          long_opcode_lui = 0x17;
inline constexpr Field opcode{0, 7};

}  // namespace tilevp::cube::word
