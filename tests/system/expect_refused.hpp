#pragma once
// What every user's mistake ends in: exit code 2 and one line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "system/command_runner.hpp"

namespace tilevp::test {

inline void expect_refused(const CommandResult& result, const std::string& text) {
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, testing::StartsWith("tilevp: error: "));
  EXPECT_THAT(result.err, testing::HasSubstr(text));
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
}

}  // namespace tilevp::test
