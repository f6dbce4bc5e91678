#pragma once
// What the command says on stderr: one line a message.
#include <string_view>

namespace tilevp::command {

// "tilevp: error: TEXT". Line breaks inside the text become spaces.
void print_error(std::string_view text);
void print_warning(std::string_view text);

}  // namespace tilevp::command
