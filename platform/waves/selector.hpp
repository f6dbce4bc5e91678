#pragma once
// `--trace GLOB` and `--trace '!GLOB'`: which of the platform's probes a wave file shows.
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilevp::platform {

// `*` stands for any text, dots included, `?` for one character; everything else for itself.
bool glob_match(std::string_view pattern, std::string_view text);

class Selector {
 public:
  // The patterns as given, in their order. UserError for an empty one.
  explicit Selector(std::vector<std::string> patterns);

  // Whether each name is selected. A pattern matches a name, or a module above it ("core0.pe" selects all below it).
  // The last pattern that matches decides; before the first, everything is selected where that is an exclusion ('!'),
  // or where there is none, and nothing otherwise. UserError naming the pattern that matches no name, with the names
  // nearest to it.
  std::vector<bool> select(std::span<const std::string> names) const;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace tilevp::platform
