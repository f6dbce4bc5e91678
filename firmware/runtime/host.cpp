#include "tilevp/runtime/host.hpp"

#include "tilevp/base/errors.hpp"
#include "tilevp/described/nearest.hpp"

namespace tilevp::runtime {

const Region& Host::region(std::string_view name) const {
  std::vector<std::string> names;
  for (const Region& region : map()) {
    if (region.name == name) return region;
    names.push_back(region.name);
  }
  throw UserError("address map", "no region '" + std::string(name) + "'; there are " + described::join(names));
}

}  // namespace tilevp::runtime
