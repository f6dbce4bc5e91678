#pragma once
// The arrows of the house: which folder may include which. The CMake targets make most wrong includes fail to compile;
// this finds those that they let through (a folder reached by way of another one) and says which rule was broken.
#include <map>
#include <string>
#include <vector>

namespace tilevp::house {

// Text of each source file by its path below the repository's root ("models/base/errors.hpp").
using SourceTree = std::map<std::string, std::string>;

// The sources of models, firmware, platform and sc_main below `root`.
SourceTree read_sources(const std::string& root);

// One line a broken rule, "FILE: includes WHAT: RULE", in order of the files; empty when the house is in order.
//   models:    models only
//   firmware:  firmware, and of models the headers a programmer of the machine may know; SystemC and TLM not even
//   indirectly platform:  platform, models, and firmware/runtime, whose Host it implements sc_main:   platform,
//   firmware, and of models the same headers as firmware
// No folder may, by way of others, include itself, and project headers are included as "tilevp/FOLDER/FILE".
std::vector<std::string> include_violations(const SourceTree& sources);

}  // namespace tilevp::house
