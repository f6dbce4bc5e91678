#include <array>

#include "tilevp/cube/isa.hpp"

namespace tilevp::cube {
namespace {

template <std::size_t size>
std::string_view at(const std::array<std::string_view, size>& names, std::size_t code) {
  return code < size ? names[code] : std::string_view{};
}

}  // namespace

std::string_view name(Operation op) {
  static constexpr std::array<std::string_view, 14> names{
      "TLOAD",         "TSTORE", "TMATMUL",    "TMATMUL.BIAS", "TMATMUL.ACC", "TMATMULMX",    "TMATMULMX.BIAS",
      "TMATMULMX.ACC", "TGEMV",  "TGEMV.BIAS", "TGEMV.ACC",    "TGEMVMX",     "TGEMVMX.BIAS", "TGEMVMX.ACC"};
  return at(names, static_cast<std::size_t>(op));
}

std::string_view name(ScalarOp op) {
  static constexpr std::array<std::string_view, 10> names{"addi",    "subi",    "add",    "sub",    "lui",
                                                          "hl.addi", "hl.subi", "hl.liu", "hl.lis", "hl.lui"};
  return at(names, static_cast<std::size_t>(op));
}

std::string_view name(FaultCode code) {
  static constexpr std::array<std::string_view, 16> names{"None",
                                                          "ExecutionStateCheck",
                                                          "IllegalInstruction",
                                                          "InstructionPC",
                                                          "InstructionPage",
                                                          "DataAlignment",
                                                          "DataPage",
                                                          "SoftwareBreakpoint",
                                                          "HardwareBreakpoint",
                                                          "HardwareWatchpoint",
                                                          "Assert",
                                                          "TileLegality",
                                                          "TileAllocation",
                                                          "BundleControl",
                                                          "BundlePostCommit",
                                                          "ServiceRequest"};
  return at(names, static_cast<std::size_t>(code));
}

std::string_view gpr_name(unsigned gpr) {
  static constexpr std::array<std::string_view, gprs> names{"zero", "sp", "a0", "a1", "a2", "a3", "a4", "a5",
                                                            "a6",   "a7", "ra", "s0", "s1", "s2", "s3", "s4",
                                                            "s5",   "s6", "s7", "s8", "x0", "x1", "x2", "x3"};
  return at(names, gpr);
}

std::string_view data_layout_name(unsigned code) {
  switch (code) {
    case 0:
      return "NORM";
    case nd2m32:
      return "ND2M32";
    case nd2m16:
      return "ND2M16";
    case nd2n8:
      return "ND2N8";
    case m322nd:
      return "M322ND";
    case m162nd:
      return "M162ND";
    case n82nd:
      return "N82ND";
    default:
      return {};
  }
}

std::string_view pad_name(unsigned code) {
  static constexpr std::array<std::string_view, 4> names{"Zero", "Max", "Min", "Null"};
  return at(names, code);
}

std::string_view rounding_mode_name(unsigned code) {
  static constexpr std::array<std::string_view, 8> names{"Default", "RNE", "RTZ", "RTM", "RTP", "RNA", "RTO", "RHB"};
  return at(names, code);
}

// asl/arch/profile/matrix-quantization.asl; the gaps are reserved.
std::string_view prequant_name(unsigned code) {
  static constexpr std::array<std::string_view, 40> names{"None",
                                                          "F322F16",
                                                          "VREQ8",
                                                          "REQ8",
                                                          "VDEQF16",
                                                          "DEQF16",
                                                          {},
                                                          {},
                                                          {},
                                                          {},
                                                          {},
                                                          {},
                                                          "VSHIFTS322S16",
                                                          "SHIFTS322S16",
                                                          {},
                                                          {},
                                                          "F322BF16",
                                                          "REQ4",
                                                          "VREQ4",
                                                          "DEQS16",
                                                          "VDEQS16",
                                                          {},
                                                          {},
                                                          "VQF322B8_PRE",
                                                          "QF322B8_PRE",
                                                          "QF322HIF8_PRE",
                                                          "QF322FP8_PRE",
                                                          "QF322F32_PRE",
                                                          "VQF322HIF8_PRE",
                                                          {},
                                                          {},
                                                          {},
                                                          "QF322F16_PRE",
                                                          "VQF322F16_PRE",
                                                          "QF322BF16_PRE",
                                                          "QS322BF16_PRE",
                                                          "VQF322BF16_PRE",
                                                          "VQF322FP8_PRE",
                                                          "VQF322F32_PRE",
                                                          "VQS322BF16_PRE"};
  return at(names, code);
}

std::string_view relu_name(unsigned code) {
  static constexpr std::array<std::string_view, 4> names{"None", "ReLU", "LReLU", "PReLU"};
  return at(names, code);
}

}  // namespace tilevp::cube
