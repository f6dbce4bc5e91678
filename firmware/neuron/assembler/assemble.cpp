// A text is read line by line, so that a mistake has its line and column.
#include <algorithm>
#include <cctype>

#include "tilevp/base/errors.hpp"
#include "tilevp/described/nearest.hpp"
#include "tilevp/neuron/assembler/line_builder.hpp"

namespace tilevp::neuron::assembler {
namespace {

const std::vector<std::string> first_words{"nop",        "halt",        "drain",         "semaphore",     "dma_trigger",
                                           "matmul",     "tensor_copy", "tensor_tensor", "tensor_scalar", "memset",
                                           "activation", "copy",        "empty",         ".engine",       ".ring",
                                           ".equ",       ".record",     ".data"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

const char* after_blanks(const char* at, const char* end) {
  return std::find_if_not(at, end, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
}

std::string word_at(const char* at, const char* end) {
  if (at == end) return "";
  return {at, std::max(at + 1, std::find_if_not(at, end, is_word))};
}

// `name:line:column: expected ..., found ...`
[[noreturn]] void fail(const std::string& name, std::size_t line, const char* begin, const char* end,
                       const Mistake& mistake) {
  const char* const at = after_blanks(mistake.at == nullptr ? begin : mistake.at, end);
  const std::string place = name + ":" + std::to_string(line) + ":" + std::to_string(at - begin + 1);
  if (!mistake.message.empty()) throw UserError(place, mistake.message);
  std::string found = mistake.found;
  if (found.empty()) {
    const std::string text = word_at(at, end);
    found = text.empty() || text == ";" || text == "#" ? "the end of the line" : "'" + text + "'";
  }
  throw UserError(place, "expected " + mistake.expected + ", found " + found);
}

void parse_line(LineBuilder& lines, const char* begin, const char* end) {
  lines.begin_line(begin);
  const char* at = begin;
  parse_statement(lines, at, end);
  at = after_blanks(at, end);
  const bool comment = at != end && (*at == ';' || *at == '#');
  if (at == end || comment) return lines.end_line();
  if (!lines.is_empty_line()) throw Mistake{at, "the end of the line"};
  throw Mistake{at,
                "an instruction, a descriptor or a directive" + described::nearest_hint(word_at(at, end), first_words)};
}

}  // namespace

Listing assemble(const std::string& name, std::string_view text, const Bases& bases) {
  LineBuilder lines(bases);
  std::size_t number = 1;
  for (std::size_t at = 0; at <= text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const char* const first = text.data() + at;
    const char* const last = text.data() + end;
    try {
      parse_line(lines, first, last);
    } catch (const Mistake& mistake) {
      fail(name, number, first, last, mistake);
    }
    at = end + 1;
  }
  return lines.listing();
}

}  // namespace tilevp::neuron::assembler
