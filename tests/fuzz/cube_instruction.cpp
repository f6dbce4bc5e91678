// Words of the CUBE core: what decodes encodes to its own bits, decodes to the same again, and is shown in one line.
#include <algorithm>
#include <cstring>

#include "fuzz/target.hpp"
#include "tilevp/cube/isa.hpp"

namespace {

using namespace tilevp;
using namespace tilevp::cube;

// Returns the bytes of the instruction.
unsigned one_word(std::uint64_t word) {
  const auto result = decode(word);
  if (const auto* error = std::get_if<DecodeError>(&result)) {
    fuzz::require(!error->what.empty() && error->what.find('\n') == std::string::npos, "a refusal is one line");
    return error->bytes;
  }
  const auto& [command, bytes] = std::get<Decoded>(result);
  const std::uint64_t mask = bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
  const Encoded again = encode(command);
  fuzz::require(again == Encoded{word & mask, bytes}, "a word that decodes is the one its command encodes to");
  const auto second = decode(again.word);
  fuzz::require(std::get<Decoded>(second).command == command, "a command that was encoded decodes to itself");
  const std::string text = disassemble(command);
  fuzz::require(!text.empty() && text.find('\n') == std::string::npos, "an instruction is shown in one line");
  return bytes;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (std::size_t at = 0; at < size;) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + at, std::min(sizeof word, size - at));
    at += one_word(word);
  }
  return 0;
}
