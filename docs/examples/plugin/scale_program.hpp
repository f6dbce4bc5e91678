#pragma once
#include <memory>

#include "tilevp/runtime/program.hpp"

namespace example {

// `tilevp run example/scale`: doubles a tile of numbers on the vector engine, and checks the result.
std::unique_ptr<tilevp::runtime::Program> make_scale();

}  // namespace example
