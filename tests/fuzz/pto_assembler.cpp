// A program of the CUBE core, as text or as words: what assembles is the same after it was listed.
#include "fuzz/target.hpp"
#include "tilevp/pto/assembler/text.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilevp;
  using namespace tilevp::pto::assembler;
  Words words;
  if (!fuzz::accepted([&] { words = words_of("input.s", fuzz::as_text(data, size)); })) return 0;
  fuzz::require(words.size() % 2 == 0, "a program is whole halfwords");
  fuzz::require(assemble("again.s", disassemble(words)) == words, "a program is what it was disassembled to");
  return 0;
}
