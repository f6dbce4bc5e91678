// A raw program, as text or as a file of to_binary: what assembles is the same after it was listed or stored.
#include <string>

#include "fuzz/target.hpp"
#include "tilevp/neuron/assembler/listing.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilevp;
  using namespace tilevp::neuron::assembler;
  const auto input = fuzz::as_text(data, size);
  const Bases bases;
  Listing listing;
  const bool good = fuzz::accepted(
      [&] { listing = is_binary(input) ? from_binary("input.bin", input) : assemble("input.asm", input, bases); });
  if (!good) return 0;
  fuzz::require(from_binary("again.bin", to_binary(listing)) == listing, "a listing is what it was stored as");
  const std::string text = disassemble(listing, bases);
  fuzz::require(assemble("again.asm", text, bases) == listing, "a listing is what it was disassembled to");
  return 0;
}
