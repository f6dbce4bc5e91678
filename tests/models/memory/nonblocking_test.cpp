// The four phases at a memory, alone and behind a router: times by hand, back-pressure, exclusion, short forms, and
// payloads that come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/peq_with_get.h>

#include <algorithm>
#include <map>

#include "models/memory/bench.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/base/register_file.hpp"
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
  static void report(const ProtocolBreach& breach) { ADD_FAILURE() << breach.rule << " " << breach.text; }

  unsigned running = 0;
  Simulation simulation{"simulation"};
  Memory memory;
  interconnect::Router router;
  ProtocolChecker behind{"behind", report}, before{"before", report}, other_before{"other_before", report};
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

// ---- An initiator of ours with targets that use the short forms.

enum class Form { completed, updated_end_req, updated_begin_resp, no_end_req, all_phases };

// Answers each request in one way, 10 ns later as annotated delay or by a call.
class ShortForms : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<ShortForms> socket{"socket"};
  std::vector<unsigned char> bytes = std::vector<unsigned char>(4096);
  std::uint64_t ended = 0;

  ShortForms(sc_core::sc_module_name name, Form form) : sc_module(name), form_(form) {
    socket.register_nb_transport_fw(this, &ShortForms::nb_transport_fw);
    sc_core::sc_spawn([this] { answer(); }, "answer");
  }

 private:
  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) {
      ++ended;
      payload.release();
      return tlm::TLM_COMPLETED;
    }
    move(payload);
    const sc_core::sc_time ten(10, sc_core::SC_NS);
    if (form_ == Form::completed || form_ == Form::updated_begin_resp) delay += ten;
    if (form_ == Form::completed) return tlm::TLM_COMPLETED;
    payload.acquire();
    if (form_ == Form::updated_begin_resp) {
      phase = tlm::BEGIN_RESP;
      return tlm::TLM_UPDATED;
    }
    peq_.notify(payload, ten);
    if (form_ != Form::updated_end_req) return tlm::TLM_ACCEPTED;
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void answer() {
    for (;;) {
      wait(peq_.get_event());
      while (Payload* payload = peq_.get_next_transaction()) {
        sc_core::sc_time delay;
        tlm::tlm_phase phase = tlm::END_REQ;
        if (form_ == Form::all_phases) socket->nb_transport_bw(*payload, phase, delay);
        phase = tlm::BEGIN_RESP;
        if (socket->nb_transport_bw(*payload, phase, delay) != tlm::TLM_ACCEPTED) {
          ++ended;
          payload->release();
        }
      }
    }
  }
  void move(Payload& payload) {
    unsigned char* const at = bytes.data() + payload.get_address();
    if (payload.is_read())
      std::copy_n(at, payload.get_data_length(), payload.get_data_ptr());
    else
      std::copy_n(payload.get_data_ptr(), payload.get_data_length(), at);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  Form form_;
  tlm_utils::peq_with_get<Payload> peq_{"peq"};
};

// An agent of ours that uses the non-blocking calls.
class AtDriver : public sc_core::sc_module {
 public:
  AtDriver(sc_core::sc_module_name name, Simulation& simulation, std::function<void(AtDriver&)> body)
      : sc_module(name), agent(simulation, this->name(), 1), memory("memory", agent, CodingStyle::at) {
    simulation.thread(*this, "run", [this, &simulation, body = std::move(body)] {
      body(*this);
      simulation.finish();
    });
  }
  Agent agent;
  InitiatorPort memory;
};

class EveryForm : public ::testing::TestWithParam<Form> {};

TEST_P(EveryForm, IsUnderstoodAlsoThroughARouter) {
  Simulation simulation("simulation");
  ShortForms target("target", GetParam());
  interconnect::Router router("router", {{"target", 0x1000, 0x1000, 0}}, 2000);
  AtDriver driver("driver", simulation, [](AtDriver& self) {
    const AccessPattern pattern(0x1010, 1, {{3, 100}, {20, 1}});
    std::vector<std::byte> data = ramp(60), seen(60);
    self.memory.transfer(Command::write, pattern, data, 0);
    // Three runs, each 10 ns of the target and 2 ns of the router.
    EXPECT_EQ(now_ps(), 36'000u);
    self.memory.transfer(Command::read, pattern, seen, 0);
    EXPECT_EQ(seen, data);
    EXPECT_EQ(now_ps(), 72'000u);
    EXPECT_EQ(self.memory.in_flight(), 0u);
  });
  ProtocolChecker before("before", Bench::report), behind("behind", Bench::report);
  driver.memory.socket.bind(before.in);
  before.out.bind(router.in);
  router.out(0).bind(behind.in);
  behind.out.bind(target.socket);
  simulation.run();
  EXPECT_EQ(target.bytes[0x10 + 100], 20u);
  EXPECT_EQ(before.under_way() + behind.under_way(), 0u);
  EXPECT_EQ(target.ended, GetParam() == Form::completed ? 0u : 6u);
}
INSTANTIATE_TEST_SUITE_P(Forms, EveryForm,
                         ::testing::Values(Form::completed, Form::updated_end_req, Form::updated_begin_resp,
                                           Form::no_end_req, Form::all_phases));

TEST(NonBlocking, ATargetThatNeverAcceptsIsNamedByWhoWaits) {
  Simulation simulation("simulation");
  class Silent : public sc_core::sc_module {
   public:
    tlm_utils::simple_target_socket<Silent> socket{"socket"};
    explicit Silent(sc_core::sc_module_name name) : sc_module(name) {
      socket.register_nb_transport_fw(this, &Silent::nb_transport_fw);
    }
    tlm::tlm_sync_enum nb_transport_fw(Payload&, tlm::tlm_phase&, sc_core::sc_time&) { return tlm::TLM_ACCEPTED; }
  } silent("silent");
  AtDriver driver("driver", simulation, [](AtDriver& self) {
    std::vector<std::byte> data(4);
    self.memory.transfer(Command::write, AccessPattern::contiguous(0, 4), data, 0);
  });
  driver.memory.socket.bind(silent.socket);
  try {
    simulation.run();
    FAIL() << "expected no end";
  } catch (const NoEnd& end) {
    ASSERT_EQ(end.waiting().size(), 1u);
    EXPECT_EQ(end.waiting()[0].who, "driver");
    EXPECT_EQ(end.waiting()[0].what, "END_REQ of its non-blocking access");
  }
}

// ---- Targets of ours that serve b_transport alone.

TEST(NonBlocking, RegistersTakeItToo) {
  Simulation simulation("simulation");
  RegisterFile registers("registers", simulation, 64, 5000);
  registers.add({.name = "scratch", .offset = 8, .access = RegisterAccess::rw, .text = "a test"});
  registers.add({.name = "status", .offset = 12, .access = RegisterAccess::ro, .text = "a test"});
  ProtocolChecker checker("checker", Bench::report);
  AtDriver driver("driver", simulation, [](AtDriver& self) {
    std::vector<std::byte> value{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}}, seen(4);
    self.memory.transfer(Command::write, AccessPattern::contiguous(8, 4), value, 0);
    EXPECT_EQ(now_ps(), 5000u);
    self.memory.transfer(Command::read, AccessPattern::contiguous(8, 4), seen, 0);
    EXPECT_EQ(seen, value);
    EXPECT_EQ(now_ps(), 10'000u);
    EXPECT_THROW(self.memory.transfer(Command::write, AccessPattern::contiguous(12, 4), value, 0), Fault);
  });
  driver.memory.socket.bind(checker.in);
  checker.out.bind(registers.socket);
  simulation.run();
  EXPECT_EQ(checker.under_way(), 0u);
  EXPECT_GT(checker.calls(), 5u);
}

}  // namespace
}  // namespace tilevp::memory::testing
