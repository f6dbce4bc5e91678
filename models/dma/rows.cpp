#include "tilevp/dma/rows.hpp"

#include <cstring>

#include "tilevp/base/errors.hpp"
#include "tilevp/dma/rules.hpp"

namespace tilevp::dma {
namespace {

using memory::AccessPattern;

AccessPattern row_at(const AccessPattern& first, std::int64_t row, std::int64_t stride, const std::string& place) {
  const std::int64_t distance = row * stride;  // |row| < 2^32, |stride| <= 2^31
  const std::uint64_t start = first.start() + static_cast<std::uint64_t>(distance);
  const bool wraps = distance < 0 ? start > first.start() : start < first.start();
  if (wraps || AccessPattern::problem(start, first.element_bytes(), first.loops()))
    throw Fault(rule::address_error, place + ": row " + std::to_string(row) + " lies outside the 64-bit addresses");
  return first.shifted(distance);
}

}  // namespace

std::vector<Copy> chosen_rows(const Descriptor& descriptor, std::span<const std::byte> index_bytes,
                              const std::string& place) {
  const Rows& rows = descriptor.rows;
  const bool gathers = rows.side == Indirect::gather;
  std::vector<Copy> chosen;
  chosen.reserve(rows.count);
  for (std::uint32_t i = 0; i < rows.count; ++i) {
    std::int32_t index;
    std::memcpy(&index, index_bytes.data() + i * sizeof index, sizeof index);
    if (index < 0 || static_cast<std::uint32_t>(index) >= rows.bound) {
      if (rows.skip) continue;
      throw Fault(rule::out_of_bounds, place + ": index " + std::to_string(i) + " is " + std::to_string(index) +
                                           "; expected at least 0 and below " + std::to_string(rows.bound));
    }
    chosen.push_back(
        {row_at(descriptor.source, gathers ? index : std::int64_t{i}, rows.source_stride, place),
         row_at(descriptor.destination, gathers ? std::int64_t{i} : index, rows.destination_stride, place)});
  }
  return chosen;
}

}  // namespace tilevp::dma
