#include "tilevp/platform/streamed_output.hpp"

#include <exception>
#include <filesystem>

namespace tilevp::platform {

void StreamedOutputs::flush(std::uint64_t now_ps) {
  for (const auto& output : outputs_) output->flush(now_ps);
}

void StreamedOutputs::close(std::uint64_t end_ps) {
  std::exception_ptr first;
  for (const auto& output : outputs_) {
    try {
      output->close(end_ps);
    } catch (...) {
      if (!first) first = std::current_exception();
      output->discard();
    }
  }
  if (first) std::rethrow_exception(first);
}

void StreamedOutputs::discard() noexcept {
  for (const auto& output : outputs_) output->discard();
}

std::map<std::string, std::string> StreamedOutputs::files() const {
  std::map<std::string, std::string> all;
  for (const auto& output : outputs_) all.merge(output->files());
  return all;
}

void remove_regular_file(const std::string& name) noexcept {
  namespace fs = std::filesystem;
  try {
    const auto target = fs::weakly_canonical(name);
    if (fs::is_regular_file(target)) fs::remove(target);
  } catch (...) {
    // Whoever cannot look at it cannot remove it.
  }
}

}  // namespace tilevp::platform
