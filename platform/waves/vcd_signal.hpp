#pragma once
// The signals of a wave file, and the head of the file that declares them.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tilevp/base/probe.hpp"

namespace tilevp::platform {

// How a viewer shows a signal: as a bit or bits, as a decimal number, in hexadecimal (or by the names of its values).
enum class SignalKind : std::uint8_t { flag, count, code };

// When a signal changed in the file: the first and the last time after its initial value.
struct VcdChanges {
  std::uint64_t first_ps = 0;
  std::uint64_t last_ps = 0;
};

struct VcdSignal {
  std::string name{};  // as the file has it: "top.pe.busy", parts of letters, digits, '_' and '$'
  unsigned bits = 1;   // 1 to 64
  SignalKind kind = SignalKind::flag;
  std::optional<VcdChanges> changes{};  // none: it has not changed
  std::span<const ValueName> names{};   // of its values, owned by its probe
};

// The name as the file has it: a scope or signal a part, "bank[3]" becomes "bank_3", any other character '_'. Defect
// for an empty part.
std::string vcd_name(std::string_view name);

// The short code that stands for signal `id` in the file: printable characters, base 94.
std::string vcd_code(std::size_t id);

// Everything up to $enddefinitions: 1 ps, scopes nested by the parts of the names, in the order of the signals.
std::string vcd_header(std::span<const VcdSignal> signals);

}  // namespace tilevp::platform
