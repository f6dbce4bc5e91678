// A text is read line by line, so that a mistake has its line and column.
#include <algorithm>

#include "tilevp/base/errors.hpp"
#include "tilevp/cube/prequant.hpp"
#include "tilevp/described/nearest.hpp"
#include "tilevp/pto/assembler/statement.hpp"

namespace tilevp::pto::assembler {
namespace {

using assembly::after_blanks;
using assembly::word_at;

const std::vector<std::string>& first_words() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> words{"B.DATR", "B.FPATR", "B.DIM",   "C.B.DIMI", "B.IOT", "B.IOR", "B.IOS",
                                   "B.CATR", "BSTOP",   "C.BSTOP", "L.BSTOP",  ".word", ".half", ".dword"};
    for (unsigned op = 0; op <= static_cast<unsigned>(cube::Operation::tgemvmx_acc); ++op)
      words.push_back("BSTART." + std::string(name(static_cast<cube::Operation>(op))));
    for (unsigned op = 0; op <= static_cast<unsigned>(cube::ScalarOp::hl_lui); ++op)
      words.emplace_back(name(static_cast<cube::ScalarOp>(op)));
    return words;
  }();
  return all;
}

// What the grammar expects where a mode stands.
constexpr std::string_view a_prequant = "a PreQuantMode";

const std::vector<std::string>& prequant_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    for (const auto& mode : cube::prequant_modes) names.emplace_back(cube::prequant_name(mode.code));
    return names;
  }();
  return all;
}

bool begins_comment(const char* at, const char* end) {
  return *at == '#' || (*at == '/' && at + 1 != end && at[1] == '/');
}

void parse_line(Statement& statement, const char* begin, const char* end) {
  for (const char* at = begin;; ++at) {  // behind a ';'
    statement.begin();
    parse_statement(statement, at, end);
    at = after_blanks(at, end);
    const bool ends = at == end || begins_comment(at, end);
    if (!ends && *at != ';') {
      if (!statement.is_empty()) throw Mistake{at, "the end of the statement"};
      throw Mistake{at, "an instruction" + described::nearest_hint(word_at(at, end), first_words())};
    }
    statement.end();
    if (ends) return;
  }
}

}  // namespace

Words assemble(const std::string& name, std::string_view text) {
  Statement statement;
  std::size_t number = 1;
  for (std::size_t at = 0; at <= text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const char* const first = text.data() + at;
    const char* const last = text.data() + end;
    try {
      parse_line(statement, first, last);
    } catch (Mistake& mistake) {
      if (mistake.expected == a_prequant)
        mistake.expected += described::nearest_hint(word_at(mistake.at, last), prequant_names());
      assembly::fail(name, number, first, last, mistake, "#");
    }
    at = end + 1;
  }
  return statement.take();
}

Words words_of(const std::string& name, std::string_view file) {
  if (file.find('\0') == std::string_view::npos) return assemble(name, file);
  if (file.size() % 2 != 0)
    throw UserError(name, "expected whole halfwords, found " + std::to_string(file.size()) + " bytes");
  const auto* first = reinterpret_cast<const std::byte*>(file.data());
  return {first, first + file.size()};
}

}  // namespace tilevp::pto::assembler
