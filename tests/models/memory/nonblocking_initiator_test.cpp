// The non-blocking calls of an initiator of ours: targets that use the short forms, that never accept, that serve
// b_transport alone.
#include <gtest/gtest.h>
#include <tlm_utils/peq_with_get.h>

#include <algorithm>

#include "models/memory/bench.hpp"
#include "support/report_breach.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/base/register_file.hpp"
#include "tilevp/interconnect/router.hpp"
#include "tilevp/memory/protocol_checker.hpp"

namespace tilevp::memory::testing {
namespace {

using Payload = tlm::tlm_generic_payload;

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
  ProtocolChecker before("before", test::report_breach), behind("behind", test::report_breach);
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
  ProtocolChecker checker("checker", test::report_breach);
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
