#include "tilevp/sc_main/progress.hpp"

#include <algorithm>
#include <iostream>

#include "tilevp/sc_main/times.hpp"

namespace tilevp::command {

void Progress::set(std::string_view what, double share) {
  what_ = what;
  share_ = share;
}

void Progress::show(std::uint64_t now_ps) {
  if (!enabled_) return;
  const int percent = static_cast<int>(100 * std::clamp(share_, 0.0, 1.0));
  std::cerr << "\r\x1b[K" << time_text(now_ps) << "  " << what_ << " " << percent << " %" << std::flush;
  shown_ = true;
}

void Progress::clear() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace tilevp::command
