#include "tilevp/sc_main/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tilevp/base/errors.hpp"
#include "tilevp/described/nearest.hpp"

namespace tilevp::command {
namespace {

const OptionSpec& find_option(const std::vector<OptionSpec>& known, const std::string& name, std::string_view command) {
  const auto found = std::ranges::find(known, name, &OptionSpec::name);
  if (found != known.end()) return *found;
  std::vector<std::string> names;
  for (const auto& option : known) names.push_back(option.name);
  throw UserError(name, "unknown option of '" + std::string(command) + "'" + described::nearest_hint(name, names));
}

constexpr std::size_t short_length = 2;  // "-c"

// The one-letter option that `word` begins with, its value behind it: `-cdma.engines=1`. Null: it is no such word.
const OptionSpec* joined_option(const std::string& word, const std::vector<OptionSpec>& known) {
  if (word.size() <= short_length || word[1] == '-' || word[short_length] == '=') return nullptr;
  const auto found = std::ranges::find(known, word.substr(0, short_length), &OptionSpec::name);
  return found == known.end() || found->takes != Takes::value ? nullptr : &*found;
}

bool looks_like_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

}  // namespace

std::string Arguments::value(std::string_view option, std::string_view fallback) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::string(fallback) : found->second.back();
}

std::vector<std::string> Arguments::all(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

Arguments parse_arguments(std::span<const std::string> words, const std::vector<OptionSpec>& known,
                          std::string_view command) {
  Arguments arguments;
  const auto add = [](Arguments& to, const OptionSpec& option, std::string value) {
    auto& values = to.values_[option.name];
    if (!values.empty() && !option.repeatable)
      throw UserError(option.name, "given twice: '" + values.front() + "' and '" + value + "'");
    values.push_back(std::move(value));
  };
  bool only_positionals = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (only_positionals || !looks_like_option(words[i])) {
      if (words[i].empty()) throw UserError(command, "expected a name, found an empty word");
      arguments.positionals_.push_back(words[i]);
      continue;
    }
    if (words[i] == "--") {
      only_positionals = true;
      continue;
    }
    if (const auto* option = joined_option(words[i], known); option != nullptr) {
      add(arguments, *option, words[i].substr(short_length));
      continue;
    }
    const auto equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const OptionSpec& option = find_option(known, name, command);
    std::string value;
    if (equals != std::string::npos) {
      if (option.takes == Takes::nothing) throw UserError(name, "takes no value, found '" + words[i] + "'");
      value = words[i].substr(equals + 1);
    } else if (option.takes == Takes::value) {
      if (i + 1 == words.size()) throw UserError(name, "expected a value (" + option.placeholder + "), found nothing");
      value = words[++i];
    }
    add(arguments, option, std::move(value));
  }
  return arguments;
}

std::string words_text(std::size_t count) {
  if (count == 0) return "nothing";
  return std::to_string(count) + (count == 1 ? " word" : " words");
}

std::string help_lines(const std::vector<OptionSpec>& options) {
  std::vector<std::string> heads;
  std::size_t width = 0;
  for (const auto& option : options) {
    std::string head = "  " + option.name;
    if (option.takes == Takes::value) head += " " + option.placeholder;
    if (option.takes == Takes::optional_value) head += "[=" + option.placeholder + "]";
    width = std::max(width, head.size());
    heads.push_back(std::move(head));
  }
  std::string text;
  for (std::size_t i = 0; i < options.size(); ++i) {
    text += heads[i] + std::string(width + 2 - heads[i].size(), ' ') + options[i].text;
    if (!options[i].default_value.empty()) text += " (default " + options[i].default_value + ")";
    text += "\n";
  }
  return text;
}

std::string choice(std::string_view option, const std::string& value, const std::vector<std::string>& choices) {
  if (std::ranges::find(choices, value) == choices.end())
    throw UserError(option, "expected one of " + described::join(choices) + ", found '" + value + "'");
  return value;
}

std::uint64_t whole_number(std::string_view option, const std::string& text, std::uint64_t low, std::uint64_t high) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || number < low || number > high)
    throw UserError(option, "expected a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
                                ", found '" + text + "'");
  return number;
}

double non_negative_number(std::string_view option, const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) || number < 0)
    throw UserError(option, "expected a number from 0, found '" + text + "'");
  return number;
}

}  // namespace tilevp::command
