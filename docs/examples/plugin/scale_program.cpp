#include "scale_program.hpp"

#include <span>
#include <vector>

#include "tilevp/neuron/driver.hpp"
#include "tilevp/neuron/kernel.hpp"
#include "tilevp/neuron/scheduler.hpp"

namespace example {
namespace {

namespace neuron = tilevp::neuron;
namespace runtime = tilevp::runtime;
using tilevp::numeric::DType;

class Scale final : public runtime::Program {
 public:
  std::string_view name() const override { return "example/scale"; }
  std::string_view summary() const override { return "doubles a tile of fp32 numbers on the vector engine"; }
  std::vector<runtime::OptionDescription> options() const override {
    return {{"columns", "N", "32", "numbers in each partition, 1 to 4096"}};
  }
  void prepare(const runtime::RunRequest& request) override { columns_ = request.options.integer("columns", 1, 4096); }
  std::string describe(runtime::Host& host) override {
    const neuron::Driver driver(host);
    return "example/scale: a tile of " + std::to_string(driver.machine().partitions) + " x " +
           std::to_string(columns_) + " numbers, loaded, doubled and stored at once\n";
  }

  runtime::ProgramResult run(runtime::Host& host) override {
    neuron::Driver driver(host);
    const auto rows = std::int64_t{driver.machine().partitions};
    std::vector<float> x(static_cast<std::size_t>(rows * columns_));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 251) - 125.0F;

    runtime::ProgramResult result;
    const std::uint64_t before_write_ps = host.now_ps();
    const std::uint64_t input = driver.store("x", std::as_bytes(std::span(x)));
    result.result["write_ps"] = host.now_ps() - before_write_ps;
    const std::uint64_t output = driver.allocate("y", x.size() * sizeof(float));

    result.kernel_ps = driver.run(kernel(driver.machine(), input, output, rows));
    result.result["kernel_ps"] = result.kernel_ps;

    std::vector<float> y(x.size());
    const std::uint64_t before_read_ps = host.now_ps();
    host.read(output, std::as_writable_bytes(std::span(y)));
    result.result["read_ps"] = host.now_ps() - before_read_ps;
    result.verification = compare(x, y);
    return result;
  }

 private:
  neuron::Schedule kernel(const neuron::Machine& machine, std::uint64_t input, std::uint64_t output,
                          std::int64_t rows) const {
    neuron::Kernel kernel(machine);
    const auto x = kernel.hbm("x", DType::fp32, input, rows, columns_);
    const auto y = kernel.hbm("y", DType::fp32, output, rows, columns_);
    const auto tile = kernel.sbuf("tile", DType::fp32, 0, columns_);
    kernel.dma_copy(tile.all(), x.all(), neuron::QueueClass::inputs);
    kernel.tensor_scalar(tile.all(), tile.all(), neuron::AluOp::multiply, 2.0F);
    kernel.dma_copy(y.all(), tile.all(), neuron::QueueClass::outputs);
    return neuron::schedule(kernel);
  }

  runtime::Verification compare(const std::vector<float>& x, const std::vector<float>& y) const {
    runtime::Verification found{.kind = "exact", .compared = x.size()};
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (y[i] == 2 * x[i]) continue;
      if (found.mismatches++ > 0) continue;
      const auto columns = static_cast<std::size_t>(columns_);
      found.first_index = {i / columns, i % columns};
      found.first_got = y[i];
      found.first_expected = 2 * x[i];
    }
    return found;
  }

  std::int64_t columns_ = 0;
};

}  // namespace

std::unique_ptr<runtime::Program> make_scale() { return std::make_unique<Scale>(); }

}  // namespace example
