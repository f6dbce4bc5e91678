// The pages: every relative link leads to a file, and docs/index.md lists every page of docs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "house/text.hpp"

namespace tilevp::house {
namespace {

namespace fs = std::filesystem;

// Targets of the Markdown links in `text` that name files: no URLs, no anchors.
std::vector<std::string> file_links(const std::string& text) {
  std::vector<std::string> found;
  for (const auto& match : matches(text, R"(\]\(([^)#\s]+)(#[^)]*)?\))"))
    if (match[1].find("://") == std::string::npos) found.push_back(match[1]);
  return found;
}

// The Markdown files at the root and below docs, data and the source folders.
std::vector<fs::path> pages() {
  const fs::path root = TILEVP_SOURCE_DIR;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  for (const auto* folder : {"docs", "data", "models", "firmware", "platform", "sc_main", "tests", "scripts"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

std::vector<std::string> broken_links(const fs::path& page, const std::string& text) {
  std::vector<std::string> broken;
  for (const auto& link : file_links(text))
    if (!fs::exists(page.parent_path() / link)) broken.push_back(page.string() + ": " + link);
  return broken;
}

TEST(Links, LeadToFiles) {
  ASSERT_FALSE(pages().empty());
  for (const auto& page : pages()) EXPECT_THAT(broken_links(page, read(page)), testing::IsEmpty());
}

TEST(Links, IndexListsEveryPage) {
  const fs::path docs = fs::path(TILEVP_SOURCE_DIR) / "docs";
  const auto listed = file_links(read(docs / "index.md"));
  for (const auto& entry : fs::recursive_directory_iterator(docs)) {
    const std::string name = fs::relative(entry.path(), docs).generic_string();
    if (entry.path().extension() == ".md" && name != "index.md") {
      EXPECT_THAT(listed, testing::Contains(name));
    }
  }
}

TEST(Links, ABrokenLinkIsFound) {
  const fs::path page = fs::path(TILEVP_SOURCE_DIR) / "docs" / "index.md";
  EXPECT_THAT(broken_links(page, "[a](../CONTRIBUTING.md#style) [b](none.md) [c](https://example.org/x)"),
              testing::ElementsAre(page.string() + ": none.md"));
}

}  // namespace
}  // namespace tilevp::house
