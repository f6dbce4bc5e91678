// Registers behind their socket: access rules, callbacks, statuses, the printed reference.
#include "tilevp/base/register_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>

#include "tilevp/base/errors.hpp"

namespace tilevp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Device : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Device> host{"host"};

  explicit Device(sc_core::sc_module_name name, std::uint64_t access_ps = 0)
      : sc_module(name), simulation("simulation"), file("file", simulation, 0x100, access_ps) {
    host.bind(file.socket);
  }
  void run(std::function<void()> body) {
    program_ = std::move(body);
    simulation.run();
  }
  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    return send(payload);
  }
  tlm::tlm_response_status send(tlm::tlm_generic_payload& payload) {
    sc_core::sc_time delay = start_delay;
    host->b_transport(payload, delay);
    sc_core::wait(delay);
    return payload.get_response_status();
  }
  tlm::tlm_response_status write(std::uint64_t address, std::uint64_t value, unsigned bytes = 4) {
    return access(tlm::TLM_WRITE_COMMAND, address, &value, bytes);
  }
  std::uint64_t read(std::uint64_t address, unsigned bytes = 4) {
    std::uint64_t value = 0;
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, address, &value, bytes), tlm::TLM_OK_RESPONSE);
    return value;
  }

  Simulation simulation;
  RegisterFile file;
  sc_core::sc_time start_delay = sc_core::SC_ZERO_TIME;

 private:
  std::function<void()> program_;
  bool started_ = [this] {
    simulation.thread(*this, "program", [this] {
      program_();
      simulation.finish();
    });
    return true;
  }();
};

TEST(RegisterFile, StoresResetsAndClearsOnes) {
  Device device("device");
  Register& control = device.file.add({.name = "control", .offset = 0, .reset = 5});
  Register& base = device.file.add({.name = "base", .offset = 8, .bytes = 8});
  Register& flags = device.file.add({.name = "flags", .offset = 4, .access = RegisterAccess::w1c});
  device.run([&] {
    EXPECT_EQ(device.read(0), 5u);
    EXPECT_EQ(device.write(0, 0xffff'ffff), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(control.value(), 0xffff'ffffu);
    EXPECT_EQ(device.write(8, 0x1122'3344'5566'7788, 8), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(base.value(), 0x1122'3344'5566'7788u);
    EXPECT_EQ(device.read(8, 8), 0x1122'3344'5566'7788u);
    flags.set_bits(0b1011);
    device.write(4, 0b0110);
    EXPECT_EQ(device.read(4), 0b1001u);
    device.file.reset();
    EXPECT_EQ(device.read(0), 5u);
    EXPECT_EQ(device.read(4), 0u);
  });
}

TEST(RegisterFile, ArraysKnowTheirElement) {
  Device device("device");
  std::vector<std::pair<unsigned, std::uint64_t>> written;
  device.file.add({.name = "tail",
                   .offset = 0x40,
                   .access = RegisterAccess::wo,
                   .count = 3,
                   .stride = 0x10,
                   .on_write = [&](unsigned index, std::uint64_t value) { written.emplace_back(index, value); }});
  device.file.add({.name = "head",
                   .offset = 0x44,
                   .access = RegisterAccess::ro,
                   .count = 3,
                   .stride = 0x10,
                   .on_read = [](unsigned index) { return 100u + index; }});
  device.run([&] {
    device.write(0x50, 7);
    device.write(0x60, 9);
    EXPECT_EQ(device.read(0x64), 102u);
  });
  EXPECT_THAT(written, ElementsAre(std::pair(1u, 7u), std::pair(2u, 9u)));
}

TEST(RegisterFile, EachBrokenRuleHasItsStatus) {
  Device device("device");
  device.file.add({.name = "status", .offset = 0, .access = RegisterAccess::ro});
  device.file.add({.name = "doorbell", .offset = 4, .access = RegisterAccess::wo});
  device.file.add({.name = "base", .offset = 8, .bytes = 8});
  device.run([&] {
    std::uint64_t data = 0;
    EXPECT_EQ(device.write(0, 1), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(device.access(tlm::TLM_READ_COMMAND, 4, &data, 4), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(device.write(0x10, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(device.write(0x100, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(device.write(8, 1, 4), tlm::TLM_BURST_ERROR_RESPONSE);    // half of a register
    EXPECT_EQ(device.write(0xc, 1, 4), tlm::TLM_BURST_ERROR_RESPONSE);  // its other half
    EXPECT_EQ(device.write(4, 1, 8), tlm::TLM_BURST_ERROR_RESPONSE);    // two registers
    EXPECT_EQ(device.write(5, 1, 4), tlm::TLM_BURST_ERROR_RESPONSE);    // misaligned
    EXPECT_EQ(device.write(4, 1, 0), tlm::TLM_BURST_ERROR_RESPONSE);
    tlm::tlm_generic_payload payload;
    unsigned char enable = TLM_BYTE_ENABLED;
    payload.set_write();
    payload.set_address(4);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
    payload.set_data_length(4);
    payload.set_streaming_width(2);
    EXPECT_EQ(device.send(payload), tlm::TLM_BURST_ERROR_RESPONSE);
    payload.set_streaming_width(4);
    payload.set_byte_enable_ptr(&enable);
    payload.set_byte_enable_length(1);
    EXPECT_EQ(device.send(payload), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    payload.set_command(tlm::TLM_IGNORE_COMMAND);
    EXPECT_EQ(device.send(payload), tlm::TLM_OK_RESPONSE);
  });
}

TEST(RegisterFile, AnAccessWaitsOffItsDelayAndTakesItsTime) {
  Device device("device", 20'000);
  std::uint64_t seen = 0;
  device.file.add({.name = "control", .offset = 0, .on_write = [&](unsigned, std::uint64_t) { seen = now_ps(); }});
  device.start_delay = sc_core::sc_time(30, sc_core::SC_NS);
  device.run([&] {
    device.write(0, 1);
    EXPECT_EQ(seen, 30'000u);
    EXPECT_EQ(now_ps(), 50'000u);
  });
}

TEST(RegisterFile, AFaultOfACallbackReachesTheInitiator) {
  Device device("device");
  device.file.add({.name = "control", .offset = 0, .on_write = [](unsigned, std::uint64_t value) {
                     throw Fault("device.value", "control: " + std::to_string(value));
                   }});
  try {
    device.run([&] { device.write(0, 3); });
    FAIL() << "expected a fault";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), "device.value");
  }
}

TEST(RegisterFile, DebugReadsWholeRegistersWithoutEffect) {
  Device device("device");
  device.file.add({.name = "a", .offset = 0, .reset = 1});
  device.file.add({.name = "b", .offset = 4, .reset = 2});
  device.run([&] {
    std::uint32_t data[3] = {};
    tlm::tlm_generic_payload payload;
    payload.set_read();
    payload.set_address(0);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(data));
    payload.set_data_length(12);
    EXPECT_EQ(device.host->transport_dbg(payload), 8u);
    EXPECT_THAT(data, ElementsAre(1u, 2u, 0u));
    payload.set_write();
    EXPECT_EQ(device.host->transport_dbg(payload), 0u);
  });
}

TEST(RegisterFile, PrintsItsReferenceByOffset) {
  Device device("device");
  device.file.add(
      {.name = "tail", .offset = 0x40, .access = RegisterAccess::wo, .text = "doorbell", .count = 2, .stride = 0x20});
  device.file.add({.name = "base", .offset = 8, .bytes = 8, .text = "address", .reset = 16});
  EXPECT_EQ(device.file.table_text(),
            "| offset | name | bytes | access | reset | meaning |\n|---|---|---|---|---|---|\n"
            "| 0x008 | base | 8 | rw | 0x010 | address |\n"
            "| 0x040 + 0x020 x i | tail[2] | 4 | wo | 0x000 | doorbell |\n");
  device.run([] {});
}

TEST(RegisterFile, WrongDeclarationsAreDefects) {
  Device device("device");
  device.file.add({.name = "a", .offset = 0, .bytes = 8});
  const auto message = [&](RegisterSpec spec) -> std::string {
    try {
      device.file.add(std::move(spec));
    } catch (const Defect& defect) {
      return defect.what();
    }
    return "";
  };
  EXPECT_THAT(message({.name = "b", .offset = 4}), HasSubstr("register b at 0x004 overlaps register a"));
  EXPECT_THAT(message({.name = "c", .offset = 12, .bytes = 8}), HasSubstr("aligned"));
  EXPECT_THAT(message({.name = "d", .offset = 16, .bytes = 2}), HasSubstr("expected 4 or 8"));
  EXPECT_THAT(message({.name = "e", .offset = 0x100}), HasSubstr("leaves the window of 256 bytes"));
  device.run([] {});
}

}  // namespace
}  // namespace tilevp
