#pragma once
#include <memory>

#include "tilevp/runtime/program.hpp"

namespace tilevp::pto::raw {

std::unique_ptr<runtime::Program> make_program();

}  // namespace tilevp::pto::raw
