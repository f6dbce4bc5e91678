#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/assembler/listing.hpp"

namespace tilevp::neuron::assembler {
namespace {

std::string whole_file(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  if (!in) throw UserError(name, std::string("cannot read: ") + std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) throw UserError(name, "cannot read");
  return text;
}

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
Listing read_listing(const std::string& name, const Bases& bases, neuroncore::Engine engine) {
  const std::string file = whole_file(name);
  if (is_binary(file)) return from_binary(name, file);
  if (file.find('\0') != std::string::npos) return bare_records(name, file, engine);
  return assemble(name, file, bases);
}

neuroncore::Engine parse_engine(const std::string& option, const std::string& text) {
  for (unsigned e = 0; e < neuroncore::engines; ++e)
    if (text == neuroncore::name(static_cast<neuroncore::Engine>(e))) return static_cast<neuroncore::Engine>(e);
  throw UserError(option, "expected pe, scalar, gpsimd, vector or sync, found '" + text + "'");
}

}  // namespace tilevp::neuron::assembler
