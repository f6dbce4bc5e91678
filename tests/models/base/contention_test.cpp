// Contention (rules R1 to R5, R7): random requesters against a stepping reference, at several quanta and construction
// orders.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <random>

#include "contention_reference.hpp"
#include "tilevp/base/agent.hpp"
#include "tilevp/base/arbiter.hpp"
#include "tilevp/base/simulation.hpp"

namespace {

using reference::Case;
using reference::Interval;
using reference::Piece;

constexpr unsigned max_requesters = 8;

unsigned draw(std::mt19937_64& random, unsigned low, unsigned high) {
  return low + static_cast<unsigned>(random() % (high - low + 1));
}

Case random_case(std::uint64_t seed, std::uint64_t origin_ps) {
  std::mt19937_64 random(seed);
  Case c;
  c.exclusive = draw(random, 0, 1) == 0;
  c.hz_numerator =
      std::vector<std::uint64_t>{1'400'000'000, 1'000'000'000, 2'800'000'000, 10'000'000'000}[draw(random, 0, 3)];
  c.hz_denominator = draw(random, 0, 3) == 0 ? 3 : 1;
  c.origin_ps = origin_ps;
  const unsigned requesters = draw(random, 2, max_requesters);
  const unsigned resources = draw(random, 1, 3);
  // Few distinct gaps make many ties.
  const unsigned gap_unit = std::vector<unsigned>{1, 100, 714, 1000}[draw(random, 0, 3)];
  for (unsigned r = 0; r < requesters; ++r) {
    c.priorities.push_back(draw(random, 0, 4) == 0 ? 1 : 0);
    std::vector<Piece> pieces(draw(random, 0, 8));
    for (Piece& piece : pieces) {
      piece.gap_ps = static_cast<std::uint64_t>(draw(random, 0, 4)) * gap_unit;
      piece.work16 = c.exclusive ? 16 * draw(random, 1, 6) : draw(random, 1, 80);
      piece.mask = c.exclusive ? draw(random, 1, (1U << resources) - 1) : 1U << draw(random, 0, resources - 1);
    }
    c.pieces.push_back(std::move(pieces));
  }
  return c;
}

// Eight agents that play one case after the other on fresh resources.
class Players : public sc_core::sc_module {
 public:
  Players(sc_core::sc_module_name name, tilevp::Simulation& simulation, std::uint64_t cases, std::uint64_t shuffle)
      : sc_module(name), simulation_(simulation), cases_(cases) {
    std::vector<unsigned> order(max_requesters);
    std::iota(order.begin(), order.end(), 0U);
    std::mt19937_64 random(shuffle);
    if (shuffle != 0) std::shuffle(order.begin(), order.end(), random);
    for (unsigned r = 0; r < max_requesters; ++r)
      agents_.push_back(std::make_unique<tilevp::Agent>(simulation, "agent" + std::to_string(r), r));
    for (const unsigned r : order) simulation.thread(*this, "agent" + std::to_string(r), [this, r] { play(r); });
    simulation.thread(*this, "control", [this] { control(); });
  }
  std::uint64_t mismatches = 0;
  std::uint64_t compared = 0;
  std::string first;

 private:
  void control() {
    for (std::uint64_t seed = 1; seed <= cases_; ++seed) {
      set_up(seed);
      go_.notify(sc_core::SC_ZERO_TIME);
      while (playing_ != 0) sc_core::wait(done_);
      compare(seed);
    }
    simulation_.finish();
  }

  void set_up(std::uint64_t seed) {
    case_ = random_case(seed, tilevp::now_ps() + 5'000'000);
    clock_ = std::make_unique<tilevp::ClockDomain>("clock", case_.hz_numerator, case_.hz_denominator);
    exclusive_.clear();
    rates_.clear();
    for (unsigned i = 0; i < 3; ++i) {
      exclusive_.push_back(std::make_unique<tilevp::ExclusiveResource>("exclusive"));
      rates_.push_back(std::make_unique<tilevp::RateResource>("rate", *clock_));
      for (unsigned r = 0; r < case_.pieces.size(); ++r)
        for (const Piece& piece : case_.pieces[r])
          if ((piece.mask >> i & 1U) != 0) {
            exclusive_.back()->add_requester(r, case_.priorities[r]);
            rates_.back()->add_requester(r, case_.priorities[r]);
          }
    }
    intervals_.assign(case_.pieces.size(), {});
    playing_ = static_cast<unsigned>(case_.pieces.size());
  }

  void play(unsigned r) {
    for (;;) {
      sc_core::wait(go_);
      if (r >= case_.pieces.size()) continue;
      tilevp::Agent& agent = *agents_[r];
      agent.advance_to(case_.origin_ps);
      for (const Piece& piece : case_.pieces[r]) {
        agent.advance_to(agent.local_ps() + piece.gap_ps);  // runs ahead within the quantum: nothing shared is touched
        agent.sync();
        const tilevp::Grant grant = ask(r, piece);
        intervals_[r].push_back({grant.begin_ps, grant.end_ps});
        agent.advance_to(grant.end_ps);
      }
      agent.sync();
      if (--playing_ == 0) done_.notify(sc_core::SC_ZERO_TIME);
    }
  }

  tilevp::Grant ask(unsigned r, const Piece& piece) {
    if (case_.exclusive) {
      std::vector<tilevp::ExclusiveResource*> set;
      for (unsigned i = 0; i < 3; ++i)
        if ((piece.mask >> i & 1U) != 0) set.push_back(exclusive_[i].get());
      return simulation_.arbiter().acquire(set, r, *clock_, piece.work16 / 16);
    }
    unsigned index = 0;
    while ((piece.mask >> index & 1U) == 0) ++index;
    const auto work = static_cast<tilevp::CyclesQ32>(piece.work16) << 28;
    return simulation_.arbiter().acquire(*rates_[index], r, work);
  }

  void compare(std::uint64_t seed) {
    const auto expected = reference::simulate(case_);
    for (std::size_t r = 0; r < expected.size(); ++r) {
      compared += expected[r].size();
      if (intervals_[r] == expected[r]) continue;
      ++mismatches;
      if (first.empty()) first = "case " + std::to_string(seed) + " requester " + std::to_string(r);
    }
  }

  tilevp::Simulation& simulation_;
  std::uint64_t cases_;
  std::vector<std::unique_ptr<tilevp::Agent>> agents_;
  sc_core::sc_event go_, done_;
  unsigned playing_ = 0;
  Case case_;
  std::unique_ptr<tilevp::ClockDomain> clock_;
  std::vector<std::unique_ptr<tilevp::ExclusiveResource>> exclusive_;
  std::vector<std::unique_ptr<tilevp::RateResource>> rates_;
  std::vector<std::vector<Interval>> intervals_;
};

void expect_equal_to_reference(std::uint64_t quantum_ps, std::uint64_t shuffle) {
  tilevp::Simulation simulation("simulation", {.seed = 1, .quantum_ps = quantum_ps, .arithmetic = true});
  Players players("players", simulation, 10'000, shuffle);
  simulation.run();
  EXPECT_EQ(players.mismatches, 0U) << players.first;
  EXPECT_GT(players.compared, 100'000U);
}

TEST(Contention, EqualsTheReferenceAtQuantum0) { expect_equal_to_reference(0, 0); }
TEST(Contention, EqualsTheReferenceAtQuantum1us) { expect_equal_to_reference(1'000'000, 0); }
TEST(Contention, EqualsTheReferenceAtQuantum100us) { expect_equal_to_reference(100'000'000, 0); }
TEST(Contention, EqualsTheReferenceShuffledAtQuantum0) { expect_equal_to_reference(0, 7); }
TEST(Contention, EqualsTheReferenceShuffledAtQuantum1us) { expect_equal_to_reference(1'000'000, 8); }
TEST(Contention, EqualsTheReferenceShuffledAtQuantum100us) { expect_equal_to_reference(100'000'000, 9); }

// One thread that runs a few lines of a test.
class Script : public sc_core::sc_module {
 public:
  Script(sc_core::sc_module_name name, tilevp::Simulation& simulation, std::function<void()> body) : sc_module(name) {
    simulation.thread(*this, "body", std::move(body));
  }
};

TEST(Contention, SoleRequesterIsGrantedWithoutADelta) {
  tilevp::Simulation simulation("simulation");
  const tilevp::ClockDomain clock("clock", 1'000'000'000);
  tilevp::ExclusiveResource resource("engine");
  resource.add_requester(3);
  Script script("script", simulation, [&] {
    tilevp::ExclusiveResource* set[] = {&resource};
    const auto before = sc_core::sc_delta_count();
    EXPECT_EQ(simulation.arbiter().acquire(set, 3, clock, 5).end_ps, 5000U);
    EXPECT_EQ(simulation.arbiter().acquire(set, 3, clock, 2).begin_ps, 5000U);
    EXPECT_EQ(sc_core::sc_delta_count(), before);
    simulation.finish();
  });
  simulation.run();
}

// A bank that ports 2, 3 and 4 ask for, 5 cycles of 1 GHz each; port 4 has priority.
struct Race {
  explicit Race(tilevp::Simulation& simulation) : simulation_(simulation) {
    resource_.add_requester(2, 0);
    resource_.add_requester(3, 0);
    resource_.add_requester(4, 1);
  }
  std::uint64_t begin_of(unsigned port) {
    tilevp::ExclusiveResource* set[] = {&resource_};
    return simulation_.arbiter().acquire(set, port, clock_, 5).begin_ps;
  }

 private:
  tilevp::Simulation& simulation_;
  tilevp::ClockDomain clock_{"clock", 1'000'000'000};
  tilevp::ExclusiveResource resource_{"bank"};
};

TEST(Contention, InAQuietInstantASharedResourceIsGrantedWithoutADelta) {
  tilevp::Simulation simulation("simulation");
  Race race(simulation);
  Script script("script", simulation, [&] {
    sc_core::wait(tilevp::from_ps(1000));
    const auto before = sc_core::sc_delta_count();
    EXPECT_EQ(race.begin_of(3), 1000U);
    EXPECT_EQ(race.begin_of(3), 6000U);
    EXPECT_EQ(sc_core::sc_delta_count(), before);
    simulation.finish();
  });
  simulation.run();
}

// Port 3 asks while port 4, which goes first, is still to run in the same instant: `wake` is called on the thread of
// port 3, just before it asks.
void expect_priority_first(const std::function<void(sc_core::sc_event&, sc_core::sc_signal<bool>&)>& wake) {
  tilevp::Simulation simulation("simulation");
  Race race(simulation);
  sc_core::sc_event event;
  sc_core::sc_signal<bool> signal("signal");
  std::uint64_t third = 0, fourth = 0;
  Script early("early", simulation, [&] {
    sc_core::wait(tilevp::from_ps(1000));
    wake(event, signal);
    third = race.begin_of(3);
    simulation.finish();
  });
  Script late("late", simulation, [&] {
    sc_core::wait(event | signal.value_changed_event());
    fourth = race.begin_of(4);
  });
  simulation.run();
  EXPECT_EQ(fourth, 1000U);
  EXPECT_EQ(third, 6000U);
}

TEST(Contention, PriorityGoesFirstThoughOnlyRunnable) {
  expect_priority_first([](auto& event, auto&) { event.notify(); });
}
TEST(Contention, PriorityGoesFirstThoughNotifiedForTheNextDelta) {
  expect_priority_first([](auto& event, auto&) { event.notify(sc_core::SC_ZERO_TIME); });
}
TEST(Contention, PriorityGoesFirstThoughWaitingForASignalToUpdate) {
  expect_priority_first([](auto&, auto& signal) { signal.write(true); });
}

// Both wake at the same time by themselves; which runs first is the kernel's choice.
TEST(Contention, OfTwoThatWakeInTheSameInstantPriorityGoesFirst) {
  tilevp::Simulation simulation("simulation");
  Race race(simulation);
  std::uint64_t begin[5] = {};
  unsigned asked = 0;
  const auto ask_at_1000 = [&](unsigned port) {
    sc_core::wait(tilevp::from_ps(1000));
    begin[port] = race.begin_of(port);
    if (++asked == 3) simulation.finish();
  };
  Script first("first", simulation, [&] { ask_at_1000(3); });
  Script second("second", simulation, [&] { ask_at_1000(4); });
  Script third("third", simulation, [&] { ask_at_1000(2); });
  simulation.run();
  EXPECT_EQ(begin[4], 1000U);
  EXPECT_EQ(begin[2], 6000U);
  EXPECT_EQ(begin[3], 11000U);
}

TEST(Contention, AnotherPortOnADeclaredSoleResourceIsADefect) {
  tilevp::Simulation simulation("simulation");
  const tilevp::ClockDomain clock("clock", 1'000'000'000);
  tilevp::ExclusiveResource resource("engine");
  resource.add_requester(3);
  Script script("script", simulation, [&] {
    tilevp::ExclusiveResource* set[] = {&resource};
    simulation.arbiter().acquire(set, 4, clock, 5);
  });
  EXPECT_THROW(simulation.run(), tilevp::Defect);
}

// A port with a ceiling of twice its one-direction rate: a read and a write of 10 cycles at the same time both end at
// 10; a second read queues behind the first (R4, by hand).
TEST(Contention, CeilingAndDirectionsQueueApart) {
  tilevp::Simulation simulation("simulation");
  const tilevp::ClockDomain clock("clock", 1'000'000'000);
  tilevp::RateResource ceiling("ceiling", clock), read("read", clock), write("write", clock);
  Script script("script", simulation, [&] {
    const auto cycles = [](unsigned n) { return static_cast<tilevp::CyclesQ32>(n) << 32; };
    const tilevp::RateClaim reads[] = {{&read, cycles(10)}, {&ceiling, cycles(5)}};
    const tilevp::RateClaim writes[] = {{&write, cycles(10)}, {&ceiling, cycles(5)}};
    EXPECT_EQ(simulation.arbiter().acquire(reads, 0).end_ps, 10'000U);
    const tilevp::Grant second = simulation.arbiter().acquire(writes, 1);
    EXPECT_EQ(second.begin_ps, 0U);
    EXPECT_EQ(second.end_ps, 10'000U);
    const tilevp::Grant third = simulation.arbiter().acquire(reads, 0);
    EXPECT_EQ(third.begin_ps, 10'000U);
    EXPECT_EQ(third.end_ps, 20'000U);
    EXPECT_EQ(third.blocker, &ceiling);
    simulation.finish();
  });
  simulation.run();
}

// A million grains of a third of a cycle end where one grain of the sum ends.
TEST(Contention, FractionsOfACycleDoNotDrift) {
  tilevp::Simulation simulation("simulation");
  const tilevp::ClockDomain clock("clock", 1'400'000'000);
  tilevp::RateResource port("port", clock);
  port.add_requester(0);
  Script script("script", simulation, [&] {
    std::uint64_t end = 0;
    for (int i = 0; i < 1'400'000; ++i) end = simulation.arbiter().acquire(port, 0, tilevp::CyclesQ32{1} << 31).end_ps;
    EXPECT_EQ(end, 500'000'000U);  // 700,000 cycles of 1.4 GHz
    simulation.finish();
  });
  simulation.run();
}

}  // namespace
