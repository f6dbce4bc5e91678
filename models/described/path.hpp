#pragma once
// Key paths: `dram.ports[1].rate_bytes_per_ns`. A key of other characters than letters, digits, `_`, `-`, `/` and `+`
// is written in quotes: `kernels["conv 3x3"].cycles`.
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tilevp/base/errors.hpp"

namespace tilevp::described {

// A value at a key path is not what its place expects. Thrown by the reader, and by the `check` members of described
// structs; a Document adds the file and line, or the override, the value came from.
class KeyError : public UserError {
 public:
  KeyError(const std::string& path, const std::string& problem)
      : UserError(path, problem), path_(path), problem_(problem) {}
  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }

 private:
  std::string path_;
  std::string problem_;
};

std::string path_to_key(const std::string& path, std::string_view key);
std::string path_to_index(const std::string& path, std::size_t index);

// One step of a path: a key of an object, or an index of a list.
using Step = std::variant<std::string, std::size_t>;

// Takes a path apart. UserError(where) for an empty key, an unclosed bracket, a bad index.
std::vector<Step> parse_path(std::string_view path, const std::string& where);

// True where `path` is `root` or lies below it.
bool path_within(std::string_view path, std::string_view root);

}  // namespace tilevp::described
