#pragma once
// `-c PATH=VALUE`: one value of a JSON tree set before the tree is read, so that the reader finds unknown keys and
// wrong types.
#include <boost/json/value.hpp>
#include <string>
#include <string_view>

namespace tilevp::described {

struct Override {
  std::string path{};                  // as the user wrote it: "dram.ports[1].rate"
  boost::json::value value = nullptr;  // VALUE as JSON; VALUE itself as a string where it is not JSON
  std::string root{};                  // the shallowest path this override created or replaced; set when applied
};

// UserError("-c TEXT") where there is no '=' or the path does not parse.
Override parse_override(std::string_view assignment);

// Sets the value in `tree`: objects missing on the way, or null, are created; a later override of a path wins.
// UserError where the path goes through a scalar or past the end of a list: `-c dram.ports[5]: the list 'dram.ports'
// has 2 elements`.
void apply(Override& override_, boost::json::value& tree);

}  // namespace tilevp::described
