#pragma once
// A number as a person writes it, for messages: 148.3 and 1e+300, not 148.300000 and 301 digits.
#include <cstdio>
#include <string>

namespace tilevp {

inline std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

}  // namespace tilevp
