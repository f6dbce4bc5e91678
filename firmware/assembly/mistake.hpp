#pragma once
// A mistake in a text, with the place where it stands.
#include <cstddef>
#include <string>
#include <string_view>

namespace tilevp::assembly {

// Wide enough for every product of two numbers that a field can hold.
__extension__ using Wide = __int128;
inline constexpr Wide largest_number = (Wide{1} << 64) - 1;

std::string number_text(Wide value);

// What is wrong with a line, and where (null: at its begin). `found` empty: what stands there.
struct Mistake {
  const char* at = nullptr;
  std::string expected;
  std::string found{};
  std::string message{};  // where there is one, it stands instead
};

// Throws the mistake as UserError: `name:line:column: expected ..., found ...`. `begin` and `end` are those of the
// line; `comments`: the characters with which one begins.
[[noreturn]] void fail(const std::string& name, std::size_t line, const char* begin, const char* end,
                       const Mistake& mistake, std::string_view comments);

// The first character from `at` on that is no blank.
const char* after_blanks(const char* at, const char* end);
// The word that begins at `at`, or the one character that begins none; empty at the end.
std::string word_at(const char* at, const char* end);

}  // namespace tilevp::assembly
