// Translation, region borders, errors, debug and DMI through the router; memories of ours and of others behind it.
#include "tilevp/interconnect/router.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/memory/bench.hpp"
#include "tilevp/base/errors.hpp"

namespace tilevp::interconnect {
namespace {

using memory::AccessPattern;
using memory::Command;
using memory::Memory;
using memory::MemoryAccess;
using Piece = memory::Run;
using memory::testing::byte_a_nanosecond;
using memory::testing::Driver;
using memory::testing::fill;
using memory::testing::ForeignInitiator;
using memory::testing::ForeignMemory;
using memory::testing::ramp;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 0x1000 .. 0x1fff: our memory from its address 0x100 on; 0x2000 .. 0x2fff: a foreign one; 0x8000: our second.
struct Bench {
  explicit Bench(std::uint64_t latency_ps = 0)
      : router("router",
               {{"second", 0x8000, 0x1000, 2, 0}, {"first", 0x1000, 0x1000, 0, 0x100}, {"foreign", 0x2000, 0x1000, 1}},
               latency_ps) {
    router.out(0).bind(first.socket);
    router.out(1).bind(foreign.socket);
    router.out(2).bind(second.socket);
    driver.memory.socket.bind(router.in);
    plain.socket.bind(router.in);
  }
  void run(std::function<void()> body) {
    driver.body = [body = std::move(body)](Driver&) { body(); };
    simulation.run();
  }
  unsigned running = 0;
  Simulation simulation{"simulation"};
  Memory first{"first", simulation, byte_a_nanosecond(0x1100)};
  ForeignMemory foreign{"foreign", 0x1000, sc_core::sc_time(100, sc_core::SC_NS)};
  Memory second{"second", simulation, byte_a_nanosecond(0x1000)};
  Driver driver{"driver", simulation, 1, running};
  ForeignInitiator plain{"plain"};
  Router router;
};

TEST(Router, TranslatesAddressesAndRestoresThem) {
  Bench bench;
  bench.run([&] {
    std::vector<unsigned char> data{1, 2, 3, 4};
    tlm::tlm_generic_payload payload;
    MemoryAccess access;
    access.pattern = AccessPattern(0x1010, 1, {{2, 0x20}, {2, 1}});
    fill(payload, tlm::TLM_WRITE_COMMAND, 0x1010, data);
    payload.set_data_length(2);
    payload.set_streaming_width(2);
    payload.set_extension(&access);
    EXPECT_EQ(bench.plain.send(payload), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(payload.get_address(), 0x1010u);
    EXPECT_TRUE(access.served);
    EXPECT_EQ(access.pattern, AccessPattern(0x1010, 1, {{2, 0x20}, {2, 1}}));
    EXPECT_EQ(access.direct_pattern, AccessPattern(0x110, 1, {{2, 0x20}, {2, 1}}));
    payload.clear_extension(&access);
    std::vector<std::byte> seen(2);
    bench.driver.memory.debug(Command::read, 0x1030, seen);
    EXPECT_THAT(seen, ElementsAre(std::byte{3}, std::byte{4}));
  });
}

TEST(Router, APatternInOneRegionIsOneTransaction) {
  Bench bench;
  bench.run([&] {
    EXPECT_TRUE(bench.driver.memory.is_direct(AccessPattern(0x1000, 1, {{4, 0x100}, {8, 1}})));
    bench.driver.write(AccessPattern(0x1000, 1, {{4, 0x100}, {8, 1}}), ramp(32));
    EXPECT_EQ(bench.driver.read(AccessPattern(0x1300, 1, {{8, 1}})), ramp(8, 24));
  });
  EXPECT_EQ(bench.simulation.statistics().value("first", "transactions"), 2u);
}

TEST(Router, APatternAcrossRegionsGoesRunByRunWithTheSameBytes) {
  Bench bench;
  const AccessPattern across(0x1ff0, 1, {{3, 0x800}, {16, 1}});  // 1ff0: ours, 27f0 and 2ff0: the foreign memory
  bench.run([&] {
    EXPECT_FALSE(bench.driver.memory.is_direct(across));
    const auto grant = bench.driver.write(across, ramp(48));
    EXPECT_FALSE(grant.served);
    EXPECT_EQ(grant.end_ps, 216'000u);  // 16 ns in ours, twice 100 ns in the foreign one
    EXPECT_EQ(bench.driver.read(across), ramp(48));
  });
  EXPECT_EQ(bench.simulation.statistics().value("first", "transactions"), 2u);
  EXPECT_THAT(bench.foreign.accesses,
              ElementsAre(Piece{0x7f0, 16}, Piece{0xff0, 16}, Piece{0x7f0, 16}, Piece{0xff0, 16}));
}

TEST(Router, AForeignMemoryIsSentEachRunByItself) {
  Bench bench;
  bench.run([&] {
    const AccessPattern pattern(0x2010, 2, {{3, 0x40}, {4, 2}});
    EXPECT_FALSE(bench.driver.memory.is_direct(pattern));
    bench.driver.write(pattern, ramp(24));
    EXPECT_EQ(now_ps(), 300'000u);
    EXPECT_EQ(bench.driver.read(pattern), ramp(24));
  });
  EXPECT_THAT(std::vector(bench.foreign.accesses.begin(), bench.foreign.accesses.begin() + 3),
              ElementsAre(Piece{0x10, 8}, Piece{0x50, 8}, Piece{0x90, 8}));
}

TEST(Router, AnAddressWithoutRegionIsAnAddressError) {
  Bench bench;
  bench.run([&] {
    std::vector<unsigned char> data(8);
    tlm::tlm_generic_payload payload;
    for (const std::uint64_t address :
         {0xff8ull, 0x3000ull, 0x7fffull, 0x9000ull, 0x8ff9ull, 0xffff'ffff'ffff'fff8ull}) {
      fill(payload, tlm::TLM_WRITE_COMMAND, address, data);
      EXPECT_EQ(bench.plain.send(payload), tlm::TLM_ADDRESS_ERROR_RESPONSE) << std::hex << address;
    }
    tlm::tlm_dmi dmi;
    payload.set_address(0x3000);
    EXPECT_FALSE(bench.plain.socket->get_direct_mem_ptr(payload, dmi));
    std::vector<std::byte> none(4);
    EXPECT_EQ(bench.driver.memory.debug(Command::read, 0x3000, none), 0u);
  });
}

TEST(Router, ARunAcrossABorderIsAFault) {
  Bench bench;
  bench.driver.body = [](Driver& driver) { driver.write(AccessPattern::contiguous(0x1ff8, 16), ramp(16)); };
  try {
    bench.simulation.run();
    FAIL() << "expected a fault";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), "memory.address_error");
    EXPECT_THAT(fault.what(), HasSubstr("write of 16 bytes at 0x1ff8"));
  }
}

TEST(Router, DebugTransportIsCutAtTheBorder) {
  Bench bench;
  bench.run([&] {
    std::vector<std::byte> data = ramp(16);
    EXPECT_EQ(bench.driver.memory.debug(Command::write, 0x1ff8, data), 8u);
    EXPECT_EQ(bench.driver.memory.debug(Command::write, 0x8000, data), 16u);
    EXPECT_EQ(now_ps(), 0u);
    EXPECT_EQ(bench.driver.read(AccessPattern::contiguous(0x1ff8, 8)), ramp(8));
  });
}

TEST(Router, DmiComesBackInTheAddressesOfTheMap) {
  Bench bench;
  bench.run([&] {
    tlm::tlm_generic_payload payload;
    std::vector<unsigned char> data(4);
    fill(payload, tlm::TLM_READ_COMMAND, 0x1234, data);
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(bench.plain.socket->get_direct_mem_ptr(payload, dmi));
    EXPECT_EQ(payload.get_address(), 0x1234u);
    EXPECT_EQ(dmi.get_start_address(), 0x1000u);
    EXPECT_EQ(dmi.get_end_address(), 0x1fffu);
    dmi.get_dmi_ptr()[0x234] = 77;
    EXPECT_THAT(bench.driver.read(AccessPattern::contiguous(0x1234, 1)), ElementsAre(std::byte{77}));
  });
}

TEST(Router, ItsLatencyIsAddedToEveryAccess) {
  Bench bench(7'000);
  bench.run([&] {
    EXPECT_EQ(bench.driver.write(AccessPattern::contiguous(0x8000, 10), ramp(10)).end_ps, 17'000u);
    EXPECT_EQ(bench.driver.write(AccessPattern::contiguous(0x2000, 10), ramp(10)).end_ps, 124'000u);
  });
}

TEST(Router, PrintsItsMapByAddress) {
  Bench bench;
  EXPECT_EQ(bench.router.map_text(),
            "0x0000000000001000 - 0x0000000000001fff            4096 bytes  first\n"
            "0x0000000000002000 - 0x0000000000002fff            4096 bytes  foreign\n"
            "0x0000000000008000 - 0x0000000000008fff            4096 bytes  second\n");
  bench.run([] {});
}

std::string refusal(std::vector<Region> regions) {
  try {
    const Router router("router", std::move(regions), 0, "platform.map");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(RouterMap, NamesBothRegionsThatOverlap) {
  EXPECT_EQ(refusal({{"hbm", 0, 0x1000, 0}, {"core0", 0xfff, 0x10, 1}}),
            "platform.map: regions overlap: hbm [0x0, 0xfff] and core0 [0xfff, 0x100e]");
}
TEST(RouterMap, RefusesAnEmptyRegion) {
  EXPECT_THAT(refusal({{"hbm", 0, 0, 0}}), HasSubstr("region hbm: expected a size of at least 1, found 0"));
}
TEST(RouterMap, RefusesARegionBeyondTheAddressSpace) {
  EXPECT_THAT(refusal({{"hbm", 0xffff'ffff'ffff'f000, 0x2000, 0}}), HasSubstr("ends beyond 2^64"));
}
TEST(RouterMap, TakesTheWholeAddressSpaceUpToItsLastByte) {
  EXPECT_EQ(refusal({{"hbm", 0xffff'ffff'ffff'f000, 0x1000, 0}}), "");
}

}  // namespace
}  // namespace tilevp::interconnect
