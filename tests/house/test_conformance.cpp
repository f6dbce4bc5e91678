// docs/cube-conformance.md: every row of its tables names tests, and each of them exists.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "house/text.hpp"

namespace tilevp::house {
namespace {

namespace fs = std::filesystem;

// "Suite.Name" of each match.
std::set<std::string> names(const std::string& text, const std::string& expression) {
  std::set<std::string> found;
  for (const auto& match : matches(text, expression)) found.insert(match[1] + "." + match[2]);
  return found;
}

// "Suite.Name" of every test in the sources below `folder`.
std::set<std::string> tests_below(const fs::path& folder) {
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".cpp")
      found.merge(names(read(entry.path()), R"(\bTEST(?:_F|_P)?\((\w+),\s*(\w+)\))"));
  return found;
}

// Rows of Markdown tables without a test, or with one that `known` does not hold, as "row: what".
std::vector<std::string> unproved(const std::string& page, const std::set<std::string>& known) {
  std::vector<std::string> found;
  std::istringstream lines(page);
  bool in_rows = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("|---", 0) == 0) {
      in_rows = true;
      continue;
    }
    if (line.empty() || line[0] != '|') in_rows = false;
    if (!in_rows) continue;
    const auto named = names(line, R"(`(\w+)\.(\w+)`)");
    if (named.empty()) found.push_back(line + ": no test");
    for (const auto& name : named)
      if (!known.contains(name)) found.push_back(line + ": there is no test " + name);
  }
  return found;
}

TEST(Conformance, EveryRequirementHasATest) {
  const fs::path root = TILEVP_SOURCE_DIR;
  const std::string page = read(root / "docs" / "cube-conformance.md");
  EXPECT_GT(page.size(), 1000U);
  for (const auto& row : unproved(page, tests_below(root / "tests" / "models" / "cube"))) ADD_FAILURE() << row;
}

TEST(Conformance, ARowWithoutATestIsFound) {
  const std::string page =
      "| what | tests |\n|---|---|\n| a | `S.Known` |\n| b | none |\n| c | `S.Known`, `S.Gone` |\n\n| no row |\n";
  const auto rows = unproved(page, {"S.Known"});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0], "| b | none |: no test");
  EXPECT_EQ(rows[1], "| c | `S.Known`, `S.Gone` |: there is no test S.Gone");
}

}  // namespace
}  // namespace tilevp::house
