#pragma once
// The rules that `list rules` and `describe rules` show.
#include <span>
#include <vector>

#include "tilevp/base/rules.hpp"
#include "tilevp/sc_main/arguments.hpp"

namespace tilevp::command {

// Of all machines; with --platform those of its machine, and of the parts that every machine has.
std::vector<std::span<const Rule>> rule_tables(const Arguments& arguments);

}  // namespace tilevp::command
