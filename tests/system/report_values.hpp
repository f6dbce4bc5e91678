#pragma once
// Values of a report's JSON, and the clock arithmetic to recompute them by.
#include <boost/json.hpp>
#include <cstdint>
#include <string>

namespace tilevp::test {

inline std::uint64_t number(const boost::json::value& tree) { return tree.to_number<std::uint64_t>(); }
inline std::string text(const boost::json::value& tree) { return std::string(tree.as_string()); }

// Smallest n with floor(n * 10^12 / hz) >= t.
inline std::uint64_t edge(std::uint64_t time_ps, std::uint64_t hz) {
  __extension__ using Wide = unsigned __int128;
  constexpr Wide second = 1'000'000'000'000;
  return static_cast<std::uint64_t>((Wide{time_ps} * hz + second - 1) / second);
}

}  // namespace tilevp::test
