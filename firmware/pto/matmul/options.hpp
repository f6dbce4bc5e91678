#pragma once
// The options of cube/tgemv and cube/tmatmul, read into a request.
#include <string>
#include <vector>

#include "tilevp/pto/matmul/plan.hpp"
#include "tilevp/runtime/program.hpp"

namespace tilevp::pto::matmul {

std::vector<runtime::OptionDescription> option_descriptions(bool gemv);

// Types, modes and PEs; sizes are filled in by the caller. Throws UserError("--option", ...).
Request read_request(bool gemv, const runtime::OptionValues& options);
// The parameter words, once the request has its sizes.
void read_words(Request& request, const runtime::OptionValues& options, std::vector<std::string>& warnings);

}  // namespace tilevp::pto::matmul
