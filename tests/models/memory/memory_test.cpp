// The memory behind its socket: bytes, times by hand, definedness, the rules of the TLM-2.0 base protocol.
#include "tilevp/memory/memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/memory/bench.hpp"
#include "tilevp/base/errors.hpp"

namespace tilevp::memory::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Bench {
  explicit Bench(const MemoryParameters& parameters = byte_a_nanosecond(), const SimulationOptions& options = {})
      : simulation("simulation", options), memory("memory", simulation, parameters) {
    driver.memory.socket.bind(memory.socket);
    other.memory.socket.bind(memory.socket);
    foreign.socket.bind(memory.socket);
  }
  unsigned running = 0;
  Simulation simulation;
  Memory memory;
  Driver driver{"driver", simulation, 1, running};
  Driver other{"other", simulation, 2, running};
  ForeignInitiator foreign{"foreign"};

  std::uint64_t statistic(std::string_view name) { return simulation.statistics().value("memory", name); }
};

TEST(Memory, AStridedWriteLandsWhereThePatternSays) {
  Bench bench;
  bench.driver.body = [](Driver& driver) {
    driver.write(AccessPattern::contiguous(0, 64), ramp(64));
    driver.write(AccessPattern(8, 2, {{3, 16}, {2, 2}}), ramp(12, 100));
    EXPECT_EQ(driver.read(AccessPattern::contiguous(8, 4)), ramp(4, 100));
    EXPECT_EQ(driver.read(AccessPattern::contiguous(24, 4)), ramp(4, 104));
    EXPECT_EQ(driver.read(AccessPattern::contiguous(40, 4)), ramp(4, 108));
    EXPECT_EQ(driver.read(AccessPattern::contiguous(44, 20)), ramp(20, 44));
    // Backwards, byte by byte.
    EXPECT_THAT(driver.read(AccessPattern(3, 1, {{4, -1}})),
                ElementsAre(std::byte{3}, std::byte{2}, std::byte{1}, std::byte{0}));
  };
  bench.simulation.run();
}

TEST(Memory, AGrainTakesItsBytesAtThePortsRatePlusLatency) {
  MemoryParameters parameters = byte_a_nanosecond();
  parameters.latency_ns = 30;
  Bench bench(parameters);
  bench.driver.body = [](Driver& driver) {
    const AccessGrant grant = driver.write(AccessPattern::contiguous(0, 100), ramp(100));
    EXPECT_EQ(grant.begin_ps, 0u);
    EXPECT_EQ(grant.end_ps, 130'000u);
    EXPECT_EQ(now_ps(), 130'000u);
  };
  bench.simulation.run();
  EXPECT_EQ(bench.statistic("busy_ps"), 100'000u);
}

TEST(Memory, ReadsAndWritesShareTheCeilingAndEachKeepsItsOwnRate) {
  // Ceiling 16 bits a cycle, one direction 8: a read and a write of 100 bytes go at full rate side by side; two reads
  // queue for the direction.
  MemoryParameters parameters = byte_a_nanosecond();
  parameters.bandwidth.ceiling_bits_per_cycle = 16;
  Bench bench(parameters);
  std::vector<std::uint64_t> ends;
  bench.driver.body = [&](Driver& driver) {
    driver.write(AccessPattern::contiguous(0, 100), ramp(100));
    const std::uint64_t start = now_ps();
    ends.push_back(driver.memory.request(Command::read, AccessPattern::contiguous(0, 100), 0).end_ps - start);
    ends.push_back(driver.memory.request(Command::write, AccessPattern::contiguous(0, 100), 0).end_ps - start);
    ends.push_back(driver.memory.request(Command::read, AccessPattern::contiguous(0, 100), 0).end_ps - start);
  };
  bench.simulation.run();
  EXPECT_THAT(ends, ElementsAre(100'000u, 100'000u, 200'000u));
}

TEST(Memory, TwoAgentsOfOneInstantGoByPortNumberAndQueue) {
  Bench bench;
  std::vector<std::uint64_t> first(3), second(3);
  const auto reader = [](std::vector<std::uint64_t>& begins) {
    return [&begins](Driver& driver) {
      for (auto& begin : begins)
        begin = driver.memory.request(Command::read, AccessPattern::contiguous(0, 10), 0).begin_ps;
    };
  };
  bench.driver.body = reader(first);
  bench.other.body = reader(second);
  bench.simulation.run();
  // Round robin: 1, 2, 1, 2, 1, 2, each 10 ns.
  EXPECT_THAT(first, ElementsAre(0u, 20'000u, 40'000u));
  EXPECT_THAT(second, ElementsAre(10'000u, 30'000u, 50'000u));
}

TEST(Memory, ShortRunsWasteTheirBursts) {
  MemoryParameters parameters = byte_a_nanosecond();
  parameters.bandwidth.burst_bytes = 32;
  Bench bench(parameters);
  bench.driver.body = [](Driver& driver) {
    // 4 runs of 10 bytes: 4 bursts of 32 bytes.
    const AccessGrant grant = driver.write(AccessPattern(0, 1, {{4, 100}, {10, 1}}), ramp(40));
    EXPECT_EQ(grant.end_ps, 128'000u);
    EXPECT_EQ(grant.bursts, 4u);
    EXPECT_EQ(grant.wasted_bytes, 88u);
  };
  bench.simulation.run();
  EXPECT_EQ(bench.statistic("bytes_written"), 40u);
  EXPECT_EQ(bench.statistic("bytes_read"), 0u);
  EXPECT_EQ(bench.statistic("wasted_bytes"), 88u);
  EXPECT_EQ(bench.statistic("runs"), 4u);
  EXPECT_EQ(bench.statistic("bursts"), 4u);
  EXPECT_EQ(bench.statistic("transactions"), 1u);
}

TEST(Memory, AByteNobodyWroteIsAFault) {
  Bench bench;
  bench.driver.body = [](Driver& driver) {
    driver.write(AccessPattern::contiguous(0, 100), ramp(100));
    driver.read(AccessPattern(0, 1, {{11, 10}}));
  };
  try {
    bench.simulation.run();
    FAIL() << "expected a fault";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), "memory.undefined_read");
    EXPECT_THAT(fault.what(), HasSubstr("driver reads byte 0x64"));
    EXPECT_EQ(fault.module, "driver");
    EXPECT_EQ(fault.time_ps, 111'000u);
  }
}

TEST(Memory, AForeignInitiatorsUndefinedReadIsTheSameFault) {
  Bench bench;
  bench.driver.body = [&](Driver&) {
    std::vector<unsigned char> data(4);
    tlm::tlm_generic_payload payload;
    fill(payload, tlm::TLM_READ_COMMAND, 0x40, data);
    EXPECT_EQ(bench.foreign.send(payload), tlm::TLM_GENERIC_ERROR_RESPONSE);
  };
  try {
    bench.simulation.run();
    FAIL() << "expected a fault";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), "memory.undefined_read");
    EXPECT_THAT(fault.what(), HasSubstr("0x40"));
    EXPECT_EQ(fault.module, "memory");
  }
}

TEST(Memory, AnAddressBeyondTheEndIsAFaultWithInitiatorCommandAddressAndBytes) {
  Bench bench;
  bench.driver.body = [](Driver& driver) { driver.write(AccessPattern::contiguous((1 << 20) - 4, 8), ramp(8)); };
  try {
    bench.simulation.run();
    FAIL() << "expected a fault";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), "memory.address_error");
    EXPECT_STREQ(fault.what(), "driver: write of 8 bytes at 0xffffc: TLM_ADDRESS_ERROR_RESPONSE");
  }
}

TEST(Memory, APatternThatLeavesTheMemoryFarFromItsFirstRunIsAFault) {
  Bench bench;
  bench.driver.body = [](Driver& driver) { driver.write(AccessPattern(0, 1, {{2, 1 << 20}}), ramp(2)); };
  EXPECT_THROW(bench.simulation.run(), Fault);
}

TEST(Memory, BytesAppearAtTheEndOfTheAccess) {
  Bench bench;
  bench.driver.body = [](Driver& driver) {
    driver.write(AccessPattern::contiguous(0, 100), ramp(100));
    driver.write(AccessPattern::contiguous(0, 100), ramp(100, 7));
  };
  bench.other.body = [](Driver& driver) {
    std::vector<std::byte> byte(1);
    driver.agent.wait_until(199'999);
    driver.memory.debug(Command::read, 99, byte);
    EXPECT_EQ(byte[0], std::byte{99});
    driver.agent.wait_until(200'001);
    driver.memory.debug(Command::read, 99, byte);
    EXPECT_EQ(byte[0], std::byte{106});
  };
  bench.simulation.run();
}

TEST(Memory, APlainTransactionWaitsOffItsDelayAndEndsWithItsBytes) {
  Bench bench;
  bench.driver.body = [&](Driver&) {
    std::vector<unsigned char> data{1, 2, 3, 4};
    tlm::tlm_generic_payload payload;
    fill(payload, tlm::TLM_WRITE_COMMAND, 16, data);
    EXPECT_EQ(bench.foreign.send(payload, sc_core::sc_time(50, sc_core::SC_NS)), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(now_ps(), 54'000u);
    EXPECT_TRUE(payload.is_dmi_allowed());
  };
  bench.simulation.run();
}

TEST(Memory, ByteEnablesRepeatAndStreamingWidthWraps) {
  Bench bench;
  bench.driver.body = [&](Driver& driver) {
    driver.write(AccessPattern::contiguous(0, 8), std::vector<std::byte>(8));
    std::vector<unsigned char> data{1, 2, 3, 4, 5, 6, 7, 8};
    unsigned char enables[] = {TLM_BYTE_DISABLED, TLM_BYTE_ENABLED};
    tlm::tlm_generic_payload payload;
    fill(payload, tlm::TLM_WRITE_COMMAND, 0, data);
    payload.set_byte_enable_ptr(enables);
    payload.set_byte_enable_length(2);
    EXPECT_EQ(bench.foreign.send(payload), tlm::TLM_OK_RESPONSE);
    EXPECT_THAT(driver.read(AccessPattern::contiguous(0, 8)),
                ElementsAre(std::byte{0}, std::byte{2}, std::byte{0}, std::byte{4}, std::byte{0}, std::byte{6},
                            std::byte{0}, std::byte{8}));
    fill(payload, tlm::TLM_WRITE_COMMAND, 0, data);
    payload.set_streaming_width(3);
    EXPECT_EQ(bench.foreign.send(payload), tlm::TLM_OK_RESPONSE);
    EXPECT_THAT(driver.read(AccessPattern::contiguous(0, 4)),
                ElementsAre(std::byte{7}, std::byte{8}, std::byte{6}, std::byte{4}));
  };
  bench.simulation.run();
}

TEST(Memory, BrokenTransactionsGetTheStatusOfTheirRule) {
  Bench bench;
  bench.driver.body = [&](Driver&) {
    std::vector<unsigned char> data(8);
    tlm::tlm_generic_payload payload;
    fill(payload, tlm::TLM_WRITE_COMMAND, 1 << 20, data);
    EXPECT_EQ(bench.foreign.send(payload), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    fill(payload, tlm::TLM_READ_COMMAND, (1 << 20) - 7, data);
    EXPECT_EQ(bench.foreign.send(payload), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    fill(payload, tlm::TLM_WRITE_COMMAND, 0, data);
    payload.set_data_length(0);
    EXPECT_EQ(bench.foreign.send(payload), tlm::TLM_BURST_ERROR_RESPONSE);
    fill(payload, tlm::TLM_WRITE_COMMAND, 0, data);
    payload.set_streaming_width(0);
    EXPECT_EQ(bench.foreign.send(payload), tlm::TLM_BURST_ERROR_RESPONSE);
    fill(payload, tlm::TLM_WRITE_COMMAND, 0, data);
    unsigned char enable = TLM_BYTE_ENABLED;
    payload.set_byte_enable_ptr(&enable);
    payload.set_byte_enable_length(0);
    EXPECT_EQ(bench.foreign.send(payload), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    fill(payload, tlm::TLM_IGNORE_COMMAND, 0, data);
    payload.set_byte_enable_length(0);
    EXPECT_EQ(bench.foreign.send(payload), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(now_ps(), 0u);
  };
  bench.simulation.run();
  EXPECT_EQ(bench.statistic("transactions"), 0u);
}

TEST(Memory, DmiSpansTheWholeRangeAndSeesEveryEffect) {
  Bench bench;
  bench.driver.body = [&](Driver& driver) {
    tlm::tlm_generic_payload payload;
    std::vector<unsigned char> data(4);
    fill(payload, tlm::TLM_READ_COMMAND, 0x123, data);
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(bench.foreign.socket->get_direct_mem_ptr(payload, dmi));
    EXPECT_EQ(dmi.get_start_address(), 0u);
    EXPECT_EQ(dmi.get_end_address(), (1u << 20) - 1);
    EXPECT_TRUE(dmi.is_read_write_allowed());
    EXPECT_EQ(dmi.get_read_latency(), sc_core::sc_time(4, sc_core::SC_NS));
    dmi.get_dmi_ptr()[7] = 42;
    EXPECT_THAT(driver.read(AccessPattern::contiguous(7, 1)), ElementsAre(std::byte{42}));
    bool executed = false;
    bench.simulation.effects().append([&executed] { executed = true; });
    EXPECT_TRUE(executed);
  };
  bench.simulation.run();
}

TEST(Memory, DebugTransportMovesBytesWithoutTimeAndDefinesThem) {
  Bench bench;
  bench.driver.body = [](Driver& driver) {
    std::vector<std::byte> data = ramp(4);
    EXPECT_EQ(driver.memory.debug(Command::write, (1 << 20) - 2, data), 2u);
    EXPECT_EQ(driver.memory.debug(Command::read, 1 << 20, data), 0u);
    EXPECT_EQ(now_ps(), 0u);
    EXPECT_THAT(driver.read(AccessPattern::contiguous((1 << 20) - 2, 2)), ElementsAre(std::byte{0}, std::byte{1}));
  };
  bench.simulation.run();
}

TEST(Memory, RefusesParametersOutOfRangeByKey) {
  Simulation simulation("simulation");
  const auto message = [&](MemoryParameters parameters) -> std::string {
    try {
      const Memory memory("memory", simulation, parameters, "memories[2]");
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  MemoryParameters bad = byte_a_nanosecond();
  bad.latency_ns = -1;
  EXPECT_THAT(message(bad), HasSubstr("memories[2].latency_ns: expected 0 to 1e9"));
  bad = byte_a_nanosecond(0);
  EXPECT_THAT(message(bad), HasSubstr("memories[2].size_bytes"));
  bad = byte_a_nanosecond();
  bad.bandwidth.ceiling_bits_per_cycle = -8;
  EXPECT_THAT(message(bad), HasSubstr("memories[2].bandwidth"));
  bad = byte_a_nanosecond();
  bad.clock_hz = 0;
  EXPECT_NE(message(bad), "");
}

}  // namespace
}  // namespace tilevp::memory::testing
