#pragma once
#include <string>

namespace tilevp::assembly {

// All bytes of a file, which may be a pipe. Throws UserError(name).
std::string read_file(const std::string& name);

}  // namespace tilevp::assembly
