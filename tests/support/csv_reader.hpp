#pragma once
// Reads a list of transactions (--transactions) by itself: shares nothing with the writer. Throws std::runtime_error
// with the line for what RFC 4180 does not allow, a missing last newline, a line with another number of fields, or a
// number that is none.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilevp::test {

struct CsvLine {
  std::map<std::string, std::string> fields{};
  const std::string& operator[](const std::string& column) const { return fields.at(column); }
  std::uint64_t number(const std::string& column) const;
};

struct CsvFile {
  std::vector<std::string> columns{};
  std::vector<CsvLine> lines{};
  static CsvFile parse(const std::string& text);
  // The sum of `column` over the lines for which `wanted` holds.
  template <class Wanted>
  std::uint64_t sum(const std::string& column, Wanted&& wanted) const {
    std::uint64_t total = 0;
    for (const auto& line : lines)
      if (wanted(line)) total += line.number(column);
    return total;
  }
  template <class Wanted>
  std::uint64_t count(Wanted&& wanted) const {
    std::uint64_t total = 0;
    for (const auto& line : lines) total += wanted(line) ? 1 : 0;
    return total;
  }
};

}  // namespace tilevp::test
