// What the report says of SBUF and PSUM: bytes by partition and bank, and who held them.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "system/command_runner.hpp"
#include "tilevp/described/parse.hpp"

namespace tilevp::test {
namespace {

boost::json::value report_of(std::vector<std::string> words) {
  const Folder folder;
  words.insert(words.begin(), "run");
  words.insert(words.end(), {"-q", "--report", folder / "r.json"});
  const auto result = test_tilevp(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return described::parse("r.json", read_file(folder / "r.json")).tree;
}

const boost::json::value& memory(const boost::json::value& report, std::string_view path) {
  for (const auto& entry : report.at("performance").at("memories").as_array())
    if (entry.at("path").as_string() == path) return entry;
  throw std::runtime_error("no memory " + std::string(path));
}

std::uint64_t number(const boost::json::value& value) { return value.to_number<std::uint64_t>(); }

// docs/examples/matmul.s: in partitions 0 and 1 two weights at 0, three pixels at 64 and three results at 128, four
// bytes each; the same three results in bank 0.
TEST(Occupancy, OfTheExampleByHand) {
  const auto report = report_of({"neuron/raw", std::string(TILEVP_SOURCE_DIR) + "/docs/examples/matmul.s"});
  const auto& sbuf = memory(report, "core0.sbuf");
  const auto& psum = memory(report, "core0.psum");
  EXPECT_EQ(sbuf.at("peak_bytes"), 2 * 4 * (2 + 3 + 3));
  EXPECT_EQ(psum.at("peak_bytes"), 2 * 4 * 3);
  ASSERT_EQ(sbuf.at("by_partition").as_array().size(), 128u);
  for (unsigned p = 0; p < 128; ++p) {
    EXPECT_EQ(sbuf.at("by_partition").at(p), p < 2 ? 32 : 0);
    EXPECT_EQ(psum.at("by_partition").at(p), p < 2 ? 12 : 0);
  }
  ASSERT_EQ(psum.at("by_bank").as_array().size(), 8u);
  for (unsigned b = 0; b < 8; ++b) EXPECT_EQ(psum.at("by_bank").at(b), b == 0 ? 24 : 0);
  EXPECT_TRUE(sbuf.at("by_bank").as_array().empty());
}

// Two buffers that are in use at one time have no byte in common, and what was written lies in what was held. The
// layout makes the kernel a transpose and a convolution, which use SBUF one after the other.
TEST(Occupancy, BuffersOfAConvolution) {
  const auto report = report_of({"conv2d", "--shape", "2,140,8,8", "--filter", "20,3,3", "--padding", "1,1,1,1",
                                 "--image-layout", "nhwc", "--random", "integers"});
  const auto& buffers = report.at("result").at("buffers").as_array();
  ASSERT_GT(buffers.size(), 4u);
  std::array<std::uint64_t, 128> held{};
  for (const auto& one : buffers) {
    for (std::uint64_t p = number(one.at("partitions").at(0)); p <= number(one.at("partitions").at(1)); ++p)
      held.at(p) += one.at("memory") == "SBUF" ? number(one.at("bytes")) : 0;
    EXPECT_LE(number(one.at("first_byte")) + number(one.at("bytes")), one.at("memory") == "SBUF" ? 180'224 : 16'384);
    for (const auto& other : buffers) {
      if (&one == &other || one.at("memory") != other.at("memory")) continue;
      const bool calls_meet = number(one.at("calls").at(0)) <= number(other.at("calls").at(1)) &&
                              number(other.at("calls").at(0)) <= number(one.at("calls").at(1));
      const bool bytes_meet =
          number(one.at("first_byte")) < number(other.at("first_byte")) + number(other.at("bytes")) &&
          number(other.at("first_byte")) < number(one.at("first_byte")) + number(one.at("bytes"));
      EXPECT_FALSE(calls_meet && bytes_meet && one.at("memory") == "SBUF") << one << " " << other;
    }
  }
  const auto& written = memory(report, "core0.sbuf").at("by_partition").as_array();
  for (unsigned p = 0; p < 128; ++p) EXPECT_LE(number(written[p]), held[p]) << p;
  EXPECT_GT(number(written[0]), 0u);
}

}  // namespace
}  // namespace tilevp::test
