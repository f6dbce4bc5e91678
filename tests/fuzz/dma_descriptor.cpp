// A DMA descriptor, then the indices it may want: what decodes encodes to a descriptor that decodes to the same, and
// the packets of its rows hold its bytes.
#include <algorithm>
#include <span>

#include "fuzz/target.hpp"
#include "tilevp/dma/packets.hpp"

namespace {

using namespace tilevp;
using namespace tilevp::dma;

constexpr std::size_t most_packets = 1000;

bool same(const Descriptor& a, const Descriptor& b) {
  return a.source == b.source && a.destination == b.destination && a.rows == b.rows &&
         a.source_dtype == b.source_dtype && a.destination_dtype == b.destination_dtype && a.empty == b.empty &&
         a.signals == b.signals && a.interrupts == b.interrupts && a.semaphore == b.semaphore &&
         a.increment == b.increment;
}

void cut(const Copy& copy) {
  PacketCutter cutter(copy, Parameters{});
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < most_packets && !cutter.done(); ++i) bytes += cutter.next().bytes;
  fuzz::require(!cutter.done() || bytes == copy.destination.bytes(), "packets hold all bytes");
  fuzz::require(bytes <= copy.destination.bytes(), "packets hold no more bytes");
}

void move(const Descriptor& descriptor, std::span<const std::byte> rest) {
  if (descriptor.empty) return;
  if (descriptor.rows.side == Indirect::none) return cut({descriptor.source, descriptor.destination});
  if (rest.size() < descriptor.rows.count * sizeof(std::int32_t)) return;
  const auto rows = chosen_rows(descriptor, rest, "here");
  fuzz::require(rows.size() <= descriptor.rows.count, "no more rows than indices");
  for (const Copy& row : rows) cut(row);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < descriptor_bytes) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const Descriptor descriptor = decode(bytes.first<descriptor_bytes>(), "here");
    // Elements that are no machine words take a loop more than the encoder has.
    fuzz::accepted(
        [&] { fuzz::require(same(decode(encode(descriptor), "again"), descriptor), "it decodes to itself"); });
    move(descriptor, bytes.subspan(descriptor_bytes));
  } catch (const Fault& fault) {
    fuzz::require_words(fault);
  }
  return 0;
}
