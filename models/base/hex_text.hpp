#pragma once
// A number as messages and listings show addresses: "0x1f00", whatever the locale.
#include <cstdint>
#include <cstdio>
#include <string>

namespace tilevp {

inline std::string hex_text(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace tilevp
