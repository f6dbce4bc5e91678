#pragma once
#include <memory>

#include "tilevp/runtime/program.hpp"

namespace tilevp::pto::matmul {

std::unique_ptr<runtime::Program> make_tgemv();
std::unique_ptr<runtime::Program> make_tmatmul();

}  // namespace tilevp::pto::matmul
