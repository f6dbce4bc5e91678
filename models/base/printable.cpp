#include "tilevp/base/printable.hpp"

#include <array>
#include <cstddef>

namespace tilevp {
namespace {

struct Range {
  unsigned char low, high;
  bool holds(char c) const {
    const auto byte = static_cast<unsigned char>(c);
    return low <= byte && byte <= high;
  }
};
constexpr Range ascii{0x00, 0x7f}, continuation{0x80, 0xbf};

// The well-formed sequences of more than one byte, by their first two bytes; Unicode 15, table 3-7.
struct Form {
  Range first, second;
  std::size_t length;
};
constexpr std::array forms{Form{{0xc2, 0xdf}, continuation, 2}, Form{{0xe0, 0xe0}, {0xa0, 0xbf}, 3},
                           Form{{0xe1, 0xec}, continuation, 3}, Form{{0xed, 0xed}, {0x80, 0x9f}, 3},
                           Form{{0xee, 0xef}, continuation, 3}, Form{{0xf0, 0xf0}, {0x90, 0xbf}, 4},
                           Form{{0xf1, 0xf3}, continuation, 4}, Form{{0xf4, 0xf4}, {0x80, 0x8f}, 4}};

// Bytes of the character that `text` begins with; 0 where it begins with none.
std::size_t character(std::string_view text) {
  if (ascii.holds(text[0])) return 1;
  for (const Form& form : forms) {
    if (!form.first.holds(text[0])) continue;
    if (text.size() < form.length || !form.second.holds(text[1])) return 0;
    for (std::size_t i = 2; i < form.length; ++i)
      if (!continuation.holds(text[i])) return 0;
    return form.length;
  }
  return 0;
}

void append_hex(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
}

bool is_control(std::string_view one) {
  constexpr Range c0{0x00, 0x1f}, c1{0x80, 0x9f};
  return one.size() == 1 ? c0.holds(one[0]) || one[0] == '\x7f' : one[0] == '\xc2' && c1.holds(one[1]);
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character(text);
    if (length == 0)
      append_hex(out, text[0]);
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string printable(std::string_view text) {
  const std::string valid = valid_utf8(text);
  std::string out;
  for (std::string_view rest = valid; !rest.empty();) {
    const std::string_view one = rest.substr(0, character(rest));
    rest.remove_prefix(one.size());
    if (one == "\n")
      out += ' ';
    else if (is_control(one))
      append_hex(out, one.back());
    else
      out += one;
  }
  return out;
}

}  // namespace tilevp
