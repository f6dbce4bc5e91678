#pragma once
// Text files and what a pattern finds in them; the one place that pays for compiling <regex>.
#include <filesystem>
#include <string>
#include <vector>

namespace tilevp::house {

std::string read(const std::filesystem::path& path);

// Every match of the ECMAScript expression in `text`, in order: whole match first, then its groups.
std::vector<std::vector<std::string>> matches(const std::string& text, const std::string& expression);

}  // namespace tilevp::house
