#include "tilevp/base/effects.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

TEST(Effects, RunInTheOrderTheyWereAppendedAndNotBeforeTheJoin) {
  tilevp::EffectsQueue queue(true);
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) queue.append([&order, i] { order.push_back(i); });
  EXPECT_TRUE(order.empty());
  queue.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  queue.join();
  EXPECT_EQ(order.size(), 5U);
  EXPECT_EQ(queue.executed(), 5U);
}

TEST(Effects, AFullQueueDrainsItself) {
  tilevp::EffectsQueue queue(true);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < 3 * tilevp::EffectsQueue::capacity; ++i)
    queue.append([&order, i] { order.push_back(i); });
  EXPECT_EQ(order.size(), 2 * tilevp::EffectsQueue::capacity);
  queue.join();
  for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], i);
}

TEST(Effects, DisabledQueueDropsEverything) {
  tilevp::EffectsQueue queue(false);
  int ran = 0;
  queue.append([&ran] { ++ran; });
  queue.join();
  EXPECT_EQ(ran, 0);
}

TEST(Effects, WhatNeverRanIsDestroyed) {
  auto owner = std::make_shared<int>(1);
  {
    tilevp::EffectsQueue queue(true);
    queue.append([owner] {});
    EXPECT_EQ(owner.use_count(), 2);
  }
  EXPECT_EQ(owner.use_count(), 1);
}

}  // namespace
