#include "tilevp/platform/records/output_stream.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tilevp/base/errors.hpp"

namespace tilevp::platform {
namespace {

constexpr unsigned buffer_bytes = 256U << 10;
// zlib's largest write is an int.
constexpr std::size_t most_bytes = std::size_t{1} << 30;

[[noreturn]] void cannot_write(const std::string& file, int reason) {
  throw UserError(file, std::string("cannot write: ") + std::strerror(reason));
}

}  // namespace

OutputStream::OutputStream(std::string file, Format format) : file_(std::move(file)), format_(format) {
  const int descriptor = open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) cannot_write(file_, errno);
  stream_ = gzdopen(descriptor, format == Format::gzip ? "wb6" : "wbT");  // T: as it is
  if (stream_ == nullptr) {
    ::close(descriptor);
    throw std::bad_alloc();
  }
  gzbuffer(stream_, buffer_bytes);
}

OutputStream::~OutputStream() {
  if (stream_ != nullptr) gzclose_w(stream_);
}

void OutputStream::fail() {
  failed_ = errno;
  gzclose_w(std::exchange(stream_, nullptr));
  cannot_write(file_, failed_);
}

void OutputStream::write(std::string_view text) {
  if (stream_ == nullptr) return;  // after a failure that was reported
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, most_bytes);
    errno = 0;
    if (gzwrite(stream_, piece.data(), static_cast<unsigned>(piece.size())) == 0) fail();
    text.remove_prefix(piece.size());
  }
}

void OutputStream::flush() {
  if (stream_ == nullptr || format_ == Format::gzip) return;
  errno = 0;
  if (gzflush(stream_, Z_SYNC_FLUSH) != Z_OK) fail();
}

void OutputStream::close() {
  if (failed_ != 0) cannot_write(file_, failed_);
  if (stream_ == nullptr) return;
  errno = 0;
  if (gzclose_w(std::exchange(stream_, nullptr)) != Z_OK) cannot_write(file_, errno);
}

}  // namespace tilevp::platform
