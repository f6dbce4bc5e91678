#include "tilevp/described/parse.hpp"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <limits>
#include <vector>

#include "tilevp/described/path.hpp"

namespace tilevp::described {

namespace json = boost::json;

namespace {

// Builds the tree on Boost.JSON's value_stack, and the path of what is being read beside it.
class TreeHandler {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = max_object_size;
  static constexpr std::size_t max_key_size = max_object_size;
  static constexpr std::size_t max_string_size = max_object_size;

  explicit TreeHandler(std::string_view text) : text_(text) {}

  bool on_document_begin(json::error_code&) {
    stack_.reset();
    return true;
  }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return enter(false); }
  bool on_array_begin(json::error_code&) { return enter(true); }
  bool on_object_end(std::size_t n, json::error_code&) {
    stack_.push_object(n);
    return leave();
  }
  bool on_array_end(std::size_t n, json::error_code&) {
    stack_.push_array(n);
    return leave();
  }
  bool on_string_part(json::string_view s, std::size_t, json::error_code& ec) {
    stack_.push_chars(s);
    return without_zero(s, ec);
  }
  bool on_string(json::string_view s, std::size_t, json::error_code& ec) {
    if (!without_zero(s, ec)) return false;
    next_path();
    stack_.push_string(s);
    return true;
  }
  bool on_key_part(json::string_view s, std::size_t, json::error_code& ec) {
    key_.append(s.data(), s.size());
    stack_.push_chars(s);
    return without_zero(s, ec);
  }
  bool on_key(json::string_view s, std::size_t, json::error_code& ec) {
    if (!without_zero(s, ec)) return false;
    key_.append(s.data(), s.size());
    auto& level = levels_.back();
    path_ = path_to_key(level.path, key_);
    key_.clear();
    stack_.push_key(s);
    if (lines_.emplace(path_, line_at(s)).second) return true;
    return refuse(s, "duplicate key '" + path_ + "'", ec);
  }
  bool on_number_part(json::string_view s, json::error_code&) {
    number_.append(s.data(), s.size());
    return true;
  }
  bool on_int64(std::int64_t i, json::string_view s, json::error_code& ec) {
    number_.append(s.data(), s.size());
    // An integer has no -0, a double has.
    if (i == 0 && number_.front() == '-') return exact_double(s, ec);
    number_.clear();
    next_path();
    stack_.push_int64(i);
    return true;
  }
  bool on_uint64(std::uint64_t u, json::string_view, json::error_code&) {
    number_.clear();
    next_path();
    stack_.push_uint64(u);
    return true;
  }
  bool on_double(double, json::string_view s, json::error_code& ec) {
    number_.append(s.data(), s.size());
    return exact_double(s, ec);
  }
  bool on_bool(bool b, json::error_code&) {
    next_path();
    stack_.push_bool(b);
    return true;
  }
  bool on_null(json::error_code&) {
    next_path();
    stack_.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

  Parsed release() { return {stack_.release(), std::move(lines_)}; }
  const std::string& problem() const { return problem_; }
  std::size_t problem_offset() const { return problem_offset_; }

 private:
  struct Level {
    std::string path;
    bool list;
    std::size_t index;
  };

  // The path of the value that starts now: a list counts its elements, an object has just named a key.
  void next_path() {
    if (!levels_.empty() && levels_.back().list) path_ = path_to_index(levels_.back().path, levels_.back().index++);
  }
  bool enter(bool list) {
    next_path();
    levels_.push_back({path_, list, 0});
    return true;
  }
  bool leave() {
    levels_.pop_back();
    return true;
  }

  bool exact_double(json::string_view part, json::error_code& ec) {
    next_path();
    double value = 0;
    const auto result = std::from_chars(number_.data(), number_.data() + number_.size(), value);
    if (result.ec != std::errc())
      return refuse(part, "the number " + number_ + " of '" + path_ + "' is beyond a double's range", ec);
    number_.clear();
    stack_.push_double(value);
    return true;
  }

  // Names and texts end up in files and messages of the system, which end them at a zero.
  bool without_zero(json::string_view s, json::error_code& ec) {
    return s.find('\0') == json::string_view::npos || refuse(s, "a text holds the character U+0000", ec);
  }

  bool refuse(json::string_view token, std::string problem, json::error_code& ec) {
    problem_ = std::move(problem);
    problem_offset_ = offset_of(token);
    ec = json::error::syntax;
    return false;
  }

  // Escaped text lies in a buffer of the parser's: it gets the place of the token before it.
  std::size_t offset_of(json::string_view token) {
    if (std::less_equal<>()(text_.data(), token.data()) && std::less<>()(token.data(), text_.data() + text_.size()))
      offset_ = static_cast<std::size_t>(token.data() - text_.data());
    return offset_;
  }
  std::uint32_t line_at(json::string_view token) {
    const std::size_t offset = std::max(offset_of(token), counted_to_);
    line_ += static_cast<std::uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_to_),
                                                   text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    counted_to_ = offset;
    return line_;
  }

  std::string_view text_;
  json::value_stack stack_;
  std::vector<Level> levels_;
  std::string path_;
  std::string key_;
  std::string number_;
  std::string problem_;
  std::size_t problem_offset_ = 0;
  std::size_t offset_ = 0;
  std::size_t counted_to_ = 0;
  std::uint32_t line_ = 1;
  std::unordered_map<std::string, std::uint32_t> lines_;
};

std::string place(const std::string& name, std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto start = before.rfind('\n');
  const auto column = start == std::string_view::npos ? offset + 1 : offset - start;
  return name + ':' + std::to_string(line) + ':' + std::to_string(column);
}

}  // namespace

Parsed parse(const std::string& name, std::string_view text, Comments comments) {
  json::parse_options options;
  options.max_depth = max_depth;
  options.allow_comments = comments == Comments::allowed;
  json::basic_parser<TreeHandler> parser(options, text);
  json::error_code error;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  const auto& handler = parser.handler();
  if (!handler.problem().empty()) throw UserError(place(name, text, handler.problem_offset()), handler.problem());
  if (error == json::error::too_deep)
    throw UserError(place(name, text, used), "nested more than " + std::to_string(max_depth) + " deep");
  if (error) throw UserError(place(name, text, used), "not JSON: " + error.message());
  if (used != text.size()) throw UserError(place(name, text, used), "not JSON: text after the value");
  return parser.handler().release();
}

}  // namespace tilevp::described
