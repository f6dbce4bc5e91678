#pragma once
// Reports and descriptions as trees.
#include <boost/json/value.hpp>
#include <string>
#include <vector>

namespace tilevp::command {

// UserError with file, line and column where the file cannot be read or is no JSON.
boost::json::value read_json_file(const std::string& file);

bool is_report(const boost::json::value& tree);

// One leaf of a tree: "performance.units[core0.pe].busy_cycles" and its value as text. Elements of a list that have a
// path, a name or a queue are named by it, so that two reports line up.
struct Leaf {
  std::string path;
  std::string text;
};
std::vector<Leaf> leaves(const boost::json::value& tree);

}  // namespace tilevp::command
