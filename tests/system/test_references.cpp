// The generated pages of the documentation are what the command prints now.
#include <gtest/gtest.h>

#include "system/command_runner.hpp"

namespace tilevp::test {
namespace {

struct Page {
  const char* file;
  std::vector<std::string> words;
};

TEST(References, AreCurrent) {
  const std::vector<Page> pages{{"registers.md", {"describe", "registers"}},
                                {"description.md", {"describe", "options"}},
                                {"rules.md", {"describe", "rules"}},
                                {"statistics.md", {"describe", "statistics"}},
                                {"cube-registers.md", {"describe", "registers", "--platform", "pto-cube"}},
                                {"cube-statistics.md", {"describe", "statistics", "--platform", "pto-cube"}}};
  for (const auto& page : pages) {
    const auto result = tilevp(page.words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, read_file(std::string(TILEVP_SOURCE_DIR) + "/docs/reference/" + page.file))
        << "run scripts/references to make docs/reference/" << page.file << " again";
  }
}

}  // namespace
}  // namespace tilevp::test
