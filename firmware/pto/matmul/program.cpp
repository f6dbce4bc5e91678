#include "tilevp/pto/matmul/program.hpp"

#include <chrono>
#include <span>

#include "tilevp/base/errors.hpp"
#include "tilevp/pto/driver.hpp"
#include "tilevp/pto/matmul/emitter.hpp"
#include "tilevp/pto/matmul/options.hpp"
#include "tilevp/pto/matmul/reference.hpp"
#include "tilevp/pto/operand.hpp"
#include "tilevp/runtime/compare.hpp"
#include "tilevp/runtime/npy.hpp"

namespace tilevp::pto::matmul {
namespace {

constexpr std::int64_t largest = 1 << 20;

class Product final : public runtime::Program {
 public:
  explicit Product(bool gemv) : gemv_(gemv) {}
  std::string_view name() const override { return gemv_ ? "cube/tgemv" : "cube/tmatmul"; }
  std::string_view summary() const override {
    return gemv_ ? "a vector times a matrix of any size on the CUBE core's PEs"
                 : "a matrix product of any size on the CUBE core's PEs";
  }
  std::string_view machine() const override { return "cube"; }
  std::vector<runtime::OptionDescription> options() const override { return option_descriptions(gemv_); }

  void prepare(const runtime::RunRequest& request) override {
    run_ = request;
    const auto& options = request.options;
    request_ = read_request(gemv_, options);
    random_ = runtime::parse_random("--random", options.text("random"));
    output_file_ = options.text("output");
    if (request.check.kind == runtime::CheckRequest::Kind::tolerance &&
        (request_.prequant.code != 0 || request_.relu != 0))
      throw UserError("--check", "tolerance compares sums; with --prequant or --relu: exact or ulp");
    const bool files = options.has("input") || options.has("weights");
    if (files == options.has("shape"))
      throw UserError(std::string(name()), "expected either --input and --weights, or --shape");
    if (files)
      read_files(options);
    else
      read_shape(options);
    read_words(request_, options, warnings_);
  }

  std::string describe(runtime::Host& host) override {
    const Machine machine = Driver(host).machine();
    const Plan plan = make_plan(request_, machine);
    Code code(machine.absolute_selectors);
    emit(code, plan);
    return plan.text(code.loads());
  }

  runtime::ProgramResult run(runtime::Host& host) override {
    Driver driver(host);
    const Plan plan = make_plan(request_, driver.machine());
    // Room for all first: values that do not fit are neither drawn nor written.
    const auto row = [](std::uint64_t columns, cube::DataType type) { return (columns * bits(type) + 7) / 8; };
    Addresses addresses{.a_stride = row(request_.k, request_.a_type),
                        .b_stride = row(request_.n, request_.b_type),
                        .d_stride = row(request_.n, request_.d_type())};
    addresses.a = driver.allocate("A", request_.m * addresses.a_stride);
    addresses.b = driver.allocate("B", request_.k * addresses.b_stride);
    addresses.d = driver.allocate("D", request_.m * addresses.d_stride);
    if (request_.bias) addresses.bias = driver.allocate("bias", row(request_.n, request_.accumulator()));
    const auto store_words = [&](const char* what, bool is_vector, const std::vector<std::uint64_t>& words) {
      return is_vector ? driver.store(what, std::as_bytes(std::span(words))) : 0;
    };
    addresses.quant = store_words("parameters of the conversion", request_.quant_is_vector(), request_.quant_words);
    addresses.slope = store_words("slopes", request_.slope_is_vector(), request_.slope_words);
    draw();
    host.write(addresses.a, a_.bytes);
    host.write(addresses.b, b_.bytes);
    if (request_.bias) host.write(addresses.bias, bias_.bytes);
    Code code(driver.machine().absolute_selectors);
    emit(code, plan);
    for (const StartValue& start : start_values(plan, addresses)) driver.set_gpr(start.gpr, start.value);

    runtime::ProgramResult result;
    result.kernel_ps = driver.run(code.words());
    result.warnings = warnings_;
    fill_result(result, driver, plan, code);
    Matrix d(request_.d_type(), request_.m, request_.n);
    host.read(addresses.d, d.bytes);
    if (!run_->arithmetic) return result;  // what was read takes its time and means nothing
    output_ = tensor_of(d, {request_.m, request_.n});
    verify(plan, driver.machine(), result);
    if (!output_file_.empty()) result.files["output"] = output_file_;
    return result;
  }

  void write_outputs() override {
    if (!output_file_.empty() && output_) runtime::write_npy(output_file_, *output_);
  }

 private:
  void read_shape(const runtime::OptionValues& options) {
    const auto sizes = options.integers("shape", gemv_ ? 2 : 3);
    for (const std::int64_t size : sizes)
      if (size < 1 || size > largest)
        throw UserError("--shape",
                        "expected sizes from 1 to " + std::to_string(largest) + ", found " + std::to_string(size));
    request_.m = gemv_ ? 1 : static_cast<std::uint64_t>(sizes[0]);
    request_.k = static_cast<std::uint64_t>(sizes[gemv_ ? 0 : 1]);
    request_.n = static_cast<std::uint64_t>(sizes.back());
    if (options.has("bias")) {
      if (options.text("bias") == "random") return;
      read_bias(options);
    }
  }

  void read_files(const runtime::OptionValues& options) {
    for (const char* option : {"input", "weights"})
      if (!options.has(option)) throw UserError("--" + std::string(option), "is missing");
    a_ = file_matrix("--input", options.text("input"), gemv_ ? "1,K" : "M,K", request_.a_type, warnings_);
    b_ = file_matrix("--weights", options.text("weights"), "K,N", request_.b_type, warnings_);
    if (a_.columns != b_.rows)
      throw UserError("--weights", options.text("weights") + ": K is " + std::to_string(b_.rows) + ", " +
                                       options.text("input") + " has " + std::to_string(a_.columns));
    request_.m = a_.rows;
    request_.k = b_.rows;
    request_.n = b_.columns;
    if (options.has("bias") && options.text("bias") != "random") read_bias(options);
  }

  void read_bias(const runtime::OptionValues& options) {
    bias_ = file_matrix("--bias", options.text("bias"), "1,N", request_.accumulator(), warnings_);
    if (bias_.columns != request_.n)
      throw UserError("--bias", options.text("bias") + ": N is " + std::to_string(bias_.columns) + ", expected " +
                                    std::to_string(request_.n));
  }

  // What no file gave.
  void draw() {
    const auto fill = [&](Matrix& matrix, cube::DataType type, std::uint64_t rows, std::uint64_t columns,
                          const char* what) {
      if (matrix.rows == 0) matrix = random_matrix(random_, type, rows, columns, run_->seed, what);
    };
    fill(a_, request_.a_type, request_.m, request_.k, "input");
    fill(b_, request_.b_type, request_.k, request_.n, "weights");
    if (request_.bias) fill(bias_, request_.accumulator(), 1, request_.n, "bias");
  }

  void verify(const Plan& plan, const Machine& machine, runtime::ProgramResult& result) {
    using Kind = runtime::CheckRequest::Kind;
    if (run_->check.kind == Kind::none) return;
    const auto begin = std::chrono::steady_clock::now();
    const Matrix* const bias = request_.bias ? &bias_ : nullptr;
    const runtime::Tensor expected = run_->check.kind == Kind::tolerance
                                         ? runtime::make_tensor(output_->shape, reference_in_double(a_, b_, bias))
                                         : in_order(plan, machine, bias);
    result.reference_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.verification = runtime::verification_of(runtime::compare(*output_, expected, run_->check, "D"));
  }

  runtime::Tensor in_order(const Plan& plan, const Machine& machine, const Matrix* bias) const {
    if (machine.accumulate > 1)
      throw UserError("--check", "the platform adds raw codes (cube.accumulate), which no reference here does");
    return tensor_of(reference_in_order(plan, a_, b_, bias, static_cast<Sum>(machine.accumulate)), output_->shape);
  }

  void fill_result(runtime::ProgramResult& result, const Driver& driver, const Plan& plan, const Code& code) const {
    const WorkCounters counted = driver.counters();
    result.result = {{"macs", counted.macs},
                     {"issued_macs", counted.issued_macs},
                     {"bundles", counted.bundles},
                     {"loads", counted.loads},
                     {"stores", counted.stores},
                     {"instructions", counted.words},
                     {"flags", driver.flags()},
                     {"kernel_ps", result.kernel_ps},
                     {"predicted", boost::json::object{{"macs", request_.m * request_.n * request_.k},
                                                       {"bundles", code.bundles()},
                                                       {"loads", code.loads()},
                                                       {"stores", plan.stores()},
                                                       {"instructions", code.instructions()}}}};
  }

  bool gemv_;
  std::optional<runtime::RunRequest> run_;
  Request request_;
  runtime::RandomKind random_ = runtime::RandomKind::integers;
  Matrix a_, b_, bias_;
  std::string output_file_;
  std::vector<std::string> warnings_;
  std::optional<runtime::Tensor> output_;
};

}  // namespace

std::unique_ptr<runtime::Program> make_tgemv() { return std::make_unique<Product>(true); }
std::unique_ptr<runtime::Program> make_tmatmul() { return std::make_unique<Product>(false); }

}  // namespace tilevp::pto::matmul
