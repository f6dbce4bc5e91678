// What the builder connects: DMA engines, semaphores, interrupts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilevp/dma/descriptor.hpp"
#include "tilevp/dma/registers.hpp"
#include "tilevp/neuroncore/registers.hpp"
#include "tilevp/platform/builder.hpp"

namespace tilevp::platform {
namespace {

namespace core = neuroncore::registers;
namespace ring = dma::registers;

std::uint64_t engine_register(runtime::Host& host, unsigned engine, std::uint64_t offset) {
  return host.region("core0").base + core::dma_window + engine * ring::window_bytes + offset;
}

// One empty descriptor that interrupts, on queue 3 of `engine`.
void ring_doorbell(runtime::Host& host, unsigned engine) {
  dma::Descriptor descriptor;
  descriptor.empty = descriptor.interrupts = true;
  const std::uint64_t address = host.region("hbm").base + engine * 0x1000;
  host.write(address, dma::encode(descriptor));
  host.write_value<std::uint64_t>(engine_register(host, engine, ring::queue_base(3) + ring::ring_base), address);
  host.write_value<std::uint32_t>(engine_register(host, engine, ring::queue_base(3) + ring::ring_size), 1);
  host.write_value<std::uint32_t>(engine_register(host, engine, ring::queue_base(3) + ring::tail), 1);
}

TEST(Builder, DmaEnginesShareAnInterruptLineThatIsALevel) {
  Platform machine(load_description("trn1", {}).description, {});
  std::vector<std::uint32_t> pending;
  const auto sample = [&](runtime::Host& host) {
    host.wait_for_interrupt(ring::interrupt_line);
    for (const unsigned engine : {0u, 5u})
      pending.push_back(host.read_value<std::uint32_t>(engine_register(host, engine, ring::interrupt)));
  };
  try {
    machine.run(
        [&](runtime::Host& host) {
          ring_doorbell(host, 0);
          sample(host);
          ring_doorbell(host, 5);
          while (host.read_value<std::uint32_t>(engine_register(host, 5, ring::interrupt)) == 0) {
          }
          // One of two clears: the line stays high.
          host.write_value<std::uint32_t>(engine_register(host, 0, ring::interrupt), 8);
          sample(host);
          host.write_value<std::uint32_t>(engine_register(host, 5, ring::interrupt), 8);
          host.wait_for_interrupt(ring::interrupt_line);
          ADD_FAILURE() << "the line stayed high";
        },
        1'000'000'000);
    ADD_FAILURE() << "expected a wait without an end";
  } catch (const NoEnd& error) {
    ASSERT_EQ(error.waiting().size(), 1u);
    EXPECT_EQ(error.waiting()[0].what, "interrupt line 8");
  }
  EXPECT_THAT(pending, testing::ElementsAre(8, 0, 0, 8));
}

}  // namespace
}  // namespace tilevp::platform
