#pragma once
// Moves the bytes of access patterns. An address of a pattern is an offset from the base pointer given with it; for a
// base that stands for another address, shift the pattern. Source and destination must not overlap.
#include <cstddef>

#include "tilevp/memory/access_pattern.hpp"

namespace tilevp::memory {

// The bytes of `from` in stream order to the bytes of `to` in stream order: a transposing, gathering or scattering
// move. The element sizes may differ. Throws Defect where the patterns have different byte counts.
void copy(const AccessPattern& from, const std::byte* source, const AccessPattern& to, std::byte* destination);

// The bytes of `from` in stream order into from.bytes() contiguous bytes.
void gather(const AccessPattern& from, const std::byte* source, std::byte* out);

// to.bytes() contiguous bytes to the bytes of `to` in stream order.
void scatter(const std::byte* in, const AccessPattern& to, std::byte* destination);

}  // namespace tilevp::memory
