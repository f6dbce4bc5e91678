#pragma once
// JSON text to a tree that keeps every number exactly.
//
// Boost.JSON's own parser (1.81) returns 29 % of random full-precision doubles one ulp off, turns 1e400 into infinity
// and keeps the last of two equal keys. This one runs Boost.JSON's basic_parser under a handler of its own: doubles go
// through std::from_chars, numbers beyond a double and repeated keys are refused.
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tilevp::described {

// Deeper nesting of objects and lists is refused.
constexpr std::size_t max_depth = 32;

enum class Comments { refused, allowed };  // C and C++ style

struct Parsed {
  boost::json::value tree{};
  std::unordered_map<std::string, std::uint32_t> lines{};  // key path -> line of its key, from 1
};

// `name` stands in errors for the text: `trn1.json:3:14: duplicate key 'dram.rate'`. Throws UserError with line and
// column (both from 1, columns in bytes) for anything that is not one JSON value.
Parsed parse(const std::string& name, std::string_view text, Comments comments = Comments::refused);

}  // namespace tilevp::described
