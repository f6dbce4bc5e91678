#include "firmware/neuron/conv_case.hpp"

#include <array>
#include <cstring>
#include <random>
#include <sstream>

#include "support/reference_machine.hpp"
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
  return {s.N, s.C, s.H, s.W, s.O, s.Hf, s.Wf, s.sh, s.sw, s.pt, s.pb, s.pl, s.pr, s.dh, s.dw, s.g, s.bg};
}

const char* text_of(Variant variant) {
  return variant == Variant::standard ? "default" : variant == Variant::strided ? "stride" : "packing";
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

// Elements between neighbours of each axis of a tensor whose axes are named from the slowest to the fastest.
using Steps = std::array<long, 128>;
Steps steps_of(std::string_view order, std::initializer_list<std::pair<char, long>> sizes) {
  Steps steps{};
  long step = 1;
  for (std::size_t place = order.size(); place-- > 0;) {
    steps[static_cast<std::size_t>(order[place])] = step;
    for (const auto& [axis, size] : sizes)
      if (axis == order[place]) step *= size;
  }
  return steps;
}

}  // namespace

PlanRequest ConvCase::request() const { return {problem_of(shape), dtype, layouts, variant}; }

std::string ConvCase::text() const {
  std::ostringstream out;
  const ConvShape& s = shape;
  out << "N " << s.N << " C " << s.C << " H " << s.H << " W " << s.W << " O " << s.O << " filter " << s.Hf << "x"
      << s.Wf << " stride " << s.sh << "," << s.sw << " padding " << s.pt << "," << s.pb << "," << s.pl << "," << s.pr
      << " dilation " << s.dh << "," << s.dw << " " << text_of(variant) << " groups " << s.g << "," << s.bg << " image "
      << name(layouts.image) << " filter " << name(layouts.filter) << " output " << name(layouts.output) << " "
      << numeric::name(dtype) << " sbuf " << machine.sbuf_bytes << " seed " << seed;
  return out.str();
}

Plan plan_of(const ConvCase& test_case) { return make_plan(test_case.request(), test_case.machine); }

ConvOutcome run_case(const ConvCase& test_case, const std::function<void(neuron::Schedule&)>& change) {
  return run_case(test_case, text_of(test_case.variant), change);
}

ConvOutcome run_case(const ConvCase& test_case, std::string_view variant,
                     const std::function<void(neuron::Schedule&)>& change) {
  return run_case(test_case, *find_variant(variant)->make(test_case.request(), test_case.machine), change);
}

ConvOutcome run_case(const ConvCase& test_case, Convolution& convolution,
                     const std::function<void(neuron::Schedule&)>& change) {
  const ConvShape& s = test_case.shape;
  std::mt19937_64 random(test_case.seed);
  const auto x = random_values(random, s.N * s.C * s.H * s.W);
  const auto f = random_values(random, s.O * s.filter_c() * s.Hf * s.Wf);
  const auto expected = naive_conv(s, x, f);

  std::uint64_t bytes = 0;
  const Places at = convolution.place([&bytes](const std::string&, std::uint64_t count) {
    const std::uint64_t start = (bytes + 63) / 64 * 64;
    bytes = start + count;
    return start;
  });
  neuron::Machine description = test_case.machine;
  description.core_base = std::uint64_t{1} << 44;
  neuron::Kernel kernel(description);
  convolution.emit(kernel);
  neuron::Schedule schedule = neuron::schedule(kernel);
  if (change) change(schedule);

  ReferenceMachine machine(description, bytes, test_case.seed);
  const Cells image{machine.hbm, at.image, test_case.dtype};
  const Cells filter{machine.hbm, at.filter, test_case.dtype};
  const Steps to_image = steps_of(name(test_case.layouts.image), {{'n', s.N}, {'c', s.C}, {'h', s.H}, {'w', s.W}});
  for (long n = 0; n < s.N; ++n)
    for (long c = 0; c < s.C; ++c)
      for (long h = 0; h < s.H; ++h)
        for (long w = 0; w < s.W; ++w)
          image.put(n * to_image['n'] + c * to_image['c'] + h * to_image['h'] + w * to_image['w'],
                    x[static_cast<std::size_t>(((n * s.C + c) * s.H + h) * s.W + w)]);
  const Steps to_filter =
      steps_of(name(test_case.layouts.filter), {{'o', s.O}, {'c', s.filter_c()}, {'h', s.Hf}, {'w', s.Wf}});
  for (long o = 0; o < s.O; ++o)
    for (long c = 0; c < s.filter_c(); ++c)
      for (long i = 0; i < s.Hf; ++i)
        for (long j = 0; j < s.Wf; ++j)
          filter.put(o * to_filter['o'] + c * to_filter['c'] + i * to_filter['h'] + j * to_filter['w'],
                     f[static_cast<std::size_t>(((o * s.filter_c() + c) * s.Hf + i) * s.Wf + j)]);
  for (const auto& [start, count] : at.zeros) std::memset(machine.hbm.data() + start, 0, count);
  machine.run(schedule);
  ConvOutcome outcome;

  const Cells output{machine.hbm, at.output, numeric::DType::fp32};
  // The filters are called c in nchw, o in the others.
  const Steps steps = steps_of(name(test_case.layouts.output),
                               {{'n', s.out_n()}, {'c', s.O}, {'o', s.O}, {'h', s.out_h()}, {'w', s.out_w()}});
  const long filter_step = steps['c'] + steps['o'];
  for (long n = 0; n < s.out_n(); ++n)
    for (long o = 0; o < s.O; ++o)
      for (long a = 0; a < s.out_h(); ++a)
        for (long b = 0; b < s.out_w(); ++b) {
          const long nchw = ((n * s.O + o) * s.out_h() + a) * s.out_w() + b;
          const float got = output.get(n * steps['n'] + o * filter_step + a * steps['h'] + b * steps['w']);
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
  outcome.local_bytes = sum(neuron::QueueClass::local);
  outcome.transposes = machine.transposes;
  outcome.predicted = convolution.prediction();
  outcome.figures = convolution.figures();
  return outcome;
}

}  // namespace tilevp::test
