#include "tilevp/neuron/allocator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilevp/base/errors.hpp"

namespace tilevp::neuron {
namespace {

std::string error_of(Allocator& allocator, const std::string& name, std::uint64_t size) {
  try {
    allocator.allocate(name, size);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Allocator, SaysWhoHoldsWhat) {
  Allocator sbuf("SBUF", "bytes a partition", 180'224);
  sbuf.allocate("filter0", 36'864);
  sbuf.allocate("image0", 131'360);
  EXPECT_EQ(error_of(sbuf, "image1", 70'000),
            "SBUF: 'image1' needs 70000 bytes a partition, 12000 of 180224 free (largest gap 12000); held: filter0 "
            "36864 at 0, image0 131360 at 36864, free 12000 at 168224");
}

TEST(Allocator, ReusesTheLowestGapThatFits) {
  Allocator memory("M", "bytes", 1000, 5000);
  EXPECT_EQ(memory.allocate("a", 100), 5000u);
  EXPECT_EQ(memory.allocate("b", 200), 5100u);
  EXPECT_EQ(memory.allocate("c", 300), 5300u);
  memory.release("b");
  EXPECT_EQ(memory.allocate("d", 250), 5600u);
  EXPECT_EQ(memory.allocate("e", 150), 5100u);
  EXPECT_EQ(memory.free(), 1000u - 100 - 300 - 250 - 150);
}

TEST(Allocator, FillsToTheLastByte) {
  Allocator memory("M", "bytes", 100, 0, 64);
  EXPECT_EQ(memory.allocate("a", 1), 0u);
  EXPECT_EQ(memory.allocate("b", 36), 64u);
  EXPECT_EQ(memory.free(), 0u);
  EXPECT_THAT(error_of(memory, "c", 1), testing::HasSubstr("'c' needs 1 bytes, 0 of 100 free"));
}

TEST(Allocator, FreeInPiecesIsNotEnough) {
  Allocator memory("M", "bytes", 300);
  for (const char* name : {"a", "b", "c"}) memory.allocate(name, 100);
  memory.release("a");
  memory.release("c");
  EXPECT_EQ(
      error_of(memory, "d", 150),
      "M: 'd' needs 150 bytes, 200 of 300 free (largest gap 100); held: free 100 at 0, b 100 at 100, free 100 at 200");
}

TEST(Allocator, RefusesWhatMakesNoSense) {
  Allocator memory("M", "bytes", 300);
  memory.allocate("a", 1);
  EXPECT_EQ(error_of(memory, "a", 1), "M: 'a' is allocated already");
  EXPECT_EQ(error_of(memory, "b", 0), "M: 'b' has size 0");
  EXPECT_THROW(memory.release("b"), UserError);
  EXPECT_THAT(error_of(memory, "c", UINT64_MAX), testing::HasSubstr("299 of 300 free"));
}

}  // namespace
}  // namespace tilevp::neuron
