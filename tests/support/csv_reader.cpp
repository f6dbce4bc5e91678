#include "support/csv_reader.hpp"

#include <stdexcept>

namespace tilevp::test {
namespace {

[[noreturn]] void refuse(std::size_t line, const std::string& why) {
  throw std::runtime_error("line " + std::to_string(line) + ": " + why);
}

// The fields of the line that begins at `at`, which moves behind its newline.
std::vector<std::string> fields_of(const std::string& text, std::size_t& at, std::size_t line) {
  std::vector<std::string> fields(1);
  for (bool quoted = false;; ++at) {
    if (at == text.size()) refuse(line, "no newline at the end of the file");
    const char c = text[at];
    std::string& field = fields.back();
    if (quoted && c == '"' && at + 1 < text.size() && text[at + 1] == '"') {
      field += c;
      ++at;
    } else if (quoted && c == '"') {
      quoted = false;
      if (at + 1 < text.size() && text[at + 1] != ',' && text[at + 1] != '\n') refuse(line, "text behind a quote");
    } else if (quoted) {
      field += c;
    } else if (c == '"') {
      if (!field.empty()) refuse(line, "a quote within a field");
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      ++at;
      return fields;
    } else {
      field += c;
    }
  }
}

}  // namespace

std::uint64_t CsvLine::number(const std::string& column) const {
  const std::string& text = fields.at(column);
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
    throw std::runtime_error(column + ": no number: '" + text + "'");
  return std::stoull(text);
}

CsvFile CsvFile::parse(const std::string& text) {
  CsvFile file;
  std::size_t at = 0;
  file.columns = fields_of(text, at, 1);
  while (at < text.size()) {
    const std::size_t number = file.lines.size() + 2;
    const auto fields = fields_of(text, at, number);
    if (fields.size() != file.columns.size())
      refuse(number, std::to_string(fields.size()) + " fields; the head has " + std::to_string(file.columns.size()));
    CsvLine& line = file.lines.emplace_back();
    for (std::size_t i = 0; i < fields.size(); ++i) line.fields[file.columns[i]] = fields[i];
  }
  return file;
}

}  // namespace tilevp::test
