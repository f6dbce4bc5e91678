// How a run ends, and in which order operations commit.
#include "tilevp/base/simulation.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tilevp/base/agent.hpp"
#include "tilevp/base/errors.hpp"

namespace {

using tilevp::Simulation;

class Script : public sc_core::sc_module {
 public:
  Script(sc_core::sc_module_name name, Simulation& simulation, std::function<void()> body) : sc_module(name) {
    simulation.thread(*this, "body", std::move(body));
  }
};

TEST(Simulation, AFaultKeepsItsTypeAndLearnsWhereAndWhen) {
  Simulation simulation("simulation");
  Script script("script", simulation, [] {
    sc_core::wait(3, sc_core::SC_NS);
    throw tilevp::Fault("pe.free_size", "nc_matmul #412: moving free size 640 exceeds 512");
  });
  try {
    simulation.run();
    FAIL() << "no exception";
  } catch (const tilevp::Fault& fault) {
    EXPECT_EQ(fault.rule(), "pe.free_size");
    EXPECT_EQ(fault.module, "script");
    EXPECT_EQ(fault.time_ps, 3000U);
    EXPECT_STREQ(fault.what(), "nc_matmul #412: moving free size 640 exceeds 512");
    EXPECT_EQ(fault.outcome(), tilevp::Outcome::fault);
  }
}

TEST(Simulation, OnlyTheFirstFailureIsKept) {
  Simulation simulation("simulation");
  Script first("first", simulation, [] { throw tilevp::UserError("a", "first"); });
  Script second("second", simulation, [] { throw tilevp::Defect("second"); });
  EXPECT_THROW(simulation.run(), tilevp::UserError);
}

TEST(Simulation, StarvationNamesWhoWaitsForWhat) {
  Simulation simulation("simulation");
  tilevp::Agent agent(simulation, "core0.vector", 3);
  sc_core::sc_event never("never");
  Script script("script", simulation, [&] {
    agent.wait_until(7000);
    agent.wait_for(never, [] {
      return tilevp::WaitingRecord{
          .who = "core0.vector #12", .what = "semaphore 5", .since_ps = 7000, .has = "0", .wants = ">= 1"};
    });
  });
  try {
    simulation.run();
    FAIL() << "no exception";
  } catch (const tilevp::NoEnd& no_end) {
    EXPECT_EQ(no_end.outcome(), tilevp::Outcome::no_end);
    ASSERT_EQ(no_end.waiting().size(), 1U);
    EXPECT_EQ(no_end.waiting()[0].who, "core0.vector #12");
    EXPECT_EQ(no_end.waiting()[0].since_ps, 7000U);
    EXPECT_NE(std::string(no_end.what()).find("nothing can happen any more at 7000 ps, 1 agents wait"),
              std::string::npos)
        << no_end.what();
  }
}

TEST(Simulation, TheTimeLimitEndsARunThatGoesOn) {
  Simulation simulation("simulation");
  Script script("script", simulation, [] {
    for (;;) sc_core::wait(1, sc_core::SC_US);
  });
  try {
    simulation.run(5'500'000);
    FAIL() << "no exception";
  } catch (const tilevp::NoEnd& no_end) {
    EXPECT_NE(std::string(no_end.what()).find("time limit was reached at 5500000 ps"), std::string::npos)
        << no_end.what();
  }
}

TEST(Simulation, SettleSeesWhatOthersDoInTheSameInstant) {
  Simulation simulation("simulation");
  int value = 0;
  Script early("early", simulation, [&] {
    sc_core::wait(1, sc_core::SC_NS);
    simulation.arbiter().settle(0);
    EXPECT_EQ(value, 3);
    simulation.finish();
  });
  Script late("late", simulation, [&] {
    sc_core::wait(1, sc_core::SC_NS);
    for (int delta = 0; delta < 3; ++delta) {
      sc_core::wait(sc_core::SC_ZERO_TIME);
      ++value;
    }
  });
  simulation.run();
}

TEST(Simulation, SettlersOfOneInstantGoOnByPort) {
  Simulation simulation("simulation");
  std::vector<unsigned> order;
  std::vector<std::unique_ptr<Script>> scripts;
  for (const unsigned port : {5U, 2U, 9U, 1U})
    scripts.push_back(std::make_unique<Script>(("script" + std::to_string(port)).c_str(), simulation, [&, port] {
      simulation.arbiter().settle(port);
      order.push_back(port);
    }));
  Script end("end", simulation, [&] {
    sc_core::wait(1, sc_core::SC_NS);
    simulation.finish();
  });
  simulation.run();
  EXPECT_EQ(order, (std::vector<unsigned>{1, 2, 5, 9}));
}

struct Logged : tilevp::Completion {
  using Log = std::vector<std::pair<std::uint64_t, int>>;
  Logged(Log& to, int number) : log(&to), id(number) {}
  void complete() override { log->push_back({tilevp::now_ps(), id}); }
  Log* log;
  int id;
};

TEST(Completions, CommitByEndThenRankThenSequence) {
  Simulation simulation("simulation");
  std::vector<std::pair<std::uint64_t, int>> log;
  std::vector<Logged> operations;
  for (int i = 0; i < 5; ++i) operations.emplace_back(log, i);
  Script script("script", simulation, [&] {
    auto& queue = simulation.completions();
    queue.complete_at(2000, 5, operations[0]);
    queue.complete_at(2000, 1, operations[1]);
    queue.complete_at(1000, 9, operations[2]);
    queue.complete_at(2000, 1, operations[3]);
    queue.complete_at(0, 0, operations[4]);
    sc_core::wait(3, sc_core::SC_NS);
    simulation.finish();
  });
  simulation.run();
  const std::vector<std::pair<std::uint64_t, int>> expected{{0, 4}, {1000, 2}, {2000, 1}, {2000, 3}, {2000, 0}};
  EXPECT_EQ(log, expected);
}

TEST(Completions, TheEndOfAnOperationCannotLieInThePast) {
  Simulation simulation("simulation");
  std::vector<std::pair<std::uint64_t, int>> log;
  Logged operation(log, 0);
  Script script("script", simulation, [&] {
    sc_core::wait(3, sc_core::SC_NS);
    simulation.completions().complete_at(2999, 0, operation);
  });
  EXPECT_THROW(simulation.run(), tilevp::Defect);
}

TEST(Agent, RunsAheadWithinTheQuantumOnly) {
  Simulation simulation("simulation", {.seed = 1, .quantum_ps = 1000, .arithmetic = true});
  tilevp::Agent agent(simulation, "agent", 0);
  Script script("script", simulation, [&] {
    agent.advance_to(800);
    EXPECT_EQ(tilevp::now_ps(), 0U);
    EXPECT_EQ(agent.local_ps(), 800U);
    agent.advance_to(1001);
    EXPECT_EQ(tilevp::now_ps(), 1001U);
    agent.advance_to(1500);
    agent.sync();
    EXPECT_EQ(tilevp::now_ps(), 1500U);
    agent.advance_to(1200);  // never back
    EXPECT_EQ(agent.local_ps(), 1500U);
    simulation.finish();
  });
  simulation.run();
}

}  // namespace
