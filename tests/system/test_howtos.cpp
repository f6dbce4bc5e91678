// The how-tos, as a reader types them: the `sh` blocks of a page run one after the other at the root of a checkout, and
// what a block prints is compared with the `output` block behind it, where `...` stands for any text.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <sstream>

#include "system/command_runner.hpp"

namespace tilevp::test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

struct Step {
  std::string commands;
  Lines output;  // empty: not compared
};

std::vector<std::string> pages() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(std::string(TILEVP_SOURCE_DIR) + "/docs/howto"))
    names.push_back(entry.path().stem());
  std::ranges::sort(names);
  return names;
}

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Step> steps_of(const std::string& page) {
  std::vector<Step> steps;
  std::string fence;
  for (const auto& line : lines_of(page)) {
    if (line.starts_with("```")) {
      fence = fence.empty() ? line.substr(3) : "";
      if (fence == "sh") steps.emplace_back();
    } else if (fence == "sh") {
      steps.back().commands += line + "\n";
    } else if (fence == "output") {
      steps.back().output.push_back(line);
    }
  }
  return steps;
}

bool matches(std::string_view pattern, std::string_view line) {
  const auto dots = pattern.find("...");
  if (dots == std::string_view::npos) return pattern == line;
  if (!line.starts_with(pattern.substr(0, dots))) return false;
  pattern.remove_prefix(dots + 3);
  line.remove_prefix(dots);
  for (;; line.remove_prefix(1)) {
    if (matches(pattern, line)) return true;
    if (line.empty()) return false;
  }
}

bool matches(std::span<const std::string> pattern, std::span<const std::string> lines) {
  if (pattern.empty()) return lines.empty();
  if (pattern[0] != "...")
    return !lines.empty() && matches(pattern[0], lines[0]) && matches(pattern.subspan(1), lines.subspan(1));
  for (;; lines = lines.subspan(1)) {
    if (matches(pattern.subspan(1), lines)) return true;
    if (lines.empty()) return false;
  }
}

TEST(HowToMatching, DotsStandForAnyTextAndNothingElseDoes) {
  EXPECT_TRUE(matches("a ... c", "a b b c"));
  EXPECT_TRUE(matches("a...", "a"));
  EXPECT_FALSE(matches("a ... c", "a b"));
  EXPECT_FALSE(matches("abc", "abd"));
  const Lines lines{"one", "two", "three"};
  EXPECT_TRUE(matches(Lines{"one", "..."}, lines));
  EXPECT_TRUE(matches(Lines{"...", "three"}, lines));
  EXPECT_FALSE(matches(Lines{"one", "three"}, lines));
  EXPECT_FALSE(matches(Lines{"one", "..."}, Lines{"zero"}));
  EXPECT_FALSE(matches(Lines{"one"}, lines));
}

class HowTo : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Pages, HowTo, testing::ValuesIn(pages()), [](const auto& page) {
  std::string name = page.param;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

TEST_P(HowTo, SaysWhatHappens) {
  const Folder root;
  const fs::path source = TILEVP_SOURCE_DIR;
  fs::create_directories(root / "build/release");
  fs::create_symlink(TILEVP_BINARY, root / "build/release/tilevp");
  fs::create_directory_symlink(TILEVP_PLUGINS, root / "build/release/plugins");
  for (const auto* folder : {"data", "docs"}) fs::create_directory_symlink(source / folder, root / folder);
  const auto steps = steps_of(read_file(source / "docs/howto" / (GetParam() + ".md")));
  ASSERT_FALSE(steps.empty());

  // One shell for the page, so that what a block sets holds in the next.
  std::string script = "set -eu\ncd '" + root / "." + "'\n";
  for (std::size_t i = 0; i < steps.size(); ++i)
    script += "exec >'" + root / std::to_string(i) + "'\n" + steps[i].commands;
  write_file(root / "page.sh", script);
  const auto result = run_command({"/bin/sh", root / "page.sh"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].output.empty()) continue;
    const auto printed = without_asan_notice(read_file(root / std::to_string(i)));
    EXPECT_TRUE(matches(steps[i].output, lines_of(printed))) << steps[i].commands << "printed\n" << printed;
  }
}

}  // namespace
}  // namespace tilevp::test
