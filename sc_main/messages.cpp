#include "tilevp/sc_main/messages.hpp"

#include <iostream>
#include <string>

namespace tilevp::command {
namespace {

// One line, whatever a file or a name in it holds: a terminal must not obey it.
std::string printable(std::string_view text) {
  constexpr std::string_view hex_digits = "0123456789abcdef";
  constexpr unsigned char space = 0x20, del = 0x7f;
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      line += ' ';
    else if (byte < space || byte == del)
      line += {'\\', 'x', hex_digits[byte >> 4], hex_digits[byte & 15]};
    else
      line += c;
  }
  return line;
}

void print(std::string_view kind, std::string_view text) {
  std::cout.flush();
  std::cerr << "tilevp: " << kind << ": " << printable(text) << "\n";
}

}  // namespace

void print_error(std::string_view text) { print("error", text); }
void print_warning(std::string_view text) { print("warning", text); }

}  // namespace tilevp::command
