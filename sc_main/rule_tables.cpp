#include "tilevp/sc_main/rule_tables.hpp"

#include "tilevp/cube/rules.hpp"
#include "tilevp/dma/rules.hpp"
#include "tilevp/memory/rules.hpp"
#include "tilevp/neuroncore/rules.hpp"
#include "tilevp/platform/machine.hpp"
#include "tilevp/sc_main/run_plan.hpp"

namespace tilevp::command {

std::vector<std::span<const Rule>> rule_tables(const Arguments& arguments) {
  const bool all = !arguments.has("--platform");
  const bool is_cube = !all && load_platform(arguments).description.cube.has_value();
  std::vector<std::span<const Rule>> tables;
  if (all || !is_cube) tables.push_back(neuroncore::rules());
  if (all || is_cube) tables.push_back(cube::rules());
  if (all || !is_cube) tables.push_back(dma::rules());
  tables.push_back(memory::rules());
  tables.push_back(memory::protocol_rules());
  return tables;
}

}  // namespace tilevp::command
