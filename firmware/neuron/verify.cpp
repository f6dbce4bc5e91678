#include "tilevp/neuron/verify.hpp"

#include <chrono>

#include "tilevp/runtime/compare.hpp"

namespace tilevp::neuron {

void verify(const runtime::CheckRequest& request, const runtime::Tensor& got, const std::string& what,
            const std::function<std::vector<float>()>& in_order, const std::function<std::vector<float>()>& in_double,
            runtime::ProgramResult& result) {
  using Kind = runtime::CheckRequest::Kind;
  if (request.kind == Kind::none) return;
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<float> expected = request.kind == Kind::tolerance ? in_double() : in_order();
  result.reference_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.verification =
      runtime::verification_of(runtime::compare(got, runtime::make_tensor(got.shape, expected), request, what));
}

}  // namespace tilevp::neuron
