// The descriptor's bytes: the layout by hand, round trips, and each rule broken once.
#include "tilevp/dma/descriptor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tilevp/base/errors.hpp"

namespace tilevp::dma {
namespace {

using memory::AccessPattern;
using memory::Loop;
using ::testing::HasSubstr;
using Bytes = std::array<std::byte, descriptor_bytes>;

Descriptor example() {
  Descriptor descriptor;
  descriptor.source = AccessPattern(0x1122334455667788, 2, {{3, 0x1000}, {5, -4}});
  descriptor.destination = AccessPattern(0x0a0b, 2, {{15, 2}});
  descriptor.source_dtype = numeric::DType::bf16;
  descriptor.destination_dtype = numeric::DType::bf16;
  descriptor.signals = true;
  descriptor.semaphore = 200;
  descriptor.increment = 0x01020304;
  return descriptor;
}

TEST(Descriptor, LiesInMemoryAsDocumented) {
  Bytes expected{};
  const auto put = [&](std::size_t at, std::initializer_list<int> bytes) {
    for (const int byte : bytes) expected[at++] = static_cast<std::byte>(byte);
  };
  put(0, {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11});
  put(8, {0x0b, 0x0a});
  put(16, {1, 1, 2, 1});    // bf16, bf16, two loops, one loop
  put(20, {2, 0, 2, 200});  // element bytes, signal, semaphore
  put(24, {4, 3, 2, 1});    // increment
  put(32, {3, 0, 0, 0, 0, 0x10, 0, 0, 5, 0, 0, 0, 0xfc, 0xff, 0xff, 0xff});
  put(72, {15, 0, 0, 0, 2, 0, 0, 0});
  EXPECT_EQ(encode(example()), expected);
}

TEST(Descriptor, WithRowsLiesInMemoryAsDocumented) {
  Descriptor descriptor;
  descriptor.source = AccessPattern::contiguous(0x100, 8);
  descriptor.destination = AccessPattern::contiguous(0x200, 8);
  descriptor.rows = {.side = Indirect::scatter,
                     .count = 3,
                     .source_stride = 16,
                     .destination_stride = -2,
                     .indices = 0x0807060504030201,
                     .bound = 0x0c0b0a09,
                     .skip = true};
  const Bytes bytes = encode(descriptor);
  const auto at = [&](std::size_t i) { return std::to_integer<int>(bytes[i]); };
  EXPECT_EQ(at(22), 32 + 64);  // scatter, skip
  EXPECT_EQ(at(18), 2);
  EXPECT_EQ(at(19), 2);
  EXPECT_EQ(at(32), 3);    // rows
  EXPECT_EQ(at(36), 16);   // from row to row
  EXPECT_EQ(at(40), 8);    // bytes of a row
  EXPECT_EQ(at(76), 254);  // -2
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(at(112 + i), static_cast<int>(i + 1));
}

void expect_equal(const Descriptor& a, const Descriptor& b) {
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.destination, b.destination);
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.source_dtype, b.source_dtype);
  EXPECT_EQ(a.destination_dtype, b.destination_dtype);
  EXPECT_EQ(a.transposes, b.transposes);
  EXPECT_EQ(a.empty, b.empty);
  EXPECT_EQ(a.signals, b.signals);
  EXPECT_EQ(a.interrupts, b.interrupts);
  EXPECT_EQ(a.semaphore, b.semaphore);
  EXPECT_EQ(a.increment, b.increment);
}

TEST(Descriptor, ComesBackFromItsBytes) {
  std::mt19937_64 random(20);
  for (unsigned i = 0; i < 2000; ++i) {
    SCOPED_TRACE(i);
    Descriptor descriptor;
    std::uint32_t source_element = 1u << random() % 4;
    std::uint32_t target_element = source_element;
    if (random() % 3 == 0) {
      descriptor.source_dtype = numeric::DType::fp32;
      descriptor.destination_dtype = numeric::DType::bf16;
      source_element = 4;
      target_element = 2;
    }
    std::vector<Loop> source, target;
    if (random() % 3 == 0)
      descriptor.rows = {.side = random() % 2 == 0 ? Indirect::gather : Indirect::scatter,
                         .count = static_cast<std::uint32_t>(1 + random() % max_rows),
                         .source_stride = static_cast<std::int32_t>(random()),
                         .destination_stride = static_cast<std::int32_t>(random()),
                         .indices = random(),
                         .bound = static_cast<std::uint32_t>(random()),
                         .skip = random() % 2 == 0};
    const std::size_t loops = random() % (descriptor.rows.side == Indirect::none ? 6 : 5);
    for (std::size_t loop = 0; loop < loops; ++loop) {
      const std::uint64_t size = 2 + random() % 9;
      source.push_back({size, static_cast<std::int64_t>(random() % 0x10000) - 0x4000});
      target.push_back({size, static_cast<std::int64_t>(random() % 0x10000) - 0x4000});
    }
    descriptor.source = AccessPattern((random() >> 1) | 0x1'0000'0000, source_element, source);
    descriptor.destination = AccessPattern((random() >> 1) | 0x1'0000'0000, target_element, target);
    descriptor.signals = random() % 2 == 0;
    descriptor.interrupts = random() % 2 == 0;
    descriptor.transposes = descriptor.rows.side == Indirect::none &&
                            descriptor.source_dtype == descriptor.destination_dtype && random() % 2 == 0;
    descriptor.semaphore = static_cast<std::uint8_t>(random() % program_semaphores);
    descriptor.increment = static_cast<std::uint32_t>(random()) & max_increment;
    expect_equal(decode(encode(descriptor), "here"), descriptor);
  }
  Descriptor empty;
  empty.empty = empty.signals = true;
  empty.semaphore = 3;
  expect_equal(decode(encode(empty), "here"), empty);
}

TEST(Descriptor, SidesWithDifferentElementsMeetAtTheCommonOne) {
  Descriptor descriptor;
  descriptor.source = AccessPattern::contiguous(0x1000, 64);
  descriptor.destination = AccessPattern(0x2000, 4, {{16, 32}});
  const Descriptor back = decode(encode(descriptor), "here");
  EXPECT_EQ(back.source, descriptor.source);
  EXPECT_EQ(back.destination, AccessPattern(0x2000, 1, {{16, 32}, {4, 1}}));
}

TEST(Descriptor, AnElementThatIsNoWordIsARun) {
  Bytes bytes = encode(example());
  bytes[20] = std::byte{6};  // six bytes an element: three words of two
  const Descriptor back = decode(bytes, "here");
  EXPECT_EQ(back.source, AccessPattern(0x1122334455667788, 2, {{3, 0x1000}, {5, -4}, {3, 2}}));
  EXPECT_EQ(back.destination, AccessPattern(0x0a0b, 2, {{15, 2}, {3, 2}}));
}

std::string refusal(Descriptor descriptor) {
  try {
    encode(descriptor);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Descriptor, EncodeRefusesWhatNoFieldHolds) {
  Descriptor descriptor = example();
  descriptor.source = AccessPattern(0, 1, {{0x1'0000'0000, 1}});
  descriptor.destination = AccessPattern(0, 1, {{0x1'0000'0000, 1}});
  EXPECT_EQ(refusal(descriptor),
            "DMA descriptor: source loop 0 has size 4294967296, the field holds at most 4294967295");
  descriptor = example();
  descriptor.destination = AccessPattern(0, 2, {{15, 0x8000'0000}});
  EXPECT_THAT(refusal(descriptor), HasSubstr("destination loop 0 has a stride of 2147483648 bytes"));
  descriptor = example();
  descriptor.destination = AccessPattern(0, 2, {{14, 2}});
  EXPECT_THAT(refusal(descriptor), HasSubstr("the source has 15 elements, the destination 14"));
  descriptor = example();
  descriptor.destination_dtype = numeric::DType::fp32;
  EXPECT_THAT(refusal(descriptor), HasSubstr("converts bf16 to fp32, but its elements have 2 and 2 bytes"));
  descriptor = example();
  descriptor.empty = true;
  descriptor.destination_dtype = numeric::DType::fp32;
  EXPECT_THAT(refusal(descriptor), HasSubstr("an empty one converts"));
  descriptor = example();
  descriptor.rows.side = Indirect::gather;
  EXPECT_THAT(refusal(descriptor), HasSubstr("0 rows; expected 1 to 65536"));
  descriptor.rows.count = 2;
  descriptor.source = AccessPattern(0, 2, {{3, 9000}, {5, 1000}, {2, 300}, {2, 100}, {2, 10}});
  descriptor.destination = AccessPattern(0, 2, {{120, 2}});
  EXPECT_THAT(refusal(descriptor), HasSubstr("source has 6 loops, there is room for 5"));
  descriptor = example();
  descriptor.transposes = true;
  EXPECT_EQ(std::to_integer<int>(encode(descriptor)[22]), flag_signal | flag_transpose);
  descriptor.empty = true;
  EXPECT_EQ(refusal(descriptor), "DMA descriptor: one that transposes is empty");
  // Five loops of eight-byte elements have no form with single bytes.
  descriptor = Descriptor{};
  descriptor.source = AccessPattern::contiguous(0, 8 * 32);
  descriptor.destination = AccessPattern(0, 8, {{2, 9000}, {2, 4000}, {2, 1000}, {2, 300}, {2, 100}});
  EXPECT_THAT(refusal(descriptor), HasSubstr("destination: expected at most 5 loops"));
}

struct Broken {
  const char* name;
  std::size_t at;
  int value;
  const char* message;
};

class BrokenDescriptor : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenDescriptor, IsAFaultThatNamesThePlaceAndTheRule) {
  Bytes bytes = encode(example());
  bytes[GetParam().at] = static_cast<std::byte>(GetParam().value);
  try {
    decode(bytes, "dma3 queue 2 descriptor 17");
    FAIL() << "expected a fault";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), "dma.descriptor");
    EXPECT_THAT(fault.what(), HasSubstr("dma3 queue 2 descriptor 17: "));
    EXPECT_THAT(fault.what(), HasSubstr(GetParam().message));
  }
}
INSTANTIATE_TEST_SUITE_P(
    Rules, BrokenDescriptor,
    ::testing::Values(Broken{"reserved", 29, 1, "byte 29 is reserved"},
                      Broken{"tail", 127, 7, "byte 127 is reserved: expected 0, found 7"},
                      Broken{"unused_loop", 48, 1, "byte 48 is reserved"},
                      Broken{"source_dtype", 16, 7, "source has the unknown data type 7"},
                      Broken{"destination_dtype", 17, 200, "destination has the unknown data type 200"},
                      Broken{"dtypes_differ", 17, 0, "data types differ without the convert flag"},
                      Broken{"same_dtypes_convert", 22, 8, "converts between equal data types"},
                      Broken{"element", 20, 0, "an element of 0 bytes"},
                      Broken{"loops", 18, 6, "source has 6 loops; expected at most 5"},
                      Broken{"size", 32, 0, "source: loop 0 [0, 4096]: expected a size of at least 1"},
                      Broken{"counts", 72, 14, "the source has 15 elements, the destination 14"},
                      Broken{"below_zero", 79, 0x80,
                             "destination: the pattern from address 2571 reaches below address 0"},
                      Broken{"empty_with_pattern", 22, 1, "is reserved"},
                      Broken{"index_address", 112, 1, "byte 112 is reserved"},
                      Broken{"skip_alone", 22, 0x42, "skips rows out of bounds without gather or scatter"},
                      Broken{"gather_and_scatter", 22, 0x32, "gathers and scatters; expected one of them"},
                      Broken{"empty_transpose", 22, 0x81, "transposes and is empty"},
                      Broken{"empty_gather", 22, 0x11, "is empty, but gathers or scatters"},
                      Broken{"unequal_rows", 22, 0x12, "the source has 3 rows, the destination 15"}),
    [](const auto& rule) { return rule.param.name; });

TEST(Descriptor, AConversionsElementIsThatOfItsType) {
  Descriptor descriptor;
  descriptor.source = AccessPattern(0, 4, {{4, 4}});
  descriptor.destination = AccessPattern(0, 2, {{4, 2}});
  descriptor.source_dtype = numeric::DType::fp32;
  descriptor.destination_dtype = numeric::DType::bf16;
  Bytes bytes = encode(descriptor);
  bytes[20] = std::byte{2};
  EXPECT_THROW(decode(bytes, "here"), Fault);
}

}  // namespace
}  // namespace tilevp::dma
