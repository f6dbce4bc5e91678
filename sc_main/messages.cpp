#include "tilevp/sc_main/messages.hpp"

#include <iostream>

#include "tilevp/base/printable.hpp"

namespace tilevp::command {
namespace {

void print(std::string_view kind, std::string_view text) {
  std::cout.flush();
  std::cerr << "tilevp: " << kind << ": " << printable(text) << "\n";
}

}  // namespace

void print_error(std::string_view text) { print("error", text); }
void print_warning(std::string_view text) { print("warning", text); }

}  // namespace tilevp::command
