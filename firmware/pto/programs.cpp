#include "tilevp/pto/programs.hpp"

#include "tilevp/pto/matmul/program.hpp"
#include "tilevp/pto/raw/program.hpp"

namespace tilevp::pto {

void register_programs(runtime::ProgramRegistry& registry) {
  registry.add("cube/tgemv", matmul::make_tgemv);
  registry.add("cube/tmatmul", matmul::make_tmatmul);
  registry.add("cube/raw", raw::make_program);
}

}  // namespace tilevp::pto
