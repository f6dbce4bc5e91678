#include "house/text.hpp"

#include <fstream>
#include <regex>
#include <sstream>

namespace tilevp::house {

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::vector<std::string>> matches(const std::string& text, const std::string& expression) {
  const std::regex pattern(expression);
  std::vector<std::vector<std::string>> found;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
    found.emplace_back(it->begin(), it->end());
  return found;
}

}  // namespace tilevp::house
