// The four phases at a memory, alone and behind a router: times by hand, back-pressure, exclusion, and payloads
// that come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "models/memory/bench.hpp"
#include "support/report_breach.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/interconnect/router.hpp"
#include "tilevp/memory/protocol_checker.hpp"

namespace tilevp::memory::testing {
namespace {

using ::testing::ElementsAre;
using Payload = tlm::tlm_generic_payload;

// An initiator as a user writes one: it notes each phase with its time in ns, and ends responses as it is told.
class ForeignPipeline : public sc_core::sc_module, tlm::tlm_mm_interface {
 public:
  tlm_utils::simple_initiator_socket<ForeignPipeline> socket{"socket"};
  bool ends_responses = true;
  std::vector<std::string> log;
  std::vector<Payload*> returned;  // to the memory manager

  explicit ForeignPipeline(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_nb_transport_bw(this, &ForeignPipeline::nb_transport_bw);
  }

  Payload& make(tlm::tlm_command command, std::uint64_t address, unsigned length) {
    Item& item = *items_.emplace_back(std::make_unique<Item>());
    item.data.resize(length, 0x11);
    fill(item.payload, command, address, item.data);
    item.payload.set_mm(this);
    item.payload.acquire();
    names_[&item.payload] = std::string(1, static_cast<char>('a' + items_.size() - 1));
    return item.payload;
  }
  tlm::tlm_sync_enum begin(Payload& payload, sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    const auto status = socket->nb_transport_fw(payload, phase, delay);
    if (status == tlm::TLM_COMPLETED) payload.release();
    return status;
  }
  void wait_end_req() { sc_core::wait(end_req_); }
  void end(Payload& payload) {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay;
    socket->nb_transport_fw(payload, phase, delay);
    payload.release();
  }

 private:
  struct Item {
    Payload payload;
    std::vector<unsigned char> data;
  };
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    const auto time = (sc_core::sc_time_stamp() + delay).value() / 1000;
    log.push_back(names_.at(&payload) + (phase == tlm::END_REQ ? " accepted " : " answered ") + std::to_string(time));
    if (phase == tlm::END_REQ) {
      end_req_.notify(sc_core::SC_ZERO_TIME);
      return tlm::TLM_ACCEPTED;
    }
    if (!ends_responses) return tlm::TLM_ACCEPTED;
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  void free(Payload* payload) override {
    payload->reset();
    returned.push_back(payload);
  }

  std::vector<std::unique_ptr<Item>> items_;
  std::map<const Payload*, std::string> names_;
  sc_core::sc_event end_req_;
};

struct Bench {
  explicit Bench(const MemoryParameters& parameters, std::uint64_t router_latency_ps = 0)
      : memory("memory", simulation, parameters),
        router("router", {{"memory", 0x1000, 0x1000, 0, 0x100}}, router_latency_ps) {
    router.out(0).bind(behind.in);
    behind.out.bind(memory.socket);
    pipeline.socket.bind(before.in);
    before.out.bind(router.in);
    other.socket.bind(other_before.in);
    other_before.out.bind(router.in);
    driver.memory.socket.bind(memory.socket);
  }
  void run(const std::function<void()>& body) {
    driver.body = [&](Driver&) { body(); };
    simulation.run();
    EXPECT_EQ(before.under_way() + other_before.under_way() + behind.under_way(), 0u);
  }

  unsigned running = 0;
  Simulation simulation{"simulation"};
  Memory memory;
  interconnect::Router router;
  ProtocolChecker behind{"behind", test::report_breach}, before{"before", test::report_breach},
      other_before{"other_before", test::report_breach};
  ForeignPipeline pipeline{"pipeline"}, other{"other"};
  Driver driver{"driver", simulation, 1, running};
};

MemoryParameters with_latency(double latency_ns, std::uint32_t request_queue = 64) {
  MemoryParameters parameters = byte_a_nanosecond();
  parameters.latency_ns = latency_ns;
  parameters.request_queue = request_queue;
  return parameters;
}

void wait_ns(double ns) { sc_core::wait(sc_core::sc_time(ns, sc_core::SC_NS)); }

TEST(NonBlocking, RequestsAreAcceptedAtOnceAndAnsweredWhenTheirBytesAreThere) {
  Bench bench(with_latency(30));
  bench.run([&] {
    auto& pipeline = bench.pipeline;
    for (const unsigned bytes : {100u, 10u}) {
      EXPECT_EQ(pipeline.begin(pipeline.make(tlm::TLM_WRITE_COMMAND, 0x1000 + bytes, bytes)), tlm::TLM_ACCEPTED);
      pipeline.wait_end_req();
    }
    wait_ns(500);
    // A byte takes a nanosecond at the port; b waits for a there, not for a's latency.
    EXPECT_THAT(pipeline.log, ElementsAre("a accepted 0", "b accepted 0", "a answered 130", "b answered 140"));
    std::vector<std::byte> seen(1);
    bench.driver.memory.debug(Command::read, 0x100 + 100, seen);
    EXPECT_EQ(seen[0], std::byte{0x11});
    EXPECT_EQ(pipeline.returned.size(), 2u);
    for (const Payload* payload : pipeline.returned) EXPECT_EQ(payload->get_ref_count(), 0);
  });
}

TEST(NonBlocking, AFullQueueHoldsEndReqBack) {
  Bench bench(with_latency(30, 1));
  bench.run([&] {
    auto& pipeline = bench.pipeline;
    for (int i = 0; i < 2; ++i) {
      pipeline.begin(pipeline.make(tlm::TLM_WRITE_COMMAND, 0x1000, 10));
      pipeline.wait_end_req();
    }
    wait_ns(500);
    EXPECT_THAT(pipeline.log, ElementsAre("a accepted 0", "a answered 40", "b accepted 40", "b answered 80"));
  });
}

// The second socket's request waits in the router, which may not begin two at one socket.
TEST(NonBlocking, ARouterKeepsTheExclusionRuleOfItsOutput) {
  Bench bench(with_latency(0, 1));
  bench.run([&] {
    bench.pipeline.begin(bench.pipeline.make(tlm::TLM_WRITE_COMMAND, 0x1000, 50));
    bench.pipeline.wait_end_req();
    bench.pipeline.begin(bench.pipeline.make(tlm::TLM_WRITE_COMMAND, 0x1000, 50));
    bench.other.begin(bench.other.make(tlm::TLM_WRITE_COMMAND, 0x1000, 50));
    wait_ns(500);
    EXPECT_THAT(bench.pipeline.log, ElementsAre("a accepted 0", "a answered 50", "b accepted 50", "b answered 100"));
    EXPECT_THAT(bench.other.log, ElementsAre("a accepted 100", "a answered 150"));
  });
}

TEST(NonBlocking, AResponseWaitsForEndRespOfTheOneBefore) {
  Bench bench(with_latency(0));
  bench.run([&] {
    auto& pipeline = bench.pipeline;
    pipeline.ends_responses = false;
    Payload& first = pipeline.make(tlm::TLM_WRITE_COMMAND, 0x1000, 10);
    Payload& second = pipeline.make(tlm::TLM_WRITE_COMMAND, 0x1000, 10);
    for (Payload* payload : {&first, &second}) {
      pipeline.begin(*payload);
      pipeline.wait_end_req();
    }
    wait_ns(100);
    pipeline.end(first);
    wait_ns(100);
    pipeline.end(second);
    EXPECT_THAT(pipeline.log, ElementsAre("a accepted 0", "b accepted 0", "a answered 10", "b answered 100"));
    EXPECT_EQ(pipeline.returned.size(), 2u);
  });
}

// An input whose response is not ended holds back its own responses, not those of others.
TEST(NonBlocking, ARouterHoldsResponsesBackForTheirOwnInitiatorOnly) {
  Bench bench(with_latency(0));
  bench.run([&] {
    bench.pipeline.ends_responses = false;
    Payload& first = bench.pipeline.make(tlm::TLM_WRITE_COMMAND, 0x1000, 10);
    bench.pipeline.begin(first);
    bench.pipeline.wait_end_req();
    wait_ns(20);
    bench.pipeline.end(first);
    bench.other.begin(bench.other.make(tlm::TLM_WRITE_COMMAND, 0x1000, 10));
    wait_ns(100);
    EXPECT_THAT(bench.other.log, ElementsAre("a accepted 20", "a answered 30"));
  });
}

TEST(NonBlocking, ReadsReturnTheBytesAndAddressesAreRestored) {
  Bench bench(with_latency(0));
  bench.run([&] {
    auto& pipeline = bench.pipeline;
    std::vector<std::byte> data = ramp(16);
    bench.driver.memory.debug(Command::write, 0x120, data);
    Payload& read = pipeline.make(tlm::TLM_READ_COMMAND, 0x1020, 16);
    read.acquire();
    pipeline.begin(read);
    wait_ns(100);
    EXPECT_EQ(read.get_address(), 0x1020u);
    EXPECT_EQ(std::memcmp(read.get_data_ptr(), data.data(), 16), 0);
    EXPECT_TRUE(read.is_response_ok());
    EXPECT_EQ(read.get_ref_count(), 1);
    read.release();
  });
}

TEST(NonBlocking, AnAnnotatedRequestArrivesAfterItsDelayAndTheRoutersLatencyIsAnnotated) {
  Bench bench(with_latency(0), 3000);
  bench.run([&] {
    auto& pipeline = bench.pipeline;
    pipeline.begin(pipeline.make(tlm::TLM_WRITE_COMMAND, 0x1000, 10), sc_core::sc_time(20, sc_core::SC_NS));
    wait_ns(100);
    EXPECT_THAT(pipeline.log, ElementsAre("a accepted 20", "a answered 33"));
  });
}

TEST(NonBlocking, RefusedAndIgnoredRequestsEndAtOnce) {
  Bench bench(with_latency(0));
  bench.run([&] {
    auto& pipeline = bench.pipeline;
    const auto status_of = [&](tlm::tlm_command command, std::uint64_t address, unsigned width) {
      Payload& payload = pipeline.make(command, address, 8);
      payload.set_streaming_width(width);
      payload.acquire();
      EXPECT_EQ(pipeline.begin(payload), tlm::TLM_COMPLETED);
      EXPECT_EQ(payload.get_address(), address);
      return payload.get_response_status();
    };
    EXPECT_EQ(status_of(tlm::TLM_WRITE_COMMAND, 0x3000, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(status_of(tlm::TLM_WRITE_COMMAND, 0x1ffc, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(status_of(tlm::TLM_IGNORE_COMMAND, 0x1000, 8), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(now_ps(), 0u);
  });
}

// Reads and writes have queues of their own: a short read overtakes a long write.
TEST(NonBlocking, ResponsesComeInTheOrderOfTheirEnds) {
  MemoryParameters parameters = byte_a_nanosecond();
  parameters.bandwidth.ceiling_bits_per_cycle = 8 * 1000;
  Bench bench(parameters);
  bench.run([&] {
    auto& pipeline = bench.pipeline;
    std::vector<std::byte> data = ramp(16);
    bench.driver.memory.debug(Command::write, 0x100, data);
    pipeline.begin(pipeline.make(tlm::TLM_WRITE_COMMAND, 0x1100, 200));
    pipeline.wait_end_req();
    pipeline.begin(pipeline.make(tlm::TLM_READ_COMMAND, 0x1000, 10));
    wait_ns(500);
    EXPECT_THAT(pipeline.log, ElementsAre("a accepted 0", "b accepted 0", "b answered 10", "a answered 200"));
  });
}

TEST(NonBlocking, BlockingAccessesShareThePort) {
  Bench bench(with_latency(0));
  bench.run([&] {
    bench.pipeline.begin(bench.pipeline.make(tlm::TLM_WRITE_COMMAND, 0x1000, 100));
    bench.pipeline.wait_end_req();
    bench.driver.write(AccessPattern::contiguous(0, 10), ramp(10));
    EXPECT_EQ(now_ps(), 110'000u);
  });
}

TEST(NonBlocking, AByteNobodyWroteIsAFault) {
  Bench bench(with_latency(0));
  try {
    bench.run([&] {
      bench.pipeline.begin(bench.pipeline.make(tlm::TLM_READ_COMMAND, 0x1040, 4));
      wait_ns(100);
    });
    FAIL() << "expected a fault";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), "memory.undefined_read");
    EXPECT_EQ(fault.module, "memory");
  }
}

TEST(NonBlocking, ARequestQueueOfNothingIsRefused) {
  Simulation simulation("simulation");
  try {
    const Memory memory("memory", simulation, with_latency(0, 0), "memories[2]");
    FAIL() << "expected a mistake";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "memories[2].request_queue: expected at least 1, found 0");
  }
}

}  // namespace
}  // namespace tilevp::memory::testing
