#pragma once
// A file that appears under its name only when it is whole.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tilevp/base/errors.hpp"

namespace tilevp {

// Writes "<name>.tmp-<pid>" beside the file and renames it on commit(); without a commit nothing is left. What is no
// regular file (/dev/null, a pipe) and the streams /dev/stdout and /dev/stderr are written directly; a symbolic link
// keeps its place and its target is replaced. Every failure is a UserError with the file's name and the system's
// reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& name) : name_(name), target_(name) {
    if (name == "/dev/stdout" || name == "/dev/stderr") {
      direct_ = true;
      // Opening it would begin a redirected file again.
      descriptor_ = dup(name == "/dev/stdout" ? STDOUT_FILENO : STDERR_FILENO);
      if (descriptor_ < 0) fail(errno);
      return;
    }
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (fs::is_symlink(name, ignored)) target_ = fs::weakly_canonical(name, ignored).string();
    const auto status = fs::status(target_, ignored);
    direct_ = fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
    if (fs::is_directory(status)) fail(EISDIR);
    written_ = direct_ ? target_ : target_ + ".tmp-" + std::to_string(getpid());
    descriptor_ = open(written_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(errno);
    keep_mode();
  }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile() { discard(); }

  void write(std::span<const std::byte> bytes) {
    if (descriptor_ < 0) throw Defect(name_ + ": written after its end");
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) fail(errno);
      if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  // Puts the file in its place, over what was there.
  void commit() {
    const int descriptor = std::exchange(descriptor_, -1);
    if (descriptor < 0) throw Defect(name_ + ": committed twice");
    const bool closed = close(descriptor) == 0;
    if (closed && (direct_ || rename(written_.c_str(), target_.c_str()) == 0)) return;
    const int reason = errno;
    if (!direct_) unlink(written_.c_str());
    throw UserError(name_, std::string("cannot write: ") + std::strerror(reason));
  }

  // Removes what was written; the file's old content stays.
  void discard() noexcept {
    if (descriptor_ < 0) return;
    close(std::exchange(descriptor_, -1));
    if (!direct_) unlink(written_.c_str());
  }

  const std::string& name() const { return name_; }

 private:
  // A file that is replaced keeps its permissions.
  void keep_mode() const {
    struct stat old {};
    if (!direct_ && stat(target_.c_str(), &old) == 0) static_cast<void>(fchmod(descriptor_, old.st_mode & 07777));
  }
  [[noreturn]] void fail(int reason) {
    discard();
    throw UserError(name_, std::string("cannot write: ") + std::strerror(reason));
  }

  std::string name_;
  std::string target_;
  std::string written_;
  bool direct_ = false;
  int descriptor_ = -1;
};

}  // namespace tilevp
