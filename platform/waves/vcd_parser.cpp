#include "tilevp/platform/waves/vcd_parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/printable.hpp"

namespace tilevp::platform {
namespace {

constexpr std::size_t longest_word = max_vcd_bits + 1;
constexpr std::size_t longest_quote = 40;  // of what was found, in a message
constexpr std::string_view scalar_values = "01xXzZuUwWhHlL-";

// Words between white space, with the line each stands in.
class Words {
 public:
  Words(std::istream& stream, const std::string& name) : in_(*stream.rdbuf()), name_(name) {}

  // The next word, valid until the next call; empty at the end of the file.
  std::string_view next() {
    word_.clear();
    int c = in_.sbumpc();
    while (is_space(c)) {
      if (c == '\n') ++line_;
      c = in_.sbumpc();
    }
    for (; c != end_of_file && !is_space(c); c = in_.sbumpc()) {
      if (word_.size() == longest_word) fail("a word of at most " + std::to_string(longest_word) + " characters");
      word_ += static_cast<char>(c);
    }
    if (c != end_of_file) in_.sungetc();  // its line ends with the next call
    return word_;
  }

  [[noreturn]] void fail(const std::string& expected) const {
    std::string found = word_.empty() ? "the end of the file" : "'" + word_.substr(0, longest_quote) + "'";
    if (word_.size() > longest_quote) found += "...";
    throw UserError(name_ + ":" + std::to_string(line_), "expected " + expected + ", found " + printable(found));
  }

 private:
  static constexpr int end_of_file = std::char_traits<char>::eof();
  static bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  std::streambuf& in_;
  const std::string& name_;
  std::string word_;
  std::size_t line_ = 1;
};

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class Parser {
 public:
  Parser(std::istream& stream, const std::string& name, VcdVisitor& visitor)
      : words_(stream, name), visitor_(visitor) {}

  void parse() {
    while (declaration()) continue;
    while (change()) continue;
  }

 private:
  struct Signal {
    unsigned bits;
    bool numeric;  // digits that `bits` limits
  };

  std::string_view need(const std::string& expected) {
    const auto word = words_.next();
    if (word.empty()) words_.fail(expected);
    return word;
  }
  void need_end() {
    if (words_.next() != "$end") words_.fail("$end");
  }
  void skip_to_end() {
    while (need("$end") != "$end") continue;
  }

  // False after $enddefinitions.
  bool declaration() {
    const auto word = need("a VCD declaration or $enddefinitions");
    if (word == "$enddefinitions") {
      need_end();
      if (!scopes_.empty()) words_.fail("$upscope for '" + scopes_.back() + "' before the end of definitions");
      return false;
    }
    if (word == "$var")
      declare_variable();
    else if (word == "$scope")
      open_scope();
    else if (word == "$upscope")
      close_scope();
    else if (word == "$timescale")
      read_timescale();
    else if (word == "$comment" || word == "$date" || word == "$version" || word == "$attrbegin" || word == "$attrend")
      skip_to_end();
    else
      words_.fail("a VCD declaration ($scope, $var, $enddefinitions, ...)");
    return true;
  }

  void open_scope() {
    need("a scope's type");
    scopes_.emplace_back(need("a scope's name"));
    need_end();
  }

  void close_scope() {
    if (scopes_.empty()) words_.fail("an open $scope before it");
    scopes_.pop_back();
    need_end();
  }

  void declare_variable() {
    VcdVariable variable;
    variable.type = need("a variable's type");
    const auto bits = whole_number<unsigned>(need("a variable's bits"));
    if (!bits || *bits > max_vcd_bits) words_.fail("0 to " + std::to_string(max_vcd_bits) + " bits");
    variable.bits = *bits;
    const std::string code(need("a variable's code"));
    const auto [known, fresh] = ids_.emplace(code, signals_.size());
    variable.id = known->second;
    const bool numeric = variable.type != "real" && variable.type != "realtime" && variable.type != "string";
    if (fresh)
      signals_.push_back({variable.bits, numeric});
    else if (signals_[variable.id].bits != variable.bits)
      words_.fail("a code of " + std::to_string(variable.bits) + " bits (this one has " +
                  std::to_string(signals_[variable.id].bits) + " in an earlier $var)");
    for (const auto& scope : scopes_) variable.name += scope + ".";
    const std::string reference(need("a variable's name"));
    variable.name += reference.substr(0, range_of(reference));
    skip_to_end();  // a range
    visitor_.variable(variable);
  }

  // Where "[7:0]" begins that some tools write without a space before it.
  static std::size_t range_of(const std::string& reference) {
    const auto open = reference.rfind('[');
    const bool range = open != std::string::npos && open > 0 && reference.back() == ']' &&
                       reference.find(':', open) != std::string::npos;
    return range ? open : reference.size();
  }

  // "1ps", "10 ns".
  void read_timescale() {
    std::string text;
    for (auto word = need("a timescale"); word != "$end"; word = need("$end")) text += word;
    constexpr std::array<std::pair<std::string_view, int>, 6> units{
        {{"fs", -15}, {"ps", -12}, {"ns", -9}, {"us", -6}, {"ms", -3}, {"s", 0}}};
    const auto digits = text.find_first_not_of("0123456789");
    const auto count = whole_number<unsigned>(std::string_view(text).substr(0, digits));
    const auto unit = std::ranges::find(units, digits == std::string::npos ? "" : std::string_view(text).substr(digits),
                                        &std::pair<std::string_view, int>::first);
    if (!count || (*count != 1 && *count != 10 && *count != 100) || unit == units.end() || scaled_)
      words_.fail("one timescale of 1, 10 or 100 s, ms, us, ns, ps or fs before this, not '" +
                  text.substr(0, longest_quote) + "'");
    scaled_ = true;
    visitor_.timescale(*count, unit->second);
  }

  // False at the end of the file.
  bool change() {
    const auto word = words_.next();
    if (word.empty()) {
      if (dumping_) words_.fail("$end of the values dumped");
      return false;
    }
    const char first = word.front();
    if (first == '#')
      set_time(word.substr(1));
    else if (first == '$')
      command(word);
    else if (scalar_values.find(first) != std::string_view::npos)
      set_scalar(word);
    else if (first == 'b' || first == 'B')
      set_vector(word.substr(1));
    else if (first == 'r' || first == 'R' || first == 's' || first == 'S')
      set_text(word.substr(1));
    else
      words_.fail("a time (#...) or a value");
    return true;
  }

  void command(std::string_view word) {
    if (word == "$comment") {
      skip_to_end();
    } else if (word == "$end") {
      if (!std::exchange(dumping_, false)) words_.fail("a time or a value (no $dumpvars is open)");
    } else if (word == "$dumpvars" || word == "$dumpall" || word == "$dumpon" || word == "$dumpoff") {
      if (std::exchange(dumping_, true)) words_.fail("$end of the values dumped before");
    } else {
      words_.fail("a time, a value, $comment or $dump...");
    }
  }

  void set_time(std::string_view digits) {
    const auto time = whole_number<std::uint64_t>(digits);
    if (!time) words_.fail("a time of whole ticks below 2^64");
    if (*time < time_) words_.fail("a time not before #" + std::to_string(time_));
    time_ = *time;
    visitor_.time(time_);
  }

  std::size_t signal(std::string_view code) {
    code_.assign(code);
    const auto found = ids_.find(code_);
    if (found == ids_.end()) words_.fail("the code of a declared variable");
    return found->second;
  }

  void set_scalar(std::string_view word) {
    if (word.size() < 2) words_.fail("a value with a code right behind it");
    const auto id = signal(word.substr(1));
    if (signals_[id].bits > 1 || !signals_[id].numeric)
      words_.fail("a value of the form b..., r... or s..., for its variable has " + std::to_string(signals_[id].bits) +
                  " bits");
    visitor_.value(id, word.substr(0, 1));
  }

  void set_vector(std::string_view digits) {
    if (digits.empty() || digits.find_first_not_of(scalar_values) != std::string_view::npos)
      words_.fail("b and binary digits");
    const auto one = digits.find_first_not_of('0');
    text_.assign(one == std::string_view::npos ? "0" : digits.substr(one));
    const auto count = digits.size();
    const auto id = signal(need("a code after the value"));
    if (signals_[id].numeric && count > std::max(signals_[id].bits, 1u))
      words_.fail("at most " + std::to_string(signals_[id].bits) + " digits before this code, not " +
                  std::to_string(count));
    visitor_.value(id, text_);
  }

  void set_text(std::string_view text) {
    text_.assign(text);
    visitor_.value(signal(need("a code after the value")), text_);
  }

  Words words_;
  VcdVisitor& visitor_;
  std::vector<std::string> scopes_;
  std::unordered_map<std::string, std::size_t> ids_;
  std::vector<Signal> signals_;
  std::string code_;
  std::string text_;
  std::uint64_t time_ = 0;
  bool scaled_ = false;
  bool dumping_ = false;
};

}  // namespace

void parse_vcd(std::istream& stream, const std::string& name, VcdVisitor& visitor) {
  Parser(stream, name, visitor).parse();
}

}  // namespace tilevp::platform
