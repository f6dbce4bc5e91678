#pragma once
// A text file that grows under its final name, so that what was flushed can be read whatever happens; plain or gzip.
#include <string>
#include <string_view>

struct gzFile_s;

namespace tilevp::platform {

class OutputStream {
 public:
  enum class Format { plain, gzip };

  // UserError where the file cannot be written, here and below. After the first of them `close` says it again.
  OutputStream(std::string file, Format format);
  // Closes; what cannot be written is lost.
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  void write(std::string_view text);
  // What was written so far can be read now. Of a compressed file that is whole blocks, which come as they fill: when
  // they end must not depend on who asks.
  void flush();
  void close();
  const std::string& file() const { return file_; }

 private:
  [[noreturn]] void fail();

  std::string file_;
  Format format_;
  gzFile_s* stream_ = nullptr;
  int failed_ = 0;  // the system's reason
};

}  // namespace tilevp::platform
