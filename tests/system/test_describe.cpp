// `tilevp describe program`: the plan is made for the machine that is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/command_runner.hpp"

namespace tilevp::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string plan_for(const std::vector<std::string>& platform) {
  std::vector<std::string> words{"describe", "program", "conv2d", "--shape", "1,128,56,56", "--filter", "512,3,3"};
  words.insert(words.end(), platform.begin(), platform.end());
  const auto result = tilevp(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

// 3 filter rows x 3 columns x 512 filters x 2 bytes = 9216 bytes a partition; filters stay in SBUF while they take at
// most a third of it. 16 KiB of each partition are reserved.
TEST(DescribeProgram, PlansForTheGivenMachine) {
  EXPECT_THAT(plan_for({}), AllOf(HasSubstr(" of 180224\n"), HasSubstr("(resident)")));
  EXPECT_THAT(plan_for({"--platform", "trn1", "-c", "core.sbuf_partition_bytes=40960"}),
              AllOf(HasSubstr(" of 24576\n"), HasSubstr("(loaded for every strip)")));
  EXPECT_THAT(plan_for({"--platform", "trn3"}), HasSubstr(" of 245752\n"));  // 262144 less 16392 reserved
}

TEST(DescribeProgram, RefusesWhatRunRefuses) {
  const auto result =
      tilevp({"describe", "program", "conv2d", "--shape", "1,1,8,8", "--filter", "1,3,3", "--platform", "trn9"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("unknown platform 'trn9'"));
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace tilevp::test
