#pragma once
// Verification of a program's result, as `--check` asks for it.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tilevp/runtime/program.hpp"
#include "tilevp/runtime/tensor.hpp"

namespace tilevp::neuron {

// exact and ulp hold the result against `in_order` (the machine's order of accumulation, so the machine's bits),
// tolerance against `in_double`. Fills result.verification and result.reference_seconds; nothing where no check was
// asked for.
void verify(const runtime::CheckRequest& request, const runtime::Tensor& got, const std::string& what,
            const std::function<std::vector<float>()>& in_order, const std::function<std::vector<float>()>& in_double,
            runtime::ProgramResult& result);

}  // namespace tilevp::neuron
