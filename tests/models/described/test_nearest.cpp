#include <gtest/gtest.h>

#include "tilevp/described/nearest.hpp"

namespace tilevp::described {
namespace {

TEST(Nearest, CountsEdits) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);  // the textbook example
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("conv2d", "cnov2d"), 1U);  // a swap of neighbours is one edit
  EXPECT_EQ(edit_distance("same", "same"), 0U);
}

TEST(Nearest, AGlobsWildcardsCostNothing) {
  EXPECT_EQ(glob_distance("dma*", "dma0.queue.busy"), 0U);
  EXPECT_EQ(glob_distance("*.busy", "top.pe.busy"), 0U);
  EXPECT_EQ(glob_distance("p?", "pe"), 0U);
  EXPECT_EQ(glob_distance("dna*", "dma0.busy"), 1U);
  EXPECT_EQ(glob_distance("*.bsuy", "pe.busy"), 2U);
  EXPECT_EQ(glob_distance("", "ab"), 2U);
}

TEST(Nearest, FindsTheNearestName) {
  const std::vector<std::string> names{"neuron/conv2d", "neuron/matmul", "dma/bench"};
  EXPECT_EQ(nearest("nueron/conv2", names), "neuron/conv2d");
  EXPECT_EQ(nearest("DMA/bench", names), "dma/bench");
  EXPECT_EQ(nearest("x", {}), "");
  EXPECT_EQ(nearest_hint("matmul", names), "; nearest is 'neuron/matmul'");
  EXPECT_EQ(nearest_hint("x", {}), "; nothing is known here");
  EXPECT_EQ(nearest_hint("dma/bnech", names, "programs."), "; nearest is 'programs.dma/bench'");
  EXPECT_EQ(nearest_hint("transformer", names), "") << "no name is like it";
  EXPECT_EQ(nearest_hint("x", std::vector<std::string>{"pe"}), "") << "every letter would change";
  const std::vector<std::string> probes{"pe.busy", "dma1.busy", "dma0.busy", "dma0.depth"};
  EXPECT_EQ(nearest_to_glob("dna*", probes, 2), (std::vector<std::string>{"dma1.busy", "dma0.busy"}));
}

}  // namespace
}  // namespace tilevp::described
