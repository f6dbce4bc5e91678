#include "tilevp/neuron/matmul/program.hpp"

#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/buffers.hpp"
#include "tilevp/neuron/driver.hpp"
#include "tilevp/neuron/matmul/emitter.hpp"
#include "tilevp/neuron/matmul/reference.hpp"
#include "tilevp/neuron/operands.hpp"
#include "tilevp/neuron/verify.hpp"
#include "tilevp/runtime/npy.hpp"

namespace tilevp::neuron::matmul {
namespace {

constexpr std::int64_t largest = 1 << 20;

class Matmul final : public runtime::Program {
 public:
  std::string_view name() const override { return "neuron/matmul"; }
  std::string_view summary() const override { return "tiled matrix product on one NeuronCore's PE array"; }
  std::string_view machine() const override { return "neuroncore"; }
  std::vector<runtime::OptionDescription> options() const override {
    return {{"lhs-t", "FILE", "", "left-hand matrix, transposed (.npy), axes K, M"},
            {"rhs", "FILE", "", "right-hand matrix (.npy), axes K, N"},
            {"output", "FILE", "", "product (.npy, fp32), axes M, N"},
            {"m", "ROWS", "", "random matrices of this size instead of files"},
            {"k", "DEPTH", "", "contraction"},
            {"n", "COLUMNS", "", "columns"},
            {"random", "integers|normal", "integers", "values: whole numbers from -4 to 4, or normal"},
            {"dtype", "bf16|fp16|fp32", "bf16", "element type of both matrices"}};
  }

  void prepare(const runtime::RunRequest& request) override {
    run_ = request;
    const auto& options = request.options;
    dtype_ = parse_matmul_dtype(options.text("dtype"));
    random_ = parse_random("--random", options.text("random"));
    output_file_ = options.text("output");
    const bool files = options.has("lhs-t") || options.has("rhs");
    const bool sizes = options.has("m") || options.has("k") || options.has("n");
    if (files == sizes) throw UserError("matmul", "expected either --lhs-t and --rhs, or --m, --k and --n");
    for (const char* option : files ? std::vector{"lhs-t", "rhs"} : std::vector{"m", "k", "n"})
      if (!options.has(option)) throw UserError("--" + std::string(option), "is missing");
    if (files) return read_files(options);
    m_ = options.integer("m", 1, largest);
    k_ = options.integer("k", 1, largest);
    n_ = options.integer("n", 1, largest);
  }

  std::string describe(runtime::Host& host) override {
    return make_plan(m_, k_, n_, dtype_, Driver(host).machine()).text();
  }

  runtime::ProgramResult run(runtime::Host& host) override {
    Driver driver(host);
    const Plan plan = make_plan(m_, k_, n_, dtype_, driver.machine());
    const auto elements = static_cast<std::size_t>(m_ * n_);
    const auto lhs_elements = static_cast<std::size_t>(m_ * k_), rhs_elements = static_cast<std::size_t>(k_ * n_);
    // Room for all first: values that do not fit are neither drawn nor written.
    const Addresses addresses{driver.allocate("lhs_t", lhs_elements * numeric::size_bytes(dtype_)),
                              driver.allocate("rhs", rhs_elements * numeric::size_bytes(dtype_)),
                              driver.allocate("out", elements * sizeof(float))};
    if (lhs_t_.empty()) {
      lhs_t_ = random_operand(random_, dtype_, lhs_elements, run_->seed, "lhs");
      rhs_ = random_operand(random_, dtype_, rhs_elements, run_->seed, "rhs");
    }
    runtime::Tensor output = runtime::make_tensor({static_cast<std::size_t>(m_), static_cast<std::size_t>(n_)});
    host.write(addresses.lhs_t, lhs_t_);
    host.write(addresses.rhs, rhs_);
    Kernel kernel(driver.machine());
    emit(kernel, plan, addresses);
    const Schedule schedule = neuron::schedule(kernel);
    const std::uint64_t kernel_ps = driver.run(schedule);

    runtime::ProgramResult result;
    result.warnings = warnings_;
    fill_result(result, driver, schedule, plan);
    result.kernel_ps = kernel_ps;
    result.result["kernel_ps"] = kernel_ps;
    result.result["buffers"] = buffers_of(kernel);
    host.read(addresses.out, output.data);
    if (!run_->arithmetic) return result;  // what was read takes its time and means nothing
    output_ = std::move(output);
    verify(
        run_->check, *output_, "product", [&] { return reference_in_order(plan, lhs_t_, rhs_); },
        [&] { return reference_in_double(plan, lhs_t_, rhs_); }, result);
    if (!output_file_.empty()) result.files["output"] = output_file_;
    return result;
  }

  void write_outputs() override {
    if (!output_file_.empty() && output_) runtime::write_npy(output_file_, *output_);
  }

 private:
  void read_files(const runtime::OptionValues& options) {
    auto lhs = file_operand("--lhs-t", options.text("lhs-t"), "K,M", dtype_, warnings_);
    auto rhs = file_operand("--rhs", options.text("rhs"), "K,N", dtype_, warnings_);
    if (lhs.shape[0] != rhs.shape[0])
      throw UserError("--rhs", options.text("rhs") + ": K is " + std::to_string(rhs.shape[0]) + ", " +
                                   options.text("lhs-t") + " has " + std::to_string(lhs.shape[0]));
    k_ = lhs.shape[0];
    m_ = lhs.shape[1];
    n_ = rhs.shape[1];
    lhs_t_ = std::move(lhs.bytes);
    rhs_ = std::move(rhs.bytes);
  }

  static void fill_result(runtime::ProgramResult& result, const Driver& driver, const Schedule& schedule,
                          const Plan& plan) {
    const WorkCounters counted = driver.counters();
    const Prediction predicted = predict(plan);
    result.result = {{"macs", counted.macs},
                     {"matmuls", counted.matmuls},
                     {"pe_cycles", counted.pe_cycles},
                     {"lhs_dma_bytes", driver.class_bytes(schedule, QueueClass::inputs)},
                     {"rhs_dma_bytes", driver.class_bytes(schedule, QueueClass::weights)},
                     {"instructions", schedule.instructions()},
                     {"predicted", boost::json::object{{"macs", predicted.macs},
                                                       {"matmuls", predicted.matmuls},
                                                       {"pe_cycles", predicted.pe_cycles},
                                                       {"lhs_dma_bytes", predicted.lhs_bytes},
                                                       {"rhs_dma_bytes", predicted.rhs_bytes}}}};
  }

  std::optional<runtime::RunRequest> run_;
  std::int64_t m_ = 0, k_ = 0, n_ = 0;
  numeric::DType dtype_ = numeric::DType::bf16;
  RandomKind random_ = RandomKind::integers;
  std::vector<std::byte> lhs_t_, rhs_;
  std::string output_file_;
  std::vector<std::string> warnings_;
  std::optional<runtime::Tensor> output_;
};

}  // namespace

std::unique_ptr<runtime::Program> make_program() { return std::make_unique<Matmul>(); }

}  // namespace tilevp::neuron::matmul
