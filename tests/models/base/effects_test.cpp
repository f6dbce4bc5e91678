#include "tilevp/base/effects.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <numeric>
#include <vector>

#include "tilevp/base/errors.hpp"

namespace {

using tilevp::EffectsQueue;
using tilevp::HostRange;

TEST(Effects, OneThreadRunsThemAtTheJoin) {
  EffectsQueue queue(true, 1);
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) queue.append([&order, i] { order.push_back(i); });
  EXPECT_TRUE(order.empty());
  queue.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  queue.join();
  EXPECT_EQ(order.size(), 5U);
}

TEST(Effects, AFullQueueOfOneThreadDrainsItself) {
  EffectsQueue queue(true, 1);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < 3 * EffectsQueue::capacity; ++i) queue.append([&order, i] { order.push_back(i); });
  EXPECT_EQ(order.size(), 2 * EffectsQueue::capacity);
}

TEST(Effects, JoiningTheWritersOfARangeLeavesWhatCameAfterThem) {
  EffectsQueue queue(true, 1);
  std::vector<std::byte> bytes(40);
  const auto range = [&](std::size_t low, std::size_t high) { return HostRange::of(&bytes[low], bytes.data() + high); };
  queue.append([] {}, range(0, 10));
  queue.append([] {}, range(20, 30));
  queue.append([] {}, range(5, 12));
  queue.append([] {}, range(20, 30));
  queue.join_writers_of(range(12, 20));  // touches its neighbours on both sides
  EXPECT_EQ(queue.executed(), 0U);
  queue.join_writers_of(range(11, 14));
  EXPECT_EQ(queue.executed(), 3U);
  queue.join_writers_of(range(0, 12));
  EXPECT_EQ(queue.executed(), 3U);
  queue.append([] {});  // may write anywhere
  queue.join_writers_of(range(0, 1));
  EXPECT_EQ(queue.executed(), 5U);
}

TEST(Effects, FewerThanOneOrMoreThanTwoThreadsAreRefused) {
  EXPECT_THROW(EffectsQueue(true, 0), tilevp::UserError);
  EXPECT_THROW(EffectsQueue(true, 3), tilevp::UserError);
}

TEST(Effects, TheEnvironmentSaysHowManyThreadsThereAre) {
  unsetenv("TILEVP_THREADS");
  EXPECT_EQ(EffectsQueue::default_threads(), 1U);
  setenv("TILEVP_THREADS", "2", 1);
  EXPECT_EQ(EffectsQueue::default_threads(), 2U);
  setenv("TILEVP_THREADS", "many", 1);
  EXPECT_THROW(EffectsQueue::default_threads(), tilevp::UserError);
}

class EffectsOfThreads : public testing::TestWithParam<unsigned> {};

INSTANTIATE_TEST_SUITE_P(Threads, EffectsOfThreads, testing::Values(1U, 2U));

TEST_P(EffectsOfThreads, RunInTheOrderTheyWereAppended) {
  EffectsQueue queue(true, GetParam());
  constexpr std::size_t count = 20 * EffectsQueue::capacity + 7;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < count; ++i) queue.append([&order, i] { order.push_back(i); });
  queue.join();
  std::vector<std::size_t> expected(count);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(order, expected);
  EXPECT_EQ(queue.executed(), count);
}

// value = value * 3 + step, for each element of its part: the sum depends on the order of the steps.
struct Step {
  std::vector<std::uint32_t>* values;
  std::uint32_t step;
  unsigned parts;

  unsigned prepare() const { return parts; }
  void run(unsigned part, unsigned) const {
    for (std::size_t i = part; i < values->size(); i += parts) (*values)[i] = (*values)[i] * 3 + step;
  }
};

TEST_P(EffectsOfThreads, AnEffectBeginsWhenAllPartsOfTheOneBeforeAreDone) {
  EffectsQueue queue(true, GetParam());
  std::vector<std::uint32_t> values(1000);
  std::uint32_t expected = 0;
  for (std::uint32_t step = 0; step < 500; ++step) {
    queue.append(Step{&values, step, 1 + step % 7});
    expected = expected * 3 + step;
    if (step % 100 == 17) queue.join();
  }
  queue.join();
  for (const std::uint32_t value : values) ASSERT_EQ(value, expected);
}

// Either thread may take an effect, and they meet at every one.
TEST_P(EffectsOfThreads, JoinedAfterEachTheOrderIsTheSame) {
  EffectsQueue queue(true, GetParam());
  std::vector<std::uint32_t> values(24);
  std::uint32_t expected = 0;
  for (std::uint32_t step = 0; step < 3000; ++step) {
    queue.append(Step{&values, step, step % 4 == 0 ? 5U : 1U});
    expected = expected * 3 + step;
    if (step % 3 != 2) continue;
    queue.join();
    for (const std::uint32_t value : values) ASSERT_EQ(value, expected) << step;
  }
}

TEST_P(EffectsOfThreads, AnExceptionArrivesWithItsTypeAndTheQueueGoesOn) {
  EffectsQueue queue(true, GetParam());
  int ran = 0;
  EXPECT_THROW(
      {
        queue.append([] { throw tilevp::Defect("an effect failed"); });
        queue.join();
      },
      tilevp::Defect);
  queue.append([&ran] { ++ran; });
  queue.join();
  EXPECT_EQ(ran, 1);
}

struct Parts {
  unsigned count;
  unsigned prepare() const {
    if (count == 0) throw tilevp::Defect("nothing to prepare");
    return count;
  }
  void run(unsigned, unsigned) const {}
};

TEST_P(EffectsOfThreads, MorePartsThanCanBeCountedOrAFailureToPrepareIsADefect) {
  EffectsQueue queue(true, GetParam());
  queue.append(Parts{255});
  queue.join();
  for (const unsigned count : {0U, 256U, 70'000U}) {
    queue.append(Parts{count});
    EXPECT_THROW(queue.join(), tilevp::Defect) << count;
  }
  queue.append(Parts{1});
  queue.join();
  EXPECT_EQ(queue.executed(), 5U);
}

TEST_P(EffectsOfThreads, ADisabledQueueDropsEverything) {
  EffectsQueue queue(false, GetParam());
  int ran = 0;
  queue.append([&ran] { ++ran; });
  queue.join();
  EXPECT_EQ(ran, 0);
}

TEST_P(EffectsOfThreads, WhatIsLeftIsDestroyed) {
  auto owner = std::make_shared<int>(1);
  {
    EffectsQueue queue(true, GetParam());
    for (int i = 0; i < 5; ++i) queue.append([owner] {});
  }
  EXPECT_EQ(owner.use_count(), 1);
}

TEST_P(EffectsOfThreads, ExecutedAtOnceOnceSomebodyLooks) {
  EffectsQueue queue(true, GetParam());
  queue.execute_at_once();
  for (std::uint64_t i = 1; i < 100; ++i) {
    queue.append([] {});
    ASSERT_EQ(queue.executed(), i);
  }
}

// Two parts that meet: neither ends unless the other runs beside it.
struct Meeting {
  std::barrier<>* meeting;
  std::array<int, EffectsQueue::max_threads>* parts_of_thread;

  unsigned prepare() const { return 2; }
  void run(unsigned, unsigned thread) const {
    ++(*parts_of_thread)[thread];
    meeting->arrive_and_wait();
  }
};

TEST(Effects, TheKernelThreadHelpsTheWorkerItWaitsFor) {
  EffectsQueue queue(true, 2);
  std::barrier<> meeting(2);
  std::array<int, EffectsQueue::max_threads> parts_of_thread{};
  for (int i = 0; i < 100; ++i) queue.append(Meeting{&meeting, &parts_of_thread});
  queue.join();
  EXPECT_EQ(parts_of_thread[0], 100);
  EXPECT_EQ(parts_of_thread[1], 100);
}

}  // namespace
