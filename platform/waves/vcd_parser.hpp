#pragma once
// Reads any Value Change Dump (IEEE 1364-2005, clause 18.2): ours, Verilator's, Icarus', GTKWave's. Free-form words,
// aliases (one code, several names), the four values and VHDL's nine, vectors, reals, and GTKWave's strings ('s') and
// attributes. Extended dumps (18.4, `p` values) are refused.
#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>

namespace tilevp::platform {

// One $var. Several may share an id: they are names of one signal.
struct VcdVariable {
  std::string name{};  // scopes and reference joined by '.', without the range: "top.pe.count"
  std::string type{};  // "wire", "reg", "real", ...
  unsigned bits = 0;
  std::size_t id = 0;  // of the signal, from 0
};

// Is told what stands in a file, in its order.
class VcdVisitor {
 public:
  virtual ~VcdVisitor() = default;
  // One tick is 10^exponent seconds times `count` (1, 10 or 100). Comes at most once, before the first time.
  virtual void timescale(unsigned count, int exponent) = 0;
  virtual void variable(const VcdVariable& variable) = 0;
  // In ticks, never back. Values before the first time belong to tick 0.
  virtual void time(std::uint64_t ticks) = 0;
  // As written, without the leading b, r or s and without the zeros a vector's value may leave out: "101", "x", "1.5".
  // Valid during the call.
  virtual void value(std::size_t id, std::string_view text) = 0;
};

inline constexpr unsigned max_vcd_bits = 1u << 20;

// Reads all of `stream`. UserError "name:line: expected ..., found ..." for what is no VCD, or ends too early.
void parse_vcd(std::istream& stream, const std::string& name, VcdVisitor& visitor);

}  // namespace tilevp::platform
