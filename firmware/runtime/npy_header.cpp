#include "tilevp/runtime/npy_header.hpp"

#include <array>
#include <charconv>
#include <set>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/printable.hpp"

namespace tilevp::runtime {

namespace {

constexpr std::size_t max_rank = 32;  // numpy's own limit (NPY_MAXDIMS)
constexpr std::string_view known_types = "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1";

constexpr std::array all_elements{Element::f2, Element::f4, Element::f8, Element::i1, Element::i2, Element::i4,
                                  Element::i8, Element::u1, Element::u2, Element::u4, Element::u8, Element::b1};

std::string refused_kind(char kind) {
  switch (kind) {
    case 'V':
      return "raw or structured elements";
    case 'O':
      return "Python objects";
    case 'S':
    case 'a':
    case 'U':
      return "strings";
    case 'c':
      return "complex numbers";
    case 'M':
    case 'm':
      return "dates or times";
    default:
      return "an unknown type";
  }
}

class HeaderParser {
 public:
  HeaderParser(const std::string& name, std::string_view text) : name_(name), rest_(text) {}

  NpyHeader parse() {
    expect('{');
    std::set<std::string> seen;
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (!seen.insert(key).second) fail("key '" + key + "' stands twice");
      value_of(key);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) fail("text after the dictionary");
    for (const char* key : {"descr", "fortran_order", "shape"})
      if (!seen.contains(key)) fail(std::string("key '") + key + "' is missing");
    header_.data_bytes = bytes_of_shape();
    return header_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(name_, "bad .npy header: " + printable(what));
  }

  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_space();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool accept(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "', found " + next_text());
  }
  std::string next_text() const { return rest_.empty() ? "the end" : "'" + std::string(rest_.substr(0, 12)) + "'"; }

  std::string quoted() {
    skip_space();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const auto end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail("expected a quoted word, found " + next_text());
    std::string word(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return word;
  }

  void value_of(const std::string& key) {
    if (key == "descr") {
      skip_space();
      if (rest_.starts_with('[')) fail("structured elements are not supported; known are " + std::string(known_types));
      read_descr(quoted());
    } else if (key == "fortran_order") {
      if (accept("True")) {
        header_.fortran_order = true;
      } else if (!accept("False")) {
        fail("fortran_order: expected True or False, found " + next_text());
      }
    } else if (key == "shape") {
      read_shape();
    } else {
      fail("unknown key '" + key + "'");
    }
  }

  // '<' little-endian, '>' big-endian, '|' of one byte, '=' the order of this machine.
  void read_descr(const std::string& text) {
    const std::size_t mark =
        std::string_view("<>|=").find(text.substr(0, 1)) != std::string_view::npos && !text.empty() ? 1 : 0;
    const std::string type = text.substr(mark);
    for (const auto element : all_elements) {
      if (descr(element).substr(1) != type) continue;
      header_.element = element;
      header_.big_endian = text.front() == '>';
      return;
    }
    const std::string kind = refused_kind(type.empty() ? '\0' : type.front());
    fail("'" + text + "' (" + kind + ") is not supported; known are " + std::string(known_types));
  }

  void read_shape() {
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) fail("shape: expected ',' or ')', found " + next_text());
      skip_space();
      std::size_t extent = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error == std::errc::result_out_of_range) fail("shape: a number beyond 64 bits: " + next_text());
      if (error != std::errc()) fail("shape: expected digits, found " + next_text());
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      header_.shape.push_back(extent);
      if (header_.shape.size() > max_rank) fail("shape: more than " + std::to_string(max_rank) + " axes");
      comma = accept(',');
    }
    if (header_.shape.size() == 1 && !comma) fail("shape: a tuple of one number is written (n,)");
  }

  std::size_t bytes_of_shape() const {
    std::size_t bytes = size_bytes(header_.element);
    for (const auto extent : header_.shape)
      if (__builtin_mul_overflow(bytes, extent, &bytes))
        throw UserError(name_, "header says shape " + shape_text(header_.shape) + " of " +
                                   std::string(descr(header_.element)) + ", more bytes than 64 bits count");
    return bytes;
  }

  const std::string& name_;
  std::string_view rest_;
  NpyHeader header_;
};

}  // namespace

NpyHeader parse_npy_header(const std::string& name, std::string_view text) { return HeaderParser(name, text).parse(); }

std::string npy_header(const std::vector<std::size_t>& shape, Element element) {
  constexpr std::size_t before = 10;  // magic, version, length
  constexpr std::size_t alignment = 64;
  std::string text =
      "{'descr': '" + std::string(descr(element)) + "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  text.append(alignment - 1 - (before + text.size()) % alignment, ' ');
  text += '\n';
  std::string header = "\x93NUMPY";
  header += '\x01';
  header += '\0';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace tilevp::runtime
