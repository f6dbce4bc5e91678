// `tilevp describe program`: the plan is made for the machine that is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/command_runner.hpp"

namespace tilevp::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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

// A plan that does not fit says so, and what would: `run` refuses one filter more and takes what is named.
TEST(DescribeProgram, SaysWhatFitsWhereThePlanDoesNot) {
  const auto words = [](const char* command, const std::string& filters) {
    std::vector<std::string> all{command};
    if (all[0] == "describe") all.emplace_back("program");
    all.insert(all.end(), {"conv2d", "--shape", "1,16,8,8", "--filter", filters + ",3,3", "-c",
                           "core.sbuf_partition_bytes=18432"});  // 2048 bytes beside the 16384 that are reserved
    return all;
  };
  const auto plan = tilevp(words("describe", "512"));
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  const std::string before = "bytes a partition are missing; up to ";
  const auto at = plan.out.find(before);
  ASSERT_NE(at, std::string::npos) << plan.out;
  const int fitting = std::stoi(plan.out.substr(at + before.size()));
  EXPECT_GT(fitting, 1);
  const auto run = [&](int filters) { return tilevp(words("run", std::to_string(filters))).exit_code; };
  EXPECT_EQ(run(fitting), 0);
  EXPECT_EQ(run(fitting + 1), 2);
  EXPECT_THAT(tilevp(words("describe", std::to_string(fitting))).out, Not(HasSubstr("does not fit")));
  EXPECT_THAT(tilevp({"describe", "program", "conv2d", "--shape", "1,16,8,8", "--filter", "16,3,3", "-c",
                      "core.sbuf_partition_bytes=16448"})
                  .out,
              HasSubstr("not even one filter fits"));
  EXPECT_THAT(tilevp({"describe", "program", "matmul", "--m", "128", "--k", "128", "--n", "512", "-c",
                      "core.sbuf_partition_bytes=18432"})
                  .out,
              HasSubstr("does not fit: this is the smallest plan there is for bf16"));
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
