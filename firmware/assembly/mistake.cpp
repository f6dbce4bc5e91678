#include "tilevp/assembly/mistake.hpp"

#include <algorithm>
#include <cctype>

#include "tilevp/base/errors.hpp"

namespace tilevp::assembly {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

}  // namespace

const char* after_blanks(const char* at, const char* end) {
  return std::find_if_not(at, end, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
}

std::string word_at(const char* at, const char* end) {
  if (at == end) return "";
  return {at, std::max(at + 1, std::find_if_not(at, end, is_word))};
}

std::string number_text(Wide value) {
  const bool negative = value < 0;
  std::string digits;
  do {
    const int digit = static_cast<int>(value % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    value /= 10;
  } while (value != 0);
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

void fail(const std::string& name, std::size_t line, const char* begin, const char* end, const Mistake& mistake,
          std::string_view comments) {
  const char* const at = after_blanks(mistake.at == nullptr ? begin : mistake.at, end);
  const std::string place = name + ":" + std::to_string(line) + ":" + std::to_string(at - begin + 1);
  if (!mistake.message.empty()) throw UserError(place, mistake.message);
  std::string found = mistake.found;
  if (found.empty()) {
    const bool at_end = at == end || comments.find(*at) != std::string_view::npos;
    found = at_end ? "the end of the line" : "'" + word_at(at, end) + "'";
  }
  throw UserError(place, "expected " + mistake.expected + ", found " + found);
}

}  // namespace tilevp::assembly
