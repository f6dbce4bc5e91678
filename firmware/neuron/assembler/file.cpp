#include <cstring>

#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/assembler/listing.hpp"

namespace tilevp::neuron::assembler {
namespace {

Listing bare_records(const std::string& name, std::string_view file, neuroncore::Engine engine) {
  if (file.size() % neuroncore::instruction_bytes != 0)
    throw UserError(name, "expected whole records of 64 bytes, found " + std::to_string(file.size()) + " bytes");
  Listing listing;
  auto& records = listing.streams[static_cast<std::size_t>(engine)];
  records.resize(file.size() / neuroncore::instruction_bytes);
  std::memcpy(records.data(), file.data(), file.size());
  return listing;
}

}  // namespace

// A text has no zero byte, a record has some (the reserved ones).
Listing listing_of(const std::string& name, std::string_view file, const Bases& bases,
                   std::optional<neuroncore::Engine> engine) {
  if (!is_binary(file) && file.find('\0') != std::string_view::npos)
    return bare_records(name, file, engine.value_or(neuroncore::Engine::pe));
  if (engine)
    throw UserError("--engine", "is for bare 64-byte records; " + name + " is " +
                                    (is_binary(file) ? "a program" : "a text") + ", which names its engines itself");
  if (is_binary(file)) return from_binary(name, file);
  return assemble(name, file, bases);
}

neuroncore::Engine parse_engine(const std::string& option, const std::string& text) {
  for (unsigned e = 0; e < neuroncore::engines; ++e)
    if (text == neuroncore::name(static_cast<neuroncore::Engine>(e))) return static_cast<neuroncore::Engine>(e);
  throw UserError(option, "expected pe, scalar, gpsimd, vector or sync, found '" + text + "'");
}

}  // namespace tilevp::neuron::assembler
