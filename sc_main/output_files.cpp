#include "tilevp/sc_main/output_files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tilevp/base/errors.hpp"

namespace tilevp::command {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const NamedFile& file, int reason) {
  throw UserError(file.name, std::string("cannot write: ") + std::strerror(reason));
}

// A name that two spellings of one file share; empty for what is no regular file.
std::string identity(const std::string& name) {
  std::error_code ignored;
  const auto status = fs::status(name, ignored);
  if (name.empty() || (fs::exists(status) && !fs::is_regular_file(status))) return "";
  return fs::weakly_canonical(fs::absolute(name, ignored), ignored).string();
}

void check_place(const NamedFile& file) {
  if (file.name.empty()) throw UserError(file.option, "expected a file's name, found nothing");
  std::error_code ignored;
  if (fs::is_directory(file.name, ignored)) cannot_write(file, EISDIR);
  if (fs::exists(file.name, ignored)) return;
  const auto folder = fs::path(file.name).parent_path();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) cannot_write(file, errno);
}

// Two names of one file: two spellings, or two hard links.
bool same_file(const std::string& a, const std::string& b) {
  const auto name = identity(a);
  if (name.empty()) return false;
  std::error_code missing;
  return name == identity(b) || fs::equivalent(a, b, missing);
}

void check_distinct(const NamedFile& file, const NamedFile& other) {
  if (same_file(file.name, other.name))
    throw UserError(file.option, "'" + file.name + "' is the file of " + other.option + " too");
}

}  // namespace

void check_files(const std::vector<NamedFile>& written, const std::vector<NamedFile>& read) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    check_place(written[i]);
    for (std::size_t j = 0; j < i; ++j) check_distinct(written[i], written[j]);
    for (const auto& file : read) check_distinct(written[i], file);
  }
}

void check_reserved(const NamedFile& owner, const std::vector<NamedFile>& others) {
  const std::string prefix = identity(owner.name) + ".";
  for (const auto& file : others)
    if (identity(file.name).starts_with(prefix))
      throw UserError(file.option,
                      "'" + file.name + "': names that begin with '" + owner.name + ".' are kept for " + owner.option);
}

}  // namespace tilevp::command
