#pragma once
// Programs of the CUBE core as text and as words (docs/pto-assembler.md).
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilevp::pto::assembler {

// A program as it lies in memory.
using Words = std::vector<std::byte>;

// Throws UserError `name:line:column: expected ..., found ...`.
Words assemble(const std::string& name, std::string_view text);
// One instruction a line; what assembles to the same bytes, whatever they are. Of an odd number of bytes the last one
// is not listed: see words_of.
std::string disassemble(std::span<const std::byte> words);
// The same, and as a comment where each instruction lies: its offset from the first, plus `base`.
std::string listing(std::span<const std::byte> words, std::uint64_t base);

// A file of either kind: bare words, or text (which has no zero byte, while every word that closes a bundle has some).
// Throws UserError(name), also for an odd number of bytes.
Words words_of(const std::string& name, std::string_view file);

}  // namespace tilevp::pto::assembler
