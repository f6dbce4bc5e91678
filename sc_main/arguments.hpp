#pragma once
// The command line, read strictly: an option nobody described is an error with the nearest one named.
//
// `--name value` and `--name=value` both work; options with an optional value take it only with `=`. A value may begin
// with a dash (`--padding -1,-1,0,0`), so an option that needs a value always takes the next word.
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilevp::command {

enum class Takes { nothing, value, optional_value };

struct OptionSpec {
  std::string name{};  // with dashes: "--platform", "-c"
  Takes takes = Takes::value;
  std::string placeholder{};    // "FILE"
  std::string default_value{};  // as text; empty: none
  std::string text{};           // one line of help
  bool repeatable = false;
};

class Arguments {
 public:
  bool has(std::string_view option) const { return values_.find(option) != values_.end(); }
  // The value, `fallback` where the option was not given; empty for an optional value left out.
  std::string value(std::string_view option, std::string_view fallback = "") const;
  // All values of a repeatable option, in order.
  std::vector<std::string> all(std::string_view option) const;
  const std::vector<std::string>& positionals() const { return positionals_; }
  const std::map<std::string, std::vector<std::string>, std::less<>>& options() const { return values_; }

 private:
  friend Arguments parse_arguments(std::span<const std::string> words, const std::vector<OptionSpec>& known,
                                   std::string_view command);
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> positionals_;
};

// Throws UserError: `--platfrom: unknown option of 'tilevp run'; nearest is '--platform'`, an option without its value,
// a flag with one, an option given twice that is not repeatable. After `--` all words are positional.
Arguments parse_arguments(std::span<const std::string> words, const std::vector<OptionSpec>& known,
                          std::string_view command);

// How many words were found: "nothing", "1 word", "2 words".
std::string words_text(std::size_t count);

// The options as help text, one a line, aligned.
std::string help_lines(const std::vector<OptionSpec>& options);

// One of the words `choices`; throws UserError naming them.
std::string choice(std::string_view option, const std::string& value, const std::vector<std::string>& choices);

// A whole number in [low, high]; throws UserError.
std::uint64_t whole_number(std::string_view option, const std::string& text, std::uint64_t low, std::uint64_t high);

// A finite number from 0; throws UserError.
double non_negative_number(std::string_view option, const std::string& text);

}  // namespace tilevp::command
