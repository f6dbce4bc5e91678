#pragma once
// What tests of raw programs share: reports checked against their schema, and bytes as floats.
#include <cstring>
#include <string>
#include <vector>

#include "system/command_runner.hpp"
#include "tilevp/described/parse.hpp"
#include "tilevp/platform/schema.hpp"

namespace tilevp::test {

// The report in a file, which must agree with the schema.
inline boost::json::value report_of(const std::string& file) {
  auto tree = described::parse(file, read_file(file)).tree;
  platform::check_report(tree, file);
  return tree;
}

inline std::vector<float> floats(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

inline std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

}  // namespace tilevp::test
