#pragma once
// Bounds of the numbers of a description. Each throws KeyError with the key's path, what was expected and what was
// found.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tilevp::platform {

// Times are 64 bits of picoseconds, 213 days: these bounds keep an operation within seconds, so that a run of millions
// stays within. One cycle lasts at least 1 ps.
inline constexpr std::uint64_t min_hz = 1'000'000, max_hz = 1'000'000'000'000;
inline constexpr std::uint64_t max_cycles = 1u << 20;
inline constexpr double max_latency_ns = 1e9;

void require_positive(double value, const std::string& path, std::string_view key);
void require_not_negative(double value, const std::string& path, std::string_view key);
// From 0 to max_latency_ns.
void require_latency(double nanoseconds, const std::string& path, std::string_view key);
void require_range(std::uint64_t value, std::uint64_t low, std::uint64_t high, const std::string& path,
                   std::string_view key);

// What `validate` of a model finds (a UserError that names the key) as a key error, to which the file's line can be
// added.
void check_by_model(const std::function<void()>& validate);

}  // namespace tilevp::platform
