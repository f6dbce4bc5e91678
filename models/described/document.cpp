#include "tilevp/described/document.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tilevp/base/read_all.hpp"

namespace tilevp::described {

namespace {

// Far beyond any description or report; a device that never ends must not fill the memory.
constexpr std::size_t max_bytes = std::size_t{64} << 20;

std::string read_text(const std::string& file) {
  if (std::filesystem::is_directory(file)) throw UserError(file, "is a directory, expected a JSON file");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw UserError(file, std::string("cannot read: ") + std::strerror(errno));
  auto text = read_all(stream, max_bytes);
  if (!text) throw UserError(file, "longer than " + std::to_string(max_bytes) + " bytes, expected a JSON file");
  if (stream.bad()) throw UserError(file, std::string("cannot read: ") + std::strerror(errno));
  return *std::move(text);
}

}  // namespace

Document Document::from_file(const std::string& file) { return from_text(file, read_text(file)); }

Document Document::from_text(const std::string& name, std::string_view text) {
  return {name, std::string(text), parse(name, text, Comments::allowed)};
}

std::string Document::place(const std::string& path, bool overridden) const {
  if (overridden) {
    const auto culprit = std::find_if(overrides_.rbegin(), overrides_.rend(),
                                      [&](const Override& o) { return path_within(path, o.root); });
    if (culprit != overrides_.rend()) {
      // What lies beside or below the written path is named as well: a new object may lack or exceed something.
      return "-c " + culprit->path + (path == culprit->path || path_within(culprit->path, path) ? "" : ": " + path);
    }
  }
  std::string nearest_line;
  for (std::string known = path; !known.empty();
       known.resize(known.find_last_of(".[") == std::string::npos ? 0 : known.find_last_of(".["))) {
    const auto line = parsed_.lines.find(known);
    if (line == parsed_.lines.end()) continue;
    nearest_line = ':' + std::to_string(line->second);
    break;
  }
  if (name_.empty()) return path;
  return name_ + nearest_line + (path.empty() ? "" : ": " + path);
}

}  // namespace tilevp::described
