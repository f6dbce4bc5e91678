// Each rule of the base protocol, broken once; and traffic that keeps them all.
#include "tilevp/memory/protocol_checker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/memory/bench.hpp"
#include "tilevp/memory/protocol_rules.hpp"

namespace tilevp::memory::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Payload = tlm::tlm_generic_payload;

// A target and an initiator that do what a test tells them.
class Scripted : public sc_core::sc_module, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<> {
 public:
  tlm::tlm_target_socket<> target{"target"};
  tlm::tlm_initiator_socket<> initiator{"initiator"};
  using Transport = std::function<tlm::tlm_sync_enum(Payload&, tlm::tlm_phase&, sc_core::sc_time&)>;
  Transport forward = accept;
  Transport backward = accept;
  std::function<void(Payload&, sc_core::sc_time&)> block = [](Payload& payload, sc_core::sc_time&) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  };
  std::function<unsigned(Payload&)> debug = [](Payload& payload) { return payload.get_data_length(); };
  std::function<bool(Payload&, tlm::tlm_dmi&)> grant = [](Payload&, tlm::tlm_dmi&) { return false; };

  explicit Scripted(sc_core::sc_module_name name) : sc_module(name) {
    target.bind(*this);
    initiator.bind(*this);
  }
  static tlm::tlm_sync_enum accept(Payload&, tlm::tlm_phase&, sc_core::sc_time&) { return tlm::TLM_ACCEPTED; }

 private:
  void b_transport(Payload& payload, sc_core::sc_time& delay) override { block(payload, delay); }
  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    return forward(payload, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    return backward(payload, phase, delay);
  }
  unsigned int transport_dbg(Payload& payload) override { return debug(payload); }
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) override { return grant(payload, dmi); }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

struct Bench : tlm::tlm_mm_interface {
  Bench() {
    scripted.initiator.bind(checker.in);
    checker.out.bind(scripted.target);
  }
  void free(Payload* payload) override { payload->reset(); }

  // A read of 4 bytes at 0x40, held once, with this memory manager.
  Payload& payload() {
    Payload& fresh = *payloads_.emplace_back(std::make_unique<Payload>());
    fresh.set_mm(this);
    fresh.acquire();
    fill(fresh, tlm::TLM_READ_COMMAND, 0x40, data);
    return fresh;
  }
  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase phase, sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    return scripted.initiator->nb_transport_fw(payload, phase, delay);
  }
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase phase, sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    return scripted.target->nb_transport_bw(payload, phase, delay);
  }
  void block(Payload& payload, sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    scripted.initiator->b_transport(payload, delay);
  }
  void run(const std::function<void()>& body) {
    sc_core::sc_spawn([&] { body(); }, "body");
    sc_core::sc_start();
  }

  Scripted scripted{"scripted"};
  std::vector<std::string> breaches;
  std::string text;
  ProtocolChecker checker{"checker", [this](const ProtocolBreach& breach) {
                            breaches.emplace_back(breach.rule);
                            text = breach.text;
                          }};
  std::vector<unsigned char> data = std::vector<unsigned char>(4);

 private:
  std::vector<std::unique_ptr<Payload>> payloads_;
};

sc_core::sc_time ns5() { return {5, sc_core::SC_NS}; }

using Breaking = std::function<void(Bench&)>;

// How each rule is broken: the least that does it.
const std::map<std::string, Breaking>& breakings() {
  static const std::map<std::string, Breaking> all{
      {"protocol.phase_path", [](Bench& bench) { bench.forward(bench.payload(), tlm::END_REQ); }},
      {"protocol.phase_order",
       [](Bench& bench) {
         Payload& payload = bench.payload();
         bench.forward(payload, tlm::BEGIN_REQ);
         bench.forward(payload, tlm::END_RESP);
       }},
      {"protocol.request_exclusion",
       [](Bench& bench) {
         bench.forward(bench.payload(), tlm::BEGIN_REQ);
         bench.forward(bench.payload(), tlm::BEGIN_REQ);
       }},
      {"protocol.response_exclusion",
       [](Bench& bench) {
         Payload& first = bench.payload();
         Payload& second = bench.payload();
         for (Payload* payload : {&first, &second}) {
           bench.forward(*payload, tlm::BEGIN_REQ);
           bench.backward(*payload, tlm::END_REQ);
           payload->set_response_status(tlm::TLM_OK_RESPONSE);
         }
         bench.backward(second, tlm::BEGIN_RESP);
         bench.backward(first, tlm::BEGIN_RESP);
       }},
      {"protocol.initial_attributes",
       [](Bench& bench) {
         Payload& payload = bench.payload();
         payload.set_streaming_width(0);
         bench.block(payload);
       }},
      {"protocol.initial_status",
       [](Bench& bench) {
         Payload& payload = bench.payload();
         payload.set_response_status(tlm::TLM_OK_RESPONSE);
         bench.block(payload);
       }},
      {"protocol.response_status",
       [](Bench& bench) {
         bench.scripted.block = [](Payload&, sc_core::sc_time&) {};
         bench.block(bench.payload());
       }},
      {"protocol.attributes",
       [](Bench& bench) {
         bench.scripted.block = [](Payload& payload, sc_core::sc_time&) {
           payload.set_data_length(2);
           payload.set_response_status(tlm::TLM_OK_RESPONSE);
         };
         bench.block(bench.payload());
       }},
      {"protocol.memory_manager",
       [](Bench& bench) {
         Payload payload;
         fill(payload, tlm::TLM_READ_COMMAND, 0x40, bench.data);
         bench.scripted.forward = [](Payload& transaction, tlm::tlm_phase&, sc_core::sc_time&) {
           transaction.set_response_status(tlm::TLM_OK_RESPONSE);
           return tlm::TLM_COMPLETED;
         };
         bench.forward(payload, tlm::BEGIN_REQ);
       }},
      {"protocol.lifetime",
       [](Bench& bench) {
         Payload payload;
         payload.set_mm(&bench);
         fill(payload, tlm::TLM_READ_COMMAND, 0x40, bench.data);
         bench.block(payload);
       }},
      {"protocol.timing",
       [](Bench& bench) {
         Payload& payload = bench.payload();
         bench.forward(payload, tlm::BEGIN_REQ, ns5());
         bench.backward(payload, tlm::END_REQ);
       }},
      {"protocol.mixing",
       [](Bench& bench) {
         Payload& payload = bench.payload();
         bench.forward(payload, tlm::BEGIN_REQ);
         bench.block(payload);
       }},
      {"protocol.blocking_context",
       [](Bench& bench) {
         sc_core::sc_spawn_options options;
         options.spawn_method();
         sc_core::sc_spawn([&] { bench.block(bench.payload()); }, "method", &options);
         wait(ns5());
       }},
      {"protocol.recursion",
       [](Bench& bench) {
         bench.scripted.forward = [&](Payload& payload, tlm::tlm_phase&, sc_core::sc_time&) {
           bench.backward(payload, tlm::END_REQ);
           return tlm::TLM_ACCEPTED;
         };
         bench.forward(bench.payload(), tlm::BEGIN_REQ);
       }},
      {"protocol.nonblocking_wait",
       [](Bench& bench) {
         bench.scripted.forward = [](Payload&, tlm::tlm_phase&, sc_core::sc_time&) {
           sc_core::wait(ns5());
           return tlm::TLM_ACCEPTED;
         };
         bench.forward(bench.payload(), tlm::BEGIN_REQ);
       }},
      {"protocol.dmi",
       [](Bench& bench) {
         bench.scripted.grant = [&](Payload&, tlm::tlm_dmi& dmi) {
           dmi.set_dmi_ptr(bench.data.data());
           dmi.allow_read();
           dmi.set_start_address(0x100);
           return true;
         };
         tlm::tlm_dmi dmi;
         bench.scripted.initiator->get_direct_mem_ptr(bench.payload(), dmi);
       }},
      {"protocol.debug",
       [](Bench& bench) {
         bench.scripted.debug = [](Payload& payload) { return payload.get_data_length() + 1; };
         bench.scripted.initiator->transport_dbg(bench.payload());
       }},
  };
  return all;
}

std::vector<std::string> ids() {
  std::vector<std::string> all;
  for (const Rule& rule : protocol_rules()) all.emplace_back(rule.id);
  return all;
}

class EveryProtocolRule : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryProtocolRule, IsReportedWhenBroken) {
  Bench bench;
  ASSERT_TRUE(breakings().contains(GetParam()));
  bench.run([&] { breakings().at(GetParam())(bench); });
  EXPECT_THAT(bench.breaches, ElementsAre(GetParam()));
  EXPECT_THAT(bench.text, ::testing::HasSubstr("checker: "));
  EXPECT_THAT(bench.text, ::testing::HasSubstr("bytes at 0x40: "));
}
INSTANTIATE_TEST_SUITE_P(Rules, EveryProtocolRule, ::testing::ValuesIn(ids()), [](const auto& parameter) {
  std::string name = parameter.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

// A response must keep its status until END_RESP.
TEST(ProtocolChecker, AStatusThatChangesAfterBeginRespIsABreach) {
  Bench bench;
  bench.run([&] {
    Payload& payload = bench.payload();
    bench.forward(payload, tlm::BEGIN_REQ);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    bench.backward(payload, tlm::BEGIN_RESP);
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    bench.forward(payload, tlm::END_RESP);
  });
  EXPECT_THAT(bench.breaches, ElementsAre("protocol.response_status"));
}

TEST(ProtocolChecker, EveryLegalSequencePassesAndNothingStaysBehind) {
  Bench bench;
  const auto ok = [](Payload& payload) { payload.set_response_status(tlm::TLM_OK_RESPONSE); };
  bench.run([&] {
    // Four phases, in calls; END_REQ left out; the address changed on the way.
    for (const bool with_end_req : {true, false}) {
      Payload& payload = bench.payload();
      bench.forward(payload, tlm::BEGIN_REQ);
      payload.set_address(0x1040);
      wait(ns5());
      if (with_end_req) bench.backward(payload, tlm::END_REQ);
      wait(ns5());
      ok(payload);
      bench.backward(payload, tlm::BEGIN_RESP);
      bench.forward(payload, tlm::END_RESP, ns5());
    }
    // END_REQ in the return of BEGIN_REQ, END_RESP in that of BEGIN_RESP.
    bench.scripted.forward = [](Payload&, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
      phase = tlm::END_REQ;
      delay += ns5();
      return tlm::TLM_UPDATED;
    };
    bench.scripted.backward = [](Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
      phase = tlm::END_RESP;
      return tlm::TLM_UPDATED;
    };
    Payload& third = bench.payload();
    bench.forward(third, tlm::BEGIN_REQ);
    wait(ns5());
    ok(third);
    bench.backward(third, tlm::BEGIN_RESP);
    // Completed in place of END_RESP; completed at once; a phase of somebody's own in between.
    bench.scripted.forward = Scripted::accept;
    bench.scripted.backward = [](Payload&, tlm::tlm_phase&, sc_core::sc_time&) { return tlm::TLM_COMPLETED; };
    Payload& fourth = bench.payload();
    bench.forward(fourth, tlm::BEGIN_REQ);
    bench.forward(fourth, tlm::tlm_phase(17));
    ok(fourth);
    bench.backward(fourth, tlm::BEGIN_RESP);
    bench.scripted.forward = [&](Payload& payload, tlm::tlm_phase&, sc_core::sc_time&) {
      ok(payload);
      return tlm::TLM_COMPLETED;
    };
    bench.forward(bench.payload(), tlm::BEGIN_REQ);
    bench.block(bench.payload(), ns5());
  });
  EXPECT_THAT(bench.breaches, IsEmpty()) << bench.text;
  EXPECT_EQ(bench.checker.under_way(), 0u);
  EXPECT_EQ(bench.checker.calls(), 14u);
}

}  // namespace
}  // namespace tilevp::memory::testing
