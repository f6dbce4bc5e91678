// `tilevp describe program|platform|probe|registers|options ...`.
#include <iostream>

#include "tilevp/base/errors.hpp"
#include "tilevp/described/describe.hpp"
#include "tilevp/described/writer.hpp"
#include "tilevp/platform/builder.hpp"
#include "tilevp/platform/performance.hpp"
#include "tilevp/sc_main/command.hpp"
#include "tilevp/sc_main/rule_tables.hpp"
#include "tilevp/sc_main/run_plan.hpp"

namespace tilevp::command {
namespace {

const std::vector<std::string> kinds{"program", "platform", "probe", "registers", "options", "rules", "statistics"};

void print_help() {
  std::cout
      << "usage: tilevp describe program NAME [program options] [--platform NAME|FILE] [-c PATH=VALUE]\n"
         "                                                          how its work would be laid out\n"
         "       tilevp describe platform NAME|FILE [-c PATH=VALUE] [--format text|json]\n"
         "       tilevp describe probe NAME [--platform NAME|FILE]\n"
         "       tilevp describe registers [--platform NAME|FILE]   the register reference (Markdown)\n"
         "       tilevp describe rules [--platform NAME|FILE]       what the machine forbids (Markdown)\n"
         "       tilevp describe statistics [--platform NAME|FILE]  what each figure of a report means (Markdown)\n"
         "       tilevp describe options                            the keys of a description (Markdown)\n"
         "each with --plugin FILE: a plug-in's programs, memory models and their options too\n";
}

void expect_words(const Arguments& arguments, std::size_t count, std::string_view usage) {
  if (arguments.positionals().size() != count)
    throw UserError("describe",
                    "expected " + std::string(usage) + ", found " + words_text(arguments.positionals().size()));
}

void describe_program(Words words) {
  if (words.empty() || words[0].starts_with("-"))
    throw UserError("describe program", "expected a name: " + described::join(programs().names()));
  const auto program = programs().make(words[0]);
  auto known = option_specs(*program);
  for (const auto& option : platform_options()) known.push_back(option);
  const auto arguments =
      parse_arguments(words.subspan(1), known, "tilevp describe program " + std::string(program->name()));
  if (program->positional().empty() || arguments.positionals().size() > 1)
    expect_words(arguments, 0, "only options after the program's name");
  program->prepare({.options = option_values(*program, arguments)});
  platform::Platform machine(load_platform_for(*program, arguments).description, {});
  std::string text;
  machine.run([&](runtime::Host& host) { text = program->describe(host); });
  std::cout << text;
}

void describe_platform(Words words) {
  const std::vector<OptionSpec> options{{.name = "-c", .placeholder = "PATH=VALUE", .repeatable = true},
                                        plugin_option(),
                                        {.name = "--format", .placeholder = "text|json"}};
  const auto arguments = parse_arguments(words, options, "tilevp describe platform");
  expect_words(arguments, 1, "a platform: " + described::join(platform::shipped_descriptions()) + " or a file");
  const auto format = choice("--format", arguments.value("--format", "text"), {"text", "json"});
  const auto loaded = platform::load_description(arguments.positionals()[0], arguments.all("-c"), memory_models());
  if (format == "json") {
    std::cout << described::pretty_struct(loaded.description);
    return;
  }
  platform::Platform machine(loaded.description, {});
  std::cout << platform::description_text(loaded.description) << "\naddress map\n" << machine.map_text();
}

void describe_probe(Words words) {
  const auto arguments = parse_arguments(words, platform_options(), "tilevp describe probe");
  expect_words(arguments, 1, "a probe's name ('tilevp list probes')");
  const auto& name = arguments.positionals()[0];
  platform::Platform machine(load_platform(arguments).description, {});
  std::vector<std::string> names;
  for (const auto* probe : machine.simulation().probes().all()) {
    if (probe->name() == name) {
      std::cout << name << ": " << probe->bits() << (probe->bits() == 1 ? " bit, " : " bits, ") << probe->meaning()
                << "\n";
      for (const auto& [value, text] : probe->names()) std::cout << "  " << value << "  " << text << "\n";
      return;
    }
    names.push_back(probe->name());
  }
  throw UserError(name, "unknown probe" + described::nearest_hint(name, names));
}

void describe_registers(Words words) {
  const auto arguments = parse_arguments(words, platform_options(), "tilevp describe registers");
  expect_words(arguments, 0, "no further word");
  platform::Platform machine(load_platform(arguments).description, {});
  std::cout << "# Registers\n\nOffsets are from the base address of the window.\n";
  for (const auto& window : machine.register_windows()) std::cout << "\n## " << window.name << "\n\n" << window.table;
}

void print_fields(const std::vector<described::Field>& fields, const std::string& prefix) {
  std::cout << "\n| key | type | default |\n|---|---|---|\n";
  for (const auto& field : fields)
    std::cout << "| `" << prefix << field.path << "` | " << field.type << " | `" << field.default_value << "` |\n";
}

void describe_options(Words words) {
  expect_words(parse_arguments(words, {plugin_option()}, "tilevp describe options"), 0, "no further word");
  std::cout << "# Keys of a platform description\n";
  print_fields(described::describe_fields<platform::Description>(), "");
  for (const auto& name : memory_models().names()) {
    const auto model = memory_models().find(name);
    std::cout << "\n## " << name << "\n\n" << model->summary() << ": with `hbm.model` \"" << name << "\"\n";
    print_fields(model->fields(), "hbm.options.");
  }
}

void describe_rules(Words words) {
  const auto arguments = parse_arguments(words, platform_options(), "tilevp describe rules");
  expect_words(arguments, 0, "no further word");
  std::cout << "# Rules of the machines\n\nBreaking one ends the run with exit code 3.\n\n"
               "| rule | what | source |\n|---|---|---|\n";
  for (const auto table : rule_tables(arguments))
    for (const auto& rule : table)
      std::cout << "| `" << rule.id << "` | " << rule.text << " | " << rule.source << " |\n";
}

void describe_statistics(Words words) {
  const auto arguments = parse_arguments(words, platform_options(), "tilevp describe statistics");
  expect_words(arguments, 0, "no further word");
  platform::Platform machine(load_platform(arguments).description, {});
  std::cout << "# Figures of a report\n\n| figure | of | unit | what |\n|---|---|---|---|\n";
  for (const auto& figure : platform::figures(machine.simulation().statistics()))
    std::cout << "| `" << figure.definition.name << "` | " << figure.of << " | " << figure.definition.unit << " | "
              << figure.definition.text << " |\n";
}

}  // namespace

int describe(Words words) {
  if (words.empty()) throw UserError("describe", "expected one of " + described::join(kinds));
  if (words[0] == "--help" || words[0] == "-h") {
    print_help();
    return 0;
  }
  load_plugins(words);
  const auto kind = choice("describe", words[0], kinds);
  const auto rest = words.subspan(1);
  if (kind == "program") describe_program(rest);
  if (kind == "platform") describe_platform(rest);
  if (kind == "probe") describe_probe(rest);
  if (kind == "registers") describe_registers(rest);
  if (kind == "options") describe_options(rest);
  if (kind == "rules") describe_rules(rest);
  if (kind == "statistics") describe_statistics(rest);
  return 0;
}

}  // namespace tilevp::command
