// How descriptors are cut into packets.
#include "tilevp/dma/packets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tilevp/base/errors.hpp"

namespace tilevp::dma {
namespace {

using memory::AccessPattern;
using ::testing::ElementsAre;

Descriptor copy(const AccessPattern& source, const AccessPattern& destination) {
  Descriptor descriptor;
  descriptor.source = source;
  descriptor.destination = destination;
  return descriptor;
}

Parameters limits(std::uint32_t bytes, std::uint32_t runs) {
  Parameters parameters;
  parameters.packet_bytes = bytes;
  parameters.packet_runs = runs;
  return parameters;
}

std::vector<Packet> cut(const Descriptor& descriptor, const Parameters& parameters) {
  PacketCutter cutter({descriptor.source, descriptor.destination}, parameters);
  std::vector<Packet> packets;
  while (!cutter.done()) packets.push_back(cutter.next());
  return packets;
}

std::vector<std::uint64_t> bytes_of(const std::vector<Packet>& packets) {
  std::vector<std::uint64_t> bytes;
  for (const Packet& packet : packets) bytes.push_back(packet.bytes);
  return bytes;
}

TEST(Packets, ALongRunIsCutAtTheirSize) {
  const auto packets =
      cut(copy(AccessPattern::contiguous(0, 10'000), AccessPattern::contiguous(0x8000, 10'000)), limits(4096, 64));
  EXPECT_THAT(bytes_of(packets), ElementsAre(4096u, 4096u, 1808u));
  EXPECT_EQ(packets[1].slices[0].source, AccessPattern::contiguous(4096, 4096));
  EXPECT_EQ(packets[1].slices[0].destination, AccessPattern::contiguous(0x9000, 4096));
  EXPECT_FALSE(packets[1].last);
  EXPECT_TRUE(packets[2].last);
}

TEST(Packets, EndBetweenRunsWhereTheyCan) {
  // Rows of 448 bytes: nine in 4096.
  const auto packets = cut(copy(AccessPattern(0, 1, {{20, 1000}, {448, 1}}), AccessPattern::contiguous(0x8'0000, 8960)),
                           limits(4096, 64));
  EXPECT_THAT(bytes_of(packets), ElementsAre(9 * 448u, 9 * 448u, 2 * 448u));
  EXPECT_EQ(packets[0].runs, 9u);
}

TEST(Packets, HoldALimitedNumberOfRuns) {
  // A transposing copy: the target's runs are single elements of two bytes.
  const auto packets =
      cut(copy(AccessPattern(0, 2, {{300, 2}}), AccessPattern(0x8'0000, 2, {{30, 2}, {10, 64}})), limits(4096, 64));
  EXPECT_EQ(packets.front().bytes, 128u);
  EXPECT_EQ(packets.front().runs, 64u);
  EXPECT_EQ(packets.size(), 5u);
}

TEST(Packets, CutBothSidesAtTheSameElements) {
  std::mt19937_64 random(3);
  for (unsigned round = 0; round < 500; ++round) {
    SCOPED_TRACE(round);
    const std::uint64_t a = 1 + random() % 12, b = 1 + random() % 12, c = 1 + random() % 12;
    const AccessPattern source(1000, 2, {{a, 4096}, {b, 128}, {c, 2}});
    const AccessPattern destination(5000, 2, {{c, 2}, {a, 512}, {b, 32}});
    const Parameters parameters =
        limits(static_cast<std::uint32_t>(2 + random() % 200), static_cast<std::uint32_t>(1 + random() % 20));
    std::vector<std::uint64_t> read, write, whole_read, whole_write;
    const auto collect = [](std::vector<std::uint64_t>& into) {
      return [&into](std::uint64_t address, std::uint64_t bytes) {
        for (std::uint64_t i = 0; i < bytes; ++i) into.push_back(address + i);
      };
    };
    for (const Packet& packet : cut(copy(source, destination), parameters)) {
      EXPECT_LE(packet.bytes, std::max(2u, parameters.packet_bytes));
      EXPECT_GT(packet.count, 0u);
      for (const Slice& slice : packet.span()) {
        EXPECT_EQ(slice.source.bytes(), slice.destination.bytes());
        slice.source.for_each_run(collect(read));
        slice.destination.for_each_run(collect(write));
      }
    }
    source.for_each_run(collect(whole_read));
    destination.for_each_run(collect(whole_write));
    EXPECT_EQ(read, whole_read);
    EXPECT_EQ(write, whole_write);
  }
}

TEST(Packets, TakeTheirFloorsOrTheirRate) {
  Parameters parameters;
  parameters.bytes_per_ns = 16;
  parameters.run_floor_ns = 100;
  parameters.packet_floor_ns = 250;
  const EngineTime time(parameters, "dma");
  const auto ps = [&](std::uint64_t rows, std::uint64_t row) {
    const AccessPattern strided(0, 1, {{rows, 10'000}, {row, 1}});
    return static_cast<std::uint64_t>(time.ps_q32(cut(copy(strided, strided), limits(1 << 20, 64)).front()) >> 32);
  };
  EXPECT_EQ(ps(1, 16), 250'000u);      // the packet's floor
  EXPECT_EQ(ps(5, 16), 500'000u);      // five runs' floors
  EXPECT_EQ(ps(5, 3200), 1'000'000u);  // their bytes
}

}  // namespace
}  // namespace tilevp::dma
