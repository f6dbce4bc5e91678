#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/read_all.hpp"
#include "tilevp/neuron/assembler/listing.hpp"

namespace tilevp::neuron::assembler {
namespace {

// Four million records, twice that as text: more than any stream; a device that never ends stops here.
constexpr std::size_t max_file_bytes = std::size_t{256} << 20;

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

std::string read_file(const std::string& name) {
  std::error_code error;
  errno = std::filesystem::is_directory(name, error) ? EISDIR : 0;
  std::ifstream in;
  if (errno == 0) in.open(name, std::ios::binary);
  if (!in.is_open()) throw UserError(name, std::string("cannot read: ") + std::strerror(errno));
  auto bytes = read_all(in, max_file_bytes);
  if (!bytes) throw UserError(name, "cannot read: longer than " + std::to_string(max_file_bytes) + " bytes");
  return *std::move(bytes);
}

// A text has no zero byte, a record has some (the reserved ones).
Listing listing_of(const std::string& name, std::string_view file, const Bases& bases, neuroncore::Engine engine) {
  if (is_binary(file)) return from_binary(name, file);
  if (file.find('\0') != std::string_view::npos) return bare_records(name, file, engine);
  return assemble(name, file, bases);
}

neuroncore::Engine parse_engine(const std::string& option, const std::string& text) {
  for (unsigned e = 0; e < neuroncore::engines; ++e)
    if (text == neuroncore::name(static_cast<neuroncore::Engine>(e))) return static_cast<neuroncore::Engine>(e);
  throw UserError(option, "expected pe, scalar, gpsimd, vector or sync, found '" + text + "'");
}

}  // namespace tilevp::neuron::assembler
