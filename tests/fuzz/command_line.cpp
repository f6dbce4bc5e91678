// A command line, one word a line of the input: options, times, numbers and the overrides of a description.
#include <array>
#include <string>
#include <vector>

#include "fuzz/target.hpp"
#include "tilevp/platform/description.hpp"
#include "tilevp/sc_main/arguments.hpp"
#include "tilevp/sc_main/times.hpp"

namespace {

using namespace tilevp;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::vector<command::OptionSpec> options() {
  using command::Takes;
  return {{.name = "--check", .takes = Takes::optional_value, .placeholder = "exact"},
          {.name = "--max-time", .placeholder = "TIME"},
          {.name = "--seed", .placeholder = "N"},
          {.name = "--tolerance", .placeholder = "R"},
          {.name = "-c", .placeholder = "PATH=VALUE", .repeatable = true},
          {.name = "-q", .takes = Takes::nothing}};
}

void read_values(const command::Arguments& arguments) {
  static const std::array clocks{ClockDomain("pe", 2'800'000'000), ClockDomain("dma", 1'400'000'000)};
  if (arguments.has("--max-time")) {
    const auto time = command::parse_time("--max-time", arguments.value("--max-time"), clocks);
    fuzz::require(!command::time_text(time).empty(), "a time has a text");
  }
  if (arguments.has("--seed")) command::whole_number("--seed", arguments.value("--seed"), 0, UINT64_MAX);
  if (arguments.has("--tolerance")) command::non_negative_number("--tolerance", arguments.value("--tolerance"));
  if (arguments.has("-c")) platform::load_description("trn1", arguments.all("-c"));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto words = words_of(fuzz::as_text(data, size));
  fuzz::accepted([&] { read_values(command::parse_arguments(words, options(), "tilevp run")); });
  return 0;
}
