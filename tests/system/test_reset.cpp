// A convolution after a fault in the same simulation: the host resets DMA engines and core, and gets the same bytes at
// the same time after the start.
#include <gtest/gtest.h>

#include "system/conv_kernel.hpp"
#include "tilevp/dma/descriptor.hpp"
#include "tilevp/dma/registers.hpp"
#include "tilevp/neuroncore/registers.hpp"
#include "tilevp/platform/builder.hpp"

namespace tilevp::test {
namespace {

namespace core = neuroncore::registers;
namespace ring = dma::registers;

constexpr std::uint32_t vector = 3;
constexpr unsigned dma_engine = 2, queue = 4;

class Machine {
 public:
  explicit Machine(runtime::Host& host) : host_(host), base_(host.region("core0").base) {}

  std::uint64_t control(std::uint64_t offset) const { return base_ + core::control_window + offset; }
  std::uint64_t dma(std::uint64_t offset) const {
    return base_ + core::dma_window + dma_engine * ring::window_bytes + offset;
  }
  std::uint32_t read(std::uint64_t address) const { return host_.read_value<std::uint32_t>(address); }
  void write(std::uint64_t address, std::uint32_t value) const { host_.write_value<std::uint32_t>(address, value); }
  void reset(std::uint64_t address) const {
    write(address, 1);
    while (read(address) != 0) continue;
  }

  // A copy of 1 MiB that does not end before the fault, with a semaphore and another descriptor behind it.
  void start_copy() const {
    dma::Descriptor copy;
    copy.source = memory::AccessPattern::contiguous(host_.region("hbm").base, 1 << 20);
    copy.destination = memory::AccessPattern::contiguous(host_.region("hbm").base + (1 << 22), 1 << 20);
    copy.signals = true;
    copy.semaphore = 40;
    copy.increment = 1;
    const std::uint64_t at = host_.region("hbm").base + (1 << 24);
    host_.write(host_.region("hbm").base, std::vector<std::byte>(1 << 20));
    for (unsigned i = 0; i < 2; ++i) host_.write(at + i * dma::descriptor_bytes, dma::encode(copy));
    host_.write_value<std::uint64_t>(dma(ring::queue_base(queue) + ring::ring_base), at);
    write(dma(ring::queue_base(queue) + ring::ring_size), 2);
    write(dma(ring::queue_base(queue) + ring::tail), 2);
  }

  // A record that is no instruction.
  void fault() const {
    const std::uint64_t at = host_.region("hbm").base + (1 << 25);
    host_.write(at, std::vector<std::byte>(neuroncore::instruction_bytes, std::byte{0xff}));
    write(control(core::fault_control), 1);
    host_.write_value<std::uint64_t>(control(core::sequencer(vector) + core::stream_base), at);
    write(control(core::sequencer(vector) + core::stream_count), 1);
    write(control(core::sequencer(vector) + core::start), 1);
    host_.wait_for_interrupt(0);
    EXPECT_EQ(read(control(core::interrupt)), 1U << (core::fault_interrupt_shift + vector));
    EXPECT_EQ(read(control(core::sequencer(vector) + core::status)), 3U);
  }

 private:
  runtime::Host& host_;
  std::uint64_t base_;
};

class Reset : public testing::TestWithParam<const char*> {};

TEST_P(Reset, AConvolutionAfterAFaultIsAsTheFirst) {
  const ConvRun run{.shape = {.N = 2, .C = 40, .H = 9, .W = 8, .O = 20, .Hf = 3, .Wf = 3, .pt = 1, .pb = 1}};
  const std::vector<std::string> overrides{std::string("dma.coding_style=") + GetParam(),
                                           std::string("hbm.coding_style=") + GetParam(), "checks.protocol=true"};
  platform::Platform platform(platform::load_description("trn1", overrides).description, {});
  platform.run([&](runtime::Host& host) {
    // Every clock of trn1 has an edge at each multiple of 25 ns.
    const auto timed_run = [&](std::vector<float>& output) {
      constexpr std::uint64_t grain = 1'000'000;
      sc_core::wait(from_ps(grain - now_ps() % grain));
      const std::uint64_t start = host.now_ps();
      output = run_kernel(host, run).output;
      return host.now_ps() - start;
    };
    std::vector<float> first, second;
    const auto first_ps = timed_run(first);
    EXPECT_EQ(first, expected_output(run, values_of(run)));

    const Machine machine(host);
    machine.start_copy();
    machine.fault();
    EXPECT_EQ(machine.read(machine.dma(ring::status)), 1U);
    machine.reset(machine.dma(ring::reset));
    EXPECT_EQ(machine.read(machine.dma(ring::status)), 0U);
    EXPECT_EQ(machine.read(machine.control(core::semaphore(40))), 0U);  // no descriptor came to its end
    machine.reset(machine.control(core::reset));
    EXPECT_EQ(machine.read(machine.dma(ring::queue_base(queue) + ring::ring_size)), 0U);
    EXPECT_EQ(machine.read(machine.control(core::interrupt)), 0U);

    EXPECT_EQ(timed_run(second), first_ps);
    EXPECT_EQ(second, first);
  });
}
INSTANTIATE_TEST_SUITE_P(CodingStyles, Reset, testing::Values("lt", "at"),
                         [](const auto& style) { return style.param; });

}  // namespace
}  // namespace tilevp::test
