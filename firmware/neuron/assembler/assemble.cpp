// A text is read line by line, so that a mistake has its line and column.
#include <algorithm>

#include "tilevp/described/nearest.hpp"
#include "tilevp/neuron/assembler/line_builder.hpp"

namespace tilevp::neuron::assembler {
namespace {

using assembly::after_blanks;
using assembly::word_at;

const std::vector<std::string> first_words{"nop",        "halt",        "drain",         "semaphore",     "dma_trigger",
                                           "matmul",     "tensor_copy", "tensor_tensor", "tensor_scalar", "memset",
                                           "activation", "copy",        "empty",         ".engine",       ".ring",
                                           ".equ",       ".record",     ".data"};

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
      assembly::fail(name, number, first, last, mistake, "#;");
    }
    at = end + 1;
  }
  return lines.listing();
}

}  // namespace tilevp::neuron::assembler
