#pragma once
// Inputs made of other inputs, the same ones on every host.
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace tilevp::fuzz {

// Changes up to eight things of `input`: bits, bytes, numbers to extremes, words of `words`; stretches are dropped,
// repeated, moved or taken from `other`. At most `max_bytes` long.
std::string mutated(std::string input, std::string_view other, const std::vector<std::string>& words,
                    std::mt19937_64& generator, std::size_t max_bytes = 1 << 16);

}  // namespace tilevp::fuzz
