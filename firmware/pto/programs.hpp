#pragma once
#include "tilevp/runtime/program.hpp"

namespace tilevp::pto {

void register_programs(runtime::ProgramRegistry& registry);

}  // namespace tilevp::pto
