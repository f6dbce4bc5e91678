// SBUF and PSUM as DMA engines and the host see them.
#include <gtest/gtest.h>

#include "core_bench.hpp"
#include "tilevp/base/errors.hpp"

namespace {

using namespace tilevp::neuroncore;
using namespace tilevp::neuroncore::test;

TEST(MemoryMapped, AddressesBeyondTheUsableBytesAreErrors) {
  CoreBench bench;
  bench.before = [&] {
    bench.write_floats(Space::sbuf, 127, 180'224 - 8, std::vector<float>{1, 2});
    bench.write_floats(Space::sbuf, 0, 180'224 - 4, std::vector<float>{1, 2});
  };
  bench.program(Engine::sync, {});
  try {
    bench.run();
    FAIL() << "nothing was raised";
  } catch (const tilevp::Fault& fault) {
    EXPECT_EQ(fault.rule(), "memory.address_error");
  }
}

TEST(MemoryMapped, BytesNobodyWroteCannotBeRead) {
  CoreBench bench;
  bench.before = [&] {
    bench.write_floats(Space::psum, 3, 100, std::vector<float>{1, 2});
    EXPECT_EQ(bench.read_floats(Space::psum, 3, 100, 2), (std::vector<float>{1, 2}));
    bench.read_floats(Space::psum, 3, 100, 3);
  };
  bench.program(Engine::sync, {});
  try {
    bench.run();
    FAIL() << "nothing was raised";
  } catch (const tilevp::Fault& fault) {
    EXPECT_EQ(fault.rule(), "memory.undefined_read");
    EXPECT_NE(std::string(fault.what()).find("byte 108 of partition 3 of core0.psum"), std::string::npos)
        << fault.what();
  }
}

}  // namespace
