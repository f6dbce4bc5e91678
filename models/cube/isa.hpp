#pragma once
// The instructions of the PTO CUBE core as its programmer sees them: little-endian words of 16, 32 or 64 bits
// (PTO-ISA/pto-spec, asl/block; revision 0.58.4, "the 0.58.4 window": B.FPATR carries CScaleEn).
//
// A bundle is a header (BSTART, then commands that only latch) and a closer (BSTOP, or the next BSTART). What it does
// happens when it closes. Outside bundles a few scalar instructions compute addresses.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "tilevp/cube/data_type.hpp"
#include "tilevp/cube/layout.hpp"

namespace tilevp::cube {

inline constexpr unsigned pes = 4;
inline constexpr unsigned hands = 4;  // T U M N
inline constexpr unsigned tiles_per_hand = 16;
inline constexpr unsigned local_tiles = 64;
inline constexpr unsigned gprs = 24;                           // zero sp a0-a7 ra s0-s8 x0-x3
inline constexpr std::uint32_t max_local_tile_bytes = 65'536;  // a PE

// Sets of PEs: bit 3 is PE0, bit 0 is PE3.
using PeMask = std::uint8_t;
// What the three bits of PEMode stand for.
inline constexpr std::array<PeMask, 8> pe_masks{0b0000, 0b1000, 0b0100, 0b0010, 0b0001, 0b1100, 0b1110, 0b1111};
constexpr bool selects(PeMask mask, unsigned pe) { return (mask >> (pes - 1 - pe) & 1) != 0; }

enum class Hand : std::uint8_t { t = 0, u = 1, m = 2, n = 3 };

// SizeCode of a destination: 1 .. 10 are 128 B .. 64 KiB a PE.
constexpr std::uint32_t size_code_bytes(unsigned code) { return code == 0 ? 0 : std::uint32_t{64} << code; }

// Operations of BSTART: bits 19:15 name the engine (2 TLSU, 6 CUBE), bits 24:20 the function.
enum class Operation : std::uint8_t {
  tload,
  tstore,
  tmatmul,
  tmatmul_bias,
  tmatmul_acc,
  tmatmulmx,  // the MX forms are decoded, and refused when their bundle closes
  tmatmulmx_bias,
  tmatmulmx_acc,
  tgemv,
  tgemv_bias,
  tgemv_acc,
  tgemvmx,
  tgemvmx_bias,
  tgemvmx_acc,
};
constexpr bool is_matrix(Operation op) { return op >= Operation::tmatmul; }
constexpr bool is_gemv(Operation op) { return op >= Operation::tgemv; }
constexpr bool is_mx(Operation op) {
  return (op >= Operation::tmatmulmx && op <= Operation::tmatmulmx_acc) || op >= Operation::tgemvmx;
}
constexpr bool has_bias(Operation op) {
  return op == Operation::tmatmul_bias || op == Operation::tmatmulmx_bias || op == Operation::tgemv_bias ||
         op == Operation::tgemvmx_bias;
}
constexpr bool accumulates(Operation op) {
  return op == Operation::tmatmul_acc || op == Operation::tmatmulmx_acc || op == Operation::tgemv_acc ||
         op == Operation::tgemvmx_acc;
}
// "TGEMV.BIAS", ...
std::string_view name(Operation op);

// Commands. Fields hold the bits of the word where they have no other meaning here.

struct BStart {
  Operation operation = Operation::tgemv;
  DataType type = DataType::fp32;  // of A; of the tile for TLOAD and TSTORE
  bool operator==(const BStart&) const = default;
};

inline constexpr unsigned datr_inherits_type = 31;  // DTYPE_NONE
// Transport layouts of B.DATR (TLOAD: ND to cells, TSTORE: cells to ND). 0: none.
inline constexpr unsigned nd2m32 = 21, nd2m16 = 22, nd2n8 = 23, m322nd = 24, m162nd = 25, n82nd = 26;
struct BDatr {
  std::uint8_t cmode = 0;
  std::uint8_t pad = 0;  // PadValueOrByteId: 0 zero, 1 max, 2 min, 3 null
  bool saturate = false;
  bool canonicalize = false;
  std::uint8_t type = datr_inherits_type;  // code of BType, or datr_inherits_type
  std::uint8_t rounding = 0;               // RMode: 0 default, 1 RNE 2 RTZ 3 RTM 4 RTP 5 RNA 6 RTO 7 RHB
  std::uint8_t layout = 0;
  bool operator==(const BDatr&) const = default;
};

struct BFpatr {
  std::uint8_t prequant = 0;      // PreQuantMode
  std::uint8_t relu = 0;          // 0 none, 1 ReLU, 2 scalar slope, 3 vector of slopes
  std::uint8_t group_n_code = 0;  // 0, or 1-9: GroupN of 8, 16, 32, 48, 64, 80, 96, 112, 128 columns
  bool row_max = false;
  bool group_max = false;
  bool row_max_init = false;
  bool max_abs = false;
  bool cscale = false;
  bool trans_b = false;
  bool trans_a = false;
  bool operator==(const BFpatr&) const = default;
};
inline constexpr std::array<std::uint8_t, 10> group_columns{0, 8, 16, 32, 48, 64, 80, 96, 112, 128};

// LBn = (GPR + immediate) mod 2^16. `compressed`: C.B.DIMI, which has an immediate of 8 bits and no GPR.
struct BDim {
  std::uint8_t dimension = 0;  // 0 M, 1 N, 2 K; TLOAD and TSTORE: 0 columns, 1 rows
  std::uint8_t gpr = 0;
  std::uint32_t immediate = 0;  // 17 bits
  bool compressed = false;
  bool operator==(const BDim&) const = default;
};

// Sources are 6-bit selectors: hand * 16 + index, index 0 is "#1".
struct BIot {
  std::uint8_t sources = 0;  // 0, 1 or 2
  std::array<std::uint8_t, 2> source{};
  bool last = false;           // L
  std::uint8_t size_code = 0;  // 0: no destination
  Hand destination = Hand::t;
  std::uint8_t pe_mode = 0;
  bool operator==(const BIot&) const = default;
};

struct BIor {
  std::uint8_t destination = 0;
  std::array<std::uint8_t, 3> source{};
  bool operator==(const BIor&) const = default;
};

struct BIos {
  std::uint8_t shared_tile = 0;
  std::uint8_t size_code = 0;  // 0: source, 1-12: destination
  std::uint8_t pe_mode = 0;
  bool operator==(const BIos&) const = default;
};

struct BCatr {
  bool dr = false, trap = false, far = false, atom = false, aq = false, rl = false;
  bool operator==(const BCatr&) const = default;
};

enum class StopForm : std::uint8_t { bstop, c_bstop, l_bstop };
struct BStop {
  StopForm form = StopForm::bstop;
  bool operator==(const BStop&) const = default;
};

// Scalar instructions, which stand between bundles. Sources and destination are GPRs only; the T and U queues of the
// public encoding are no part of this core.
enum class ScalarOp : std::uint8_t {
  addi,     // left + immediate (12 bits, unsigned)
  subi,     // left - immediate
  add,      // left + (right, modified) << shift
  sub,      // left - (right, modified) << shift
  lui,      // immediate (20 bits, signed) << 12
  hl_addi,  // 48 bits: left + immediate (24 bits, unsigned)
  hl_subi,  // left - immediate
  hl_liu,   // immediate (32 bits, unsigned)
  hl_lis,   // immediate (32 bits, signed)
  hl_lui,   // immediate (32 bits, unsigned) << 32
};
// What add and sub make of their right source before they shift it.
enum class Modifier : std::uint8_t { sw = 0, uw = 1, neg = 2, none = 3 };
struct Scalar {
  ScalarOp op = ScalarOp::addi;
  std::uint8_t destination = 0;  // 0 discards
  std::uint8_t left = 0;         // addi, subi, add, sub and their long forms
  std::uint8_t right = 0;        // add, sub
  Modifier modifier = Modifier::none;
  std::uint8_t shift = 0;      // 0 .. 31
  std::int64_t immediate = 0;  // the field, before it is shifted
  bool operator==(const Scalar&) const = default;
};
// What it writes, from the values of its sources; modulo 2^64.
std::uint64_t result_of(const Scalar& scalar, std::uint64_t left, std::uint64_t right);

using Command = std::variant<BStart, BDatr, BFpatr, BDim, BIot, BIor, BIos, BCatr, BStop, Scalar>;

// The bytes of one instruction: 2, 4, 6 or 8, and how many of `bytes` they are.
struct Encoded {
  std::uint64_t word = 0;
  unsigned bytes = 0;
  bool operator==(const Encoded&) const = default;
};

// Throws Defect where a field does not fit its bits: callers (assembler, builder) check what users wrote.
Encoded encode(const Command& command);

// What is wrong with a word that is no instruction: becomes Fault_IllegalInstruction.
struct DecodeError {
  std::string what;    // "B.FPATR: PreQuantMode 6 is reserved"
  unsigned bytes = 0;  // of the instruction
};
struct Decoded {
  Command command;
  unsigned bytes = 0;
};
// The length in bytes that the first halfword announces: 2, 4, 6 or 8.
constexpr unsigned instruction_bytes(std::uint16_t first_halfword) {
  const unsigned low = first_halfword & 0xfU;
  if (low == 0xe) return 6;
  if (low == 0xf) return 8;
  return (low & 1) == 0 ? 2 : 4;
}
// `word`: the instruction's bytes, little endian, the first in bits 7:0; bits beyond its length are ignored.
std::variant<Decoded, DecodeError> decode(std::uint64_t word);

// One line of assembly text, as the assembler takes it; `.word` and the like for what no text says.
std::string disassemble(const Command& command);

// ---- Names of codes, as assembly text has them. Empty where the code has none.
std::string_view gpr_name(unsigned gpr);             // zero sp a0-a7 ra s0-s8 x0-x3
std::string_view data_layout_name(unsigned code);    // Layout of B.DATR: NORM, ND2M32 .. N82ND
std::string_view pad_name(unsigned code);            // Zero Max Min Null
std::string_view rounding_mode_name(unsigned code);  // Default RNE RTZ RTM RTP RNA RTO RHB
std::string_view prequant_name(unsigned code);       // None, F322F16, ...: every PreQuantMode that is assigned
std::string_view relu_name(unsigned code);           // None ReLU LReLU PReLU
std::string_view name(ScalarOp op);                  // "hl.addi"

// Faults, numbered as in asl/arch/data-types/fault.asl.
enum class FaultCode : std::uint8_t {
  none = 0,
  execution_state_check,
  illegal_instruction,
  instruction_pc,
  instruction_page,
  data_alignment,
  data_page,
  software_breakpoint,
  hardware_breakpoint,
  hardware_watchpoint,
  assertion,
  tile_legality,
  tile_allocation,
  bundle_control,
  bundle_post_commit,
  service_request,
};
std::string_view name(FaultCode code);  // "TileLegality"

// Sticky numeric status bits.
enum NumericFlag : std::uint8_t {
  flag_invalid = 0x01,
  flag_divide_by_zero = 0x02,
  flag_overflow = 0x04,
  flag_underflow = 0x08,
  flag_inexact = 0x10,
};

}  // namespace tilevp::cube
