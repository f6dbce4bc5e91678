#include "tilevp/neuron/bench/program.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/driver.hpp"

namespace tilevp::neuron::bench {
namespace {

// Throughput over contiguous bytes a partition, in per cent of that at 32768 bytes. AWS Neuron documentation, NKI DMA
// overview, figure of DMA throughput over free-axis size for 128 partitions; read off the bars.
struct PublishedPoint {
  std::int64_t run_bytes;
  double percent;
};
constexpr std::array<PublishedPoint, 11> published_curve{{{32, 1.3},
                                                          {64, 2.5},
                                                          {128, 5.0},
                                                          {256, 10.3},
                                                          {512, 20.7},
                                                          {1024, 42.2},
                                                          {2048, 81.3},
                                                          {4096, 96.6},
                                                          {8192, 98.3},
                                                          {16384, 99.2},
                                                          {32768, 100.0}}};

enum class Direction { load, store, local };
constexpr std::array<std::pair<Direction, const char*>, 3> directions{
    {{Direction::load, "load"}, {Direction::store, "store"}, {Direction::local, "local"}}};

struct Point {
  Direction direction = Direction::load;
  std::int64_t engines = 1;
  std::int64_t run_bytes = 1;
  double bytes_per_ns = 0;
};

class Bench final : public runtime::Program {
 public:
  std::string_view name() const override { return "dma/bench"; }
  std::string_view summary() const override { return "DMA throughput by run length, engines and direction"; }
  std::string_view machine() const override { return "neuroncore"; }
  std::vector<runtime::OptionDescription> options() const override {
    return {{"engines", "COUNTS", "1,16", "numbers of DMA engines to use, separated by commas"},
            {"direction", "all|load|store|local", "all", "HBM to SBUF, SBUF to HBM, SBUF to SBUF"}};
  }

  void prepare(const runtime::RunRequest& request) override {
    if (request.check.kind != runtime::CheckRequest::Kind::none)
      throw UserError("--check", "dma/bench writes no tensor, so there is nothing to check");
    progress_ = request.progress;
    const std::string engines = request.options.text("engines");
    const auto count = static_cast<std::size_t>(std::count(engines.begin(), engines.end(), ',') + 1);
    engines_ = request.options.integers("engines", count);
    for (const std::int64_t n : engines_)
      if (n < 1) throw UserError("--engines", "expected at least 1, found " + std::to_string(n));
    const std::string text = request.options.text("direction");
    directions_.clear();
    for (const auto& [direction, direction_name] : directions)
      if (text == "all" || text == direction_name) directions_.push_back(direction);
    if (directions_.empty()) throw UserError("--direction", "expected all, load, store or local, found '" + text + "'");
  }

  std::string describe(runtime::Host&) override {
    return "dma/bench: " + std::to_string(published_curve.size()) + " run lengths from 32 to 32768 bytes, " +
           std::to_string(engines_.size()) + " numbers of engines, " + std::to_string(directions_.size()) +
           " directions; each from the difference of two copies, so that start latency does not count\n";
  }

  runtime::ProgramResult run(runtime::Host& host) override {
    Driver driver(host);
    const Machine& machine = driver.machine();
    for (const std::int64_t n : engines_)
      if (n > machine.dma_engines)
        throw UserError("--engines",
                        std::to_string(n) + " asked for, the core has " + std::to_string(machine.dma_engines));
    // Everything the copies read is written first.
    const std::vector<std::byte> zeros(std::size_t{machine.dma_engines} * machine.sbuf_bytes);
    hbm_ = driver.store("bench", zeros);
    fill_sbuf(driver);
    std::vector<Point> points;
    const double total = static_cast<double>(directions_.size() * engines_.size() * published_curve.size());
    for (const Direction direction : directions_)
      for (const std::int64_t engines : engines_)
        for (const auto& [bytes, percent] : published_curve) {
          points.push_back(measure(driver, direction, engines, bytes));
          if (progress_) progress_("copies", static_cast<double>(points.size()) / total);
        }
    runtime::ProgramResult result = result_of(points);
    result.kernel_ps = kernels_ps_;
    result.result["kernel_ps"] = kernels_ps_;
    return result;
  }

 private:
  static void fill_sbuf_part(Kernel& kernel, const Tensor& from) {
    const Machine& machine = kernel.machine();
    const auto size = static_cast<std::int64_t>(machine.sbuf_bytes);
    const Tensor all = kernel.sbuf("all", numeric::DType::uint8, 0, size);
    kernel.dma_copy(all.ap({{size, machine.dma_engines}, {1, size}}), from.ap({{size, machine.dma_engines}, {1, size}}),
                    QueueClass::inputs);
  }

  Tensor hbm_tensor(Kernel& kernel) const {
    const Machine& machine = kernel.machine();
    return kernel.hbm("bench", numeric::DType::uint8, hbm_, machine.dma_engines, machine.sbuf_bytes);
  }

  void fill_sbuf(Driver& driver) {
    Kernel kernel(driver.machine());
    fill_sbuf_part(kernel, hbm_tensor(kernel));
    run_kernel(driver, kernel);
  }

  std::uint64_t run_kernel(Driver& driver, const Kernel& kernel) {
    const std::uint64_t time_ps = driver.run(schedule(kernel));
    kernels_ps_ += time_ps;
    return time_ps;
  }

  // Time of a kernel of one copy of `runs` runs in each of `engines`
  // partitions. The runs lie apart, so that each is one of its own.
  double time_us(Driver& driver, const Point& point, std::int64_t runs) {
    Kernel kernel(driver.machine());
    const auto half = static_cast<std::int64_t>(driver.machine().sbuf_bytes) / 2;
    const Tensor memory = hbm_tensor(kernel);
    const Tensor near = kernel.sbuf("near", numeric::DType::uint8, 0, half);
    const Tensor far = kernel.sbuf("far", numeric::DType::uint8, static_cast<std::uint64_t>(half), half);
    const auto rows = [&](const Tensor& tensor) {
      return tensor.ap({{tensor.info().free_size, point.engines}, {step(point.run_bytes), runs}, {1, point.run_bytes}});
    };
    const Access to = rows(point.direction == Direction::store ? memory : near);
    const Access from = rows(point.direction == Direction::load    ? memory
                             : point.direction == Direction::store ? near
                                                                   : far);
    kernel.dma_copy(to, from, QueueClass::inputs);
    return static_cast<double>(run_kernel(driver, kernel)) / 1e6;
  }

  static std::int64_t step(std::int64_t run_bytes) { return run_bytes + 64; }

  Point measure(Driver& driver, Direction direction, std::int64_t engines, std::int64_t bytes) {
    Point point{direction, engines, bytes};
    const auto half = static_cast<std::int64_t>(driver.machine().sbuf_bytes) / 2;
    const std::int64_t many = std::clamp<std::int64_t>(half / step(bytes), 2, 257);
    const double further_us = time_us(driver, point, many) - time_us(driver, point, 1);
    point.bytes_per_ns = static_cast<double>((many - 1) * bytes * engines) / (further_us * 1000.0);
    return point;
  }

  static const char* name_of(Direction direction) {
    for (const auto& [known, text] : directions)
      if (known == direction) return text;
    return "";
  }

  static runtime::ProgramResult result_of(const std::vector<Point>& points) {
    runtime::ProgramResult result;
    boost::json::array table;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Point& point = points[i];
      const std::size_t at = i % published_curve.size();
      const double best = points[i - at + published_curve.size() - 1].bytes_per_ns;
      const double percent = 100.0 * point.bytes_per_ns / best;
      std::array<char, 32> key{};
      std::array<char, 128> text{};
      std::snprintf(key.data(), key.size(), "%s %lldx%lld", name_of(point.direction),
                    static_cast<long long>(point.engines), static_cast<long long>(point.run_bytes));
      std::snprintf(text.data(), text.size(), "%8.3f bytes/ns, %5.1f %% (published %5.1f %%)", point.bytes_per_ns,
                    percent, published_curve[at].percent);
      result.result[key.data()] = text.data();
      table.push_back({{"direction", name_of(point.direction)},
                       {"engines", point.engines},
                       {"run_bytes", point.run_bytes},
                       {"bytes_per_ns", point.bytes_per_ns},
                       {"percent_of_longest_run", percent},
                       {"published_percent", published_curve[at].percent}});
    }
    result.result["table"] = std::move(table);
    return result;
  }

  std::function<void(std::string_view, double)> progress_;
  std::vector<std::int64_t> engines_;
  std::vector<Direction> directions_;
  std::uint64_t hbm_ = 0;
  std::uint64_t kernels_ps_ = 0;  // of all kernels run
};

}  // namespace

std::unique_ptr<runtime::Program> make_program() { return std::make_unique<Bench>(); }

}  // namespace tilevp::neuron::bench
