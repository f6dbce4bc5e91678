#include "fuzz/mutator.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "tilevp/base/random.hpp"

namespace tilevp::fuzz {
namespace {

// Where sizes, indices and signs go wrong.
constexpr std::array extremes{"0",
                              "-0",
                              "1",
                              "-1",
                              "127",
                              "128",
                              "255",
                              "65536",
                              "2147483647",
                              "2147483648",
                              "4294967295",
                              "4294967296",
                              "9223372036854775807",
                              "9223372036854775808",
                              "1e-320",
                              "18446744073709551615",
                              "18446744073709551616",
                              "1e308",
                              "1e309",
                              "-1e400",
                              "0.1"};

class Mutation {
 public:
  Mutation(std::string& input, std::string_view other, const std::vector<std::string>& words,
           std::mt19937_64& generator)
      : input_(input), other_(other), words_(words), generator_(generator) {}

  void once() {
    switch (below(9)) {
      case 0:
        if (!input_.empty()) input_[place()] = static_cast<char>(input_[place()] ^ (1 << below(8)));
        break;
      case 1:
        if (!input_.empty()) input_[place()] = static_cast<char>(below(256));
        break;
      case 2:
        input_.insert(place(), 1, static_cast<char>(below(256)));
        break;
      case 3:
        number(extremes[below(extremes.size())]);
        break;
      case 4:
        if (!words_.empty()) input_.insert(place(), words_[below(words_.size())]);
        break;
      case 5:
        input_.erase(place(), length());
        break;
      case 6:
        input_.insert(place(), std::string(input_, place(), length()));
        break;
      case 7:
        exchange();
        break;
      default:
        if (!other_.empty()) input_.insert(place(), std::string(other_.substr(below(other_.size()), length())));
    }
  }

 private:
  std::size_t below(std::size_t end) {
    return static_cast<std::size_t>(uniform_int(generator_, 0, static_cast<std::int64_t>(end) - 1));
  }
  std::size_t place() { return below(input_.size() + (input_.empty() ? 1 : 0)); }
  // Short stretches most of the time.
  std::size_t length() { return 1 + below(std::size_t{1} << below(9)); }

  // The run of digits at or behind a place becomes `text`.
  void number(std::string_view text) {
    constexpr std::string_view digits = "0123456789";
    const auto first = input_.find_first_of(digits, place());
    if (first == std::string::npos) return;
    const auto end = std::min(input_.find_first_not_of(digits, first), input_.size());
    input_.replace(first, end - first, text);
  }

  void exchange() {
    if (input_.empty()) return;
    const auto from = place();
    const std::string stretch(input_, from, length());
    input_.erase(from, stretch.size());
    input_.insert(place(), stretch);
  }

  std::string& input_;
  std::string_view other_;
  const std::vector<std::string>& words_;
  std::mt19937_64& generator_;
};

}  // namespace

std::string mutated(std::string input, std::string_view other, const std::vector<std::string>& words,
                    std::mt19937_64& generator, std::size_t max_bytes) {
  constexpr int most = 8;
  Mutation mutation(input, other, words, generator);
  for (auto left = uniform_int(generator, 1, most); left > 0; --left) mutation.once();
  if (input.size() > max_bytes) input.resize(max_bytes);
  return input;
}

}  // namespace tilevp::fuzz
