#pragma once
// The progress line on stderr.
#include <cstdint>
#include <string>
#include <string_view>

namespace tilevp::command {

class Progress {
 public:
  explicit Progress(bool enabled) : enabled_(enabled) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool enabled() const { return enabled_; }
  // From the program: what it does and the share done in [0, 1].
  void set(std::string_view what, double share);
  // Shows the line with the present simulated time.
  void show(std::uint64_t now_ps);
  // Removes the line.
  void clear();

 private:
  bool enabled_;
  bool shown_ = false;
  std::string what_;
  double share_ = 0;
};

}  // namespace tilevp::command
