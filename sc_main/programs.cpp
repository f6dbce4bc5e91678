#include "tilevp/sc_main/programs.hpp"

namespace tilevp::command {

std::vector<OptionSpec> option_specs(const runtime::Program& program) {
  std::vector<OptionSpec> specs;
  for (const auto& option : program.options())
    specs.push_back({.name = "--" + option.name,
                     .takes = option.value.empty() ? Takes::nothing : Takes::value,
                     .placeholder = option.value,
                     .default_value = option.default_value,
                     .text = option.text});
  return specs;
}

std::map<std::string, std::string, std::less<>> given_options(const runtime::Program& program,
                                                              const Arguments& arguments) {
  std::map<std::string, std::string, std::less<>> given;
  for (const auto& option : program.options())
    if (arguments.has("--" + option.name))
      given[option.name] = option.value.empty() ? "true" : arguments.value("--" + option.name);
  return given;
}

runtime::OptionValues option_values(const runtime::Program& program, const Arguments& arguments) {
  auto values = given_options(program, arguments);
  for (const auto& option : program.options())
    if (!option.default_value.empty()) values.try_emplace(option.name, option.default_value);
  return runtime::OptionValues(std::move(values));
}

}  // namespace tilevp::command
