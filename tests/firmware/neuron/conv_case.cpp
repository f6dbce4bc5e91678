#include "firmware/neuron/conv_case.hpp"

#include <cstring>
#include <random>
#include <sstream>

#include "support/reference_machine.hpp"
#include "tilevp/neuron/conv2d/emitter.hpp"
#include "tilevp/numeric/dtype.hpp"

namespace tilevp::test {
namespace {

using namespace neuron::conv2d;

std::vector<std::int8_t> random_values(std::mt19937_64& random, long count) {
  std::vector<std::int8_t> values(static_cast<std::size_t>(count));
  for (auto& value : values) value = static_cast<std::int8_t>(static_cast<int>(random() % 9) - 4);
  return values;
}

Problem problem_of(const ConvShape& s) {
  return {s.N, s.C, s.H, s.W, s.O, s.Hf, s.Wf, s.sh, s.sw, s.pt, s.pb, s.pl, s.pr, s.dh, s.dw};
}

// Writes or reads one element of a tensor in HBM.
struct Cells {
  std::vector<std::byte>& hbm;
  std::uint64_t base;
  numeric::DType dtype;
  std::byte* at(long index) const {
    return hbm.data() + base + static_cast<std::size_t>(index) * numeric::size_bytes(dtype);
  }
  void put(long index, float value) const { numeric::store_element(dtype, value, at(index)); }
  float get(long index) const { return numeric::load_element(dtype, at(index)); }
};

}  // namespace

std::string ConvCase::text() const {
  std::ostringstream out;
  const ConvShape& s = shape;
  out << "N " << s.N << " C " << s.C << " H " << s.H << " W " << s.W << " O " << s.O << " filter " << s.Hf << "x"
      << s.Wf << " stride " << s.sh << "," << s.sw << " padding " << s.pt << "," << s.pb << "," << s.pl << "," << s.pr
      << " dilation " << s.dh << "," << s.dw << " " << name(variant) << " image "
      << (image_layout == ImageLayout::chwn ? "chwn" : "nchw") << " output "
      << (output_layout == OutputLayout::nchw ? "nchw" : "ohwn") << " " << numeric::name(dtype) << " sbuf "
      << machine.sbuf_bytes << " seed " << seed;
  return out.str();
}

Plan plan_of(const ConvCase& test_case) {
  return make_plan({problem_of(test_case.shape), test_case.dtype, test_case.image_layout, test_case.output_layout,
                    test_case.variant},
                   test_case.machine);
}

ConvOutcome run_case(const ConvCase& test_case, const std::function<void(neuron::Schedule&)>& change) {
  const ConvShape& s = test_case.shape;
  std::mt19937_64 random(test_case.seed);
  const auto x = random_values(random, s.N * s.C * s.H * s.W);
  const auto f = random_values(random, s.O * s.C * s.Hf * s.Wf);
  const auto expected = naive_conv(s, x, f);

  const Plan plan = plan_of(test_case);
  const auto size = numeric::size_bytes(test_case.dtype);
  Addresses addresses;
  addresses.filter = addresses.image + x.size() * size;
  addresses.zeros = addresses.filter + f.size() * size;
  addresses.output = (addresses.zeros + static_cast<std::size_t>(zero_elements(plan)) * size + 3) / 4 * 4;
  const std::size_t bytes = addresses.output + expected.size() * 4;
  neuron::Machine description = test_case.machine;
  description.core_base = std::uint64_t{1} << 44;
  neuron::Kernel kernel(description);
  emit(kernel, plan, addresses);
  neuron::Schedule schedule = neuron::schedule(kernel);
  if (change) change(schedule);

  ReferenceMachine machine(description, bytes, test_case.seed);
  const Cells image{machine.hbm, addresses.image, test_case.dtype};
  const Cells filter{machine.hbm, addresses.filter, test_case.dtype};
  for (long n = 0; n < s.N; ++n)
    for (long c = 0; c < s.C; ++c)
      for (long h = 0; h < s.H; ++h)
        for (long w = 0; w < s.W; ++w) {
          const long nchw = ((n * s.C + c) * s.H + h) * s.W + w;
          const long chwn = ((c * s.H + h) * s.W + w) * s.N + n;
          image.put(test_case.image_layout == ImageLayout::nchw ? nchw : chwn, x[static_cast<std::size_t>(nchw)]);
        }
  for (long o = 0; o < s.O; ++o)
    for (long c = 0; c < s.C; ++c)
      for (long i = 0; i < s.Hf; ++i)
        for (long j = 0; j < s.Wf; ++j)
          filter.put(((c * s.Hf + i) * s.Wf + j) * s.O + o,
                     f[static_cast<std::size_t>(((o * s.C + c) * s.Hf + i) * s.Wf + j)]);
  std::memset(machine.hbm.data() + addresses.zeros, 0, static_cast<std::size_t>(zero_elements(plan)) * size);
  machine.run(schedule);

  ConvOutcome outcome;
  const Cells output{machine.hbm, addresses.output, numeric::DType::fp32};
  for (long n = 0; n < s.N; ++n)
    for (long o = 0; o < s.O; ++o)
      for (long a = 0; a < s.out_h(); ++a)
        for (long b = 0; b < s.out_w(); ++b) {
          const long nchw = ((n * s.O + o) * s.out_h() + a) * s.out_w() + b;
          const long ohwn = ((o * s.out_h() + a) * s.out_w() + b) * s.N + n;
          const float got = output.get(test_case.output_layout == OutputLayout::nchw ? nchw : ohwn);
          if (!(got == static_cast<float>(expected[static_cast<std::size_t>(nchw)]))) ++outcome.wrong;
        }
  outcome.matmuls = machine.matmuls;
  outcome.macs = machine.macs;
  outcome.pe_cycles = machine.pe_cycles;
  const auto sum = [&](neuron::QueueClass of) {
    std::uint64_t total = 0;
    for (const auto queue : schedule.queues[static_cast<std::size_t>(of)]) total += machine.queue_bytes[queue];
    return total;
  };
  outcome.image_bytes = sum(neuron::QueueClass::inputs);
  outcome.filter_bytes = sum(neuron::QueueClass::weights);
  outcome.predicted = predict(plan);
  return outcome;
}

}  // namespace tilevp::test
