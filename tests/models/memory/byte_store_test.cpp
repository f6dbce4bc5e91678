#include "tilevp/memory/byte_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <utility>

#include "tilevp/base/errors.hpp"

namespace tilevp::memory {
namespace {

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(SparseStore, ThirtyTwoGibibytesCostOnlyWhatIsTouched) {
  constexpr std::uint64_t bytes = 32ull << 30;
  const long before = peak_kib();
  SparseStore store(bytes, "hbm");
  EXPECT_EQ(store.size(), bytes);
  for (const std::uint64_t at : {std::uint64_t{0}, bytes / 2 + 1, bytes - 1}) {
    EXPECT_EQ(store.data()[at], std::byte{0});
    store.data()[at] = std::byte{0x5a};
    EXPECT_EQ(store.data()[at], std::byte{0x5a});
  }
  EXPECT_LT(peak_kib() - before, 16 * 1024);  // a huge page each at most, and some for the process
}

TEST(SparseStore, ClearForgets) {
  SparseStore store(1 << 20, "sbuf");
  store.data()[12345] = std::byte{7};
  store.clear();
  EXPECT_EQ(store.data()[12345], std::byte{0});
}

TEST(SparseStore, MovesOwnership) {
  SparseStore first(4096, "a");
  first.data()[1] = std::byte{1};
  std::byte* const data = first.data();
  SparseStore second(std::move(first));
  EXPECT_EQ(second.data(), data);
  SparseStore third;
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.size(), 4096u);
  EXPECT_EQ(third.data()[1], std::byte{1});
}

TEST(SparseStore, TooLargeIsTheUsersMistake) {
  try {
    SparseStore store(1ull << 60, "dram.size_bytes");
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("dram.size_bytes: the host gives no address range of "
                                                  "1152921504606846976 bytes"));
  }
}

TEST(SparseStore, EmptyIsTheUsersMistake) {
  try {
    SparseStore store(0, "dram.size_bytes");
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "dram.size_bytes: expected a size of at least 1 byte, found 0");
  }
}

}  // namespace
}  // namespace tilevp::memory
