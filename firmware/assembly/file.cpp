#include "tilevp/assembly/file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/read_all.hpp"

namespace tilevp::assembly {
namespace {

// More than any program, as text too; a device that never ends stops here.
constexpr std::size_t max_file_bytes = std::size_t{256} << 20;

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

}  // namespace tilevp::assembly
