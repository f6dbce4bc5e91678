#include "tilevp/sc_main/programs.hpp"

#include "tilevp/base/errors.hpp"

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

runtime::OptionValues::Texts option_texts(const runtime::Program& program, const Arguments& arguments) {
  runtime::OptionValues::Texts texts;
  const auto text_of = [&](const runtime::OptionDescription& option) {
    const std::string text = arguments.value("--" + option.name);
    if (option.value == "FILE" && text.empty())
      throw UserError("--" + option.name, "expected a file's name, found nothing");
    return text;
  };
  for (const auto& option : program.options()) {
    const std::string name = "--" + option.name;
    if (option.name == program.positional() && !arguments.positionals().empty()) {
      if (arguments.has(name)) throw UserError(name, "given twice: as a word too");
      texts[option.name] = arguments.positionals()[0];
    } else if (arguments.has(name))
      texts[option.name] = option.value.empty() ? "true" : text_of(option);
    else if (!option.default_value.empty())
      texts[option.name] = option.default_value;
  }
  return texts;
}

runtime::OptionValues option_values(const runtime::Program& program, const Arguments& arguments) {
  runtime::OptionValues::Texts placeholders;
  for (const auto& option : program.options()) placeholders.emplace(option.name, option.value);
  return runtime::OptionValues(option_texts(program, arguments), std::move(placeholders));
}

}  // namespace tilevp::command
