// `tilevp list programs|platforms|models|variants|probes|statistics|rules`.
#include <iostream>

#include "tilevp/base/errors.hpp"
#include "tilevp/platform/builder.hpp"
#include "tilevp/platform/performance.hpp"
#include "tilevp/sc_main/command.hpp"
#include "tilevp/sc_main/rule_tables.hpp"
#include "tilevp/sc_main/run_plan.hpp"

namespace tilevp::command {
namespace {

void list_programs() {
  for (const auto& name : programs().names()) std::cout << name << "  " << programs().make(name)->summary() << "\n";
}

void list_platforms() {
  for (const auto& name : platform::shipped_descriptions())
    std::cout << name << "  " << platform::load_description(name, {}).description.summary << "\n";
}

void list_models() {
  std::cout << platform::builtin_memory << "  the memory with bandwidth by contiguous run and burst (built in)\n";
  for (const auto& name : memory_models().names())
    std::cout << name << "  " << memory_models().find(name)->summary() << "\n";
}

void list_variants() {
  for (const auto& name : programs().names()) {
    const auto program = programs().make(name);
    for (const auto& variant : program->variants()) {
      std::cout << name << " --variant " << variant.name << "  " << variant.summary << "\n  " << variant.full_name
                << "\n";
      for (const auto& token : variant.tokens) std::cout << "    " << token << "\n";
    }
  }
}

void list_probes(const platform::Description& description) {
  platform::Platform machine(description, {});
  for (const auto* probe : machine.simulation().probes().all())
    std::cout << probe->name() << "  " << probe->bits() << (probe->bits() == 1 ? " bit  " : " bits  ")
              << probe->meaning() << "\n";
}

void list_statistics(const platform::Description& description) {
  platform::Platform machine(description, {});
  for (const auto& figure : platform::figures(machine.simulation().statistics()))
    std::cout << figure.definition.name << " (" << figure.of << ") [" << figure.definition.unit << "]  "
              << figure.definition.text << "\n";
}

void list_rules(const Arguments& arguments) {
  for (const auto table : rule_tables(arguments))
    for (const auto& rule : table) std::cout << rule.id << "  " << rule.text << "\n";
}

}  // namespace

int list(Words words) {
  const std::vector<std::string> kinds{"programs", "platforms", "models", "variants", "probes", "statistics", "rules"};
  auto options = platform_options();
  options.push_back({.name = "--help", .takes = Takes::nothing, .text = "this text"});
  const auto arguments = parse_arguments(words, options, "tilevp list");
  if (arguments.has("--help")) {
    std::cout << "usage: tilevp list programs|platforms|models|variants|probes|statistics|rules [options]\n\n"
              << help_lines(options);
    return 0;
  }
  load_plugins(words);
  if (arguments.positionals().size() != 1)
    throw UserError(
        "list", "expected one of " + described::join(kinds) + ", found " + words_text(arguments.positionals().size()));
  const auto kind = choice("list", arguments.positionals()[0], kinds);
  const auto description = load_platform(arguments).description;
  if (kind == "programs") list_programs();
  if (kind == "models") list_models();
  if (kind == "variants") list_variants();
  if (kind == "platforms") list_platforms();
  if (kind == "probes") list_probes(description);
  if (kind == "statistics") list_statistics(description);
  if (kind == "rules") list_rules(arguments);
  return 0;
}

}  // namespace tilevp::command
