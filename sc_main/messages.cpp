#include "tilevp/sc_main/messages.hpp"

#include <algorithm>
#include <iostream>
#include <string>

namespace tilevp::command {
namespace {

void print(std::string_view kind, std::string_view text) {
  std::string line(text);
  std::ranges::replace(line, '\n', ' ');
  std::cout.flush();
  std::cerr << "tilevp: " << kind << ": " << line << "\n";
}

}  // namespace

void print_error(std::string_view text) { print("error", text); }
void print_warning(std::string_view text) { print("warning", text); }

}  // namespace tilevp::command
