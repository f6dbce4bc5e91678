// `tilevp check FILE...`: descriptions, reports and .npy files, without running anything.
#include <iostream>

#include "tilevp/base/errors.hpp"
#include "tilevp/platform/description.hpp"
#include "tilevp/platform/schema.hpp"
#include "tilevp/runtime/npy.hpp"
#include "tilevp/sc_main/arguments.hpp"
#include "tilevp/sc_main/command.hpp"
#include "tilevp/sc_main/json_file.hpp"
#include "tilevp/sc_main/messages.hpp"
#include "tilevp/sc_main/plugins.hpp"

namespace tilevp::command {
namespace {

// What the file is, in words. Throws UserError for what is wrong with it.
std::string checked(const std::string& file) {
  if (file.ends_with(".npy")) {
    const auto tensor = runtime::read_npy(file);
    return "tensor " + runtime::shape_text(tensor.shape) + " of " + std::string(runtime::descr(tensor.element));
  }
  const auto tree = read_json_file(file);
  if (is_report(tree)) {
    platform::check_report(tree, file);
    return "report";
  }
  // A relative name without a dot or slash would be taken for a shipped description.
  const bool plain = file.find_first_of("./") == std::string::npos;
  return "description " + platform::load_description(plain ? "./" + file : file, {}, memory_models()).description.name;
}

}  // namespace

int check(Words words) {
  const std::vector<OptionSpec> options{plugin_option(),
                                        {.name = "--help", .takes = Takes::nothing, .text = "this text"}};
  const auto arguments = parse_arguments(words, options, "tilevp check");
  if (arguments.has("--help")) {
    std::cout << "usage: tilevp check FILE...\n\nPlatform descriptions, reports and .npy files.\n\n"
              << help_lines(options);
    return 0;
  }
  load_plugins(words);
  if (arguments.positionals().empty()) throw UserError("check", "expected at least one file");
  std::size_t wrong = 0;
  for (const auto& file : arguments.positionals()) {
    try {
      const auto what = checked(file);
      std::cout << file << ": good " << what << "\n";
    } catch (const UserError& error) {
      print_error(error.what());
      ++wrong;
    }
  }
  return wrong == 0 ? 0 : static_cast<int>(Outcome::user_error);
}

}  // namespace tilevp::command
