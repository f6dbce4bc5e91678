#include "tilevp/platform/key_checks.hpp"

#include "tilevp/described/path.hpp"
#include "tilevp/described/text.hpp"

namespace tilevp::platform {

using described::KeyError;
using described::path_to_key;

void require_positive(double value, const std::string& path, std::string_view key) {
  if (!(value > 0))
    throw KeyError(path_to_key(path, key), "expected a positive number, found " + described::number_text(value));
}

void require_not_negative(double value, const std::string& path, std::string_view key) {
  if (!(value >= 0))
    throw KeyError(path_to_key(path, key), "expected a number from 0, found " + described::number_text(value));
}

void require_latency(double nanoseconds, const std::string& path, std::string_view key) {
  require_not_negative(nanoseconds, path, key);
  if (nanoseconds > max_latency_ns)
    throw KeyError(path_to_key(path, key), "expected at most " + described::number_text(max_latency_ns) + ", found " +
                                               described::number_text(nanoseconds));
}

void require_range(std::uint64_t value, std::uint64_t low, std::uint64_t high, const std::string& path,
                   std::string_view key) {
  if (value < low || value > high)
    throw KeyError(path_to_key(path, key), "expected " + std::to_string(low) + " to " + std::to_string(high) +
                                               ", found " + std::to_string(value));
}

void check_by_model(const std::function<void()>& validate) {
  try {
    validate();
  } catch (const UserError& error) {
    const std::string text = error.what();
    const auto colon = text.find(": ");
    throw KeyError(text.substr(0, colon), text.substr(colon + 2));
  }
}

}  // namespace tilevp::platform
