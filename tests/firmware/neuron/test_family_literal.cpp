// Readings of the public description that do not work, each shown failing; and kernels with one thing wrong, each
// noticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firmware/neuron/conv_case.hpp"
#include "support/reference_machine.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/conv2d/emitter.hpp"
#include "tilevp/neuron/conv2d/staging.hpp"

namespace tilevp::test {
namespace {

using namespace neuron::conv2d;
using neuron::QueueClass;
using neuron::Schedule;
using neuroncore::Engine;
using neuroncore::Instruction;
using neuroncore::Opcode;
using testing::HasSubstr;

// A plan changed by hand, for tensors in C,H,W,N and C,H,W,O.
class ChangedPlan final : public Convolution {
 public:
  explicit ChangedPlan(Plan plan) : plan_(std::move(plan)) {}
  std::string text() const override { return plan_.text(); }
  Places place(const Allocate& allocate) override {
    const Problem& p = plan_.problem;
    const auto bytes = [](std::int64_t elements, std::int64_t size) {
      return static_cast<std::uint64_t>(elements * size);
    };
    const std::int64_t size = plan_.element_bytes();
    const std::uint64_t zeros = bytes(zero_elements(plan_), size);
    at_ = {.image = allocate("image", bytes(p.N * p.C * p.H * p.W, size)),
           .filter = allocate("filter", bytes(p.C * p.Hf * p.Wf * p.O, size)),
           .output = allocate("output", bytes(p.N * p.O * p.K0() * p.K1(), 4)),
           .zeros = allocate("zeros", zeros)};
    return {at_.image, at_.filter, at_.output, {{at_.zeros, zeros}}};
  }
  void emit(neuron::Kernel& kernel) override { neuron::conv2d::emit(kernel, plan_, at_); }
  Prediction prediction() const override { return predict(plan_); }
  std::vector<float> reference(Accuracy, std::span<const std::byte>, std::span<const std::byte>) const override {
    return {};
  }

 private:
  Plan plan_;
  Addresses at_{};
};

std::uint64_t wrong(const ConvCase& c, const Plan& plan, const std::function<void(Schedule&)>& change = {}) {
  ChangedPlan convolution(plan);
  return run_case(c, convolution, change).wrong;
}

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

constexpr Variant all[] = {Variant::standard, Variant::strided, Variant::packed};

// "H_OUTER walks the remaining filter-row tiles: tile(canonical_H_f, H_REP)": with one row on the partitions and
// dilation 2 that is a step of 1 over 5 dilated rows, where the filter's 3 rows are 2 apart.
TEST(LiteralReading, OuterTilesOfOneRowGoByTheDilation) {
  for (const Variant variant : all) {
    ConvCase c;
    c.variant = variant;
    c.shape = {.C = 100, .H = 9, .W = 8, .O = 6, .Hf = 3, .Wf = 2, .dh = 2};
    Plan plan = plan_of(c);
    ASSERT_EQ(plan.tiles[0].rep, 1);
    EXPECT_EQ(plan.tiles[0].outer_tiles, 3);
    EXPECT_EQ(wrong(c, plan), 0u);
    plan.tiles[0].step = 1;
    EXPECT_GT(wrong(c, plan), 0u);
  }
}

// Bands of a filter without the dilation's spacing meet image rows that are none of theirs.
TEST(LiteralReading, BandsAreSpacedByTheDilation) {
  ConvCase c;
  c.shape = {.C = 20, .H = 9, .W = 8, .O = 6, .Hf = 3, .Wf = 2, .dh = 2};
  Plan plan = plan_of(c);
  ASSERT_EQ(plan.tiles[0].rep, 4);
  EXPECT_EQ(wrong(c, plan), 0u);
  plan.problem.dilation_h = 1;  // of the bands; outer tiles and strips are as before
  EXPECT_GT(wrong(c, plan), 0u);
}

// Tiles counted over the whole output: 84 rows in 8 strips of 11, tiles of 8 rows. The second of the first strip would
// be rows 8 to 15, of which the strip has 3.
TEST(LiteralReading, TilesEndWithTheirStrip) {
  ConvCase c;
  c.variant = Variant::packed;
  c.shape = {.C = 4, .H = 86, .W = 62, .O = 5, .Hf = 3, .Wf = 3};
  const Plan plan = plan_of(c);
  ASSERT_EQ(plan.stage_rows, 11);
  ASSERT_EQ(plan.tile_rows, 8);
  EXPECT_EQ(plan.packed_slots(), 8 * 2);
  neuron::Kernel kernel(c.machine);
  const Staging staging(kernel, plan, {});
  const auto moving = [&](std::int64_t rows) {
    return staging.moving(staging.images()[0], plan.tiles[0], {.row0 = 8, .rows = rows, .columns = 60}, 0, 2);
  };
  EXPECT_EQ(moving(3).elements(), 3 * 60);
  EXPECT_THAT(error_of([&] { moving(8); }), HasSubstr("of a partition, the tensor has"));
  EXPECT_EQ(wrong(c, plan), 0u);
}

// "lo = max(0, -h), hi = min(rows, H - h)" has hi < lo where a band lies beside the image altogether.
TEST(LiteralReading, AWindowBesideTheImageIsEmpty) {
  for (const auto& [first, rows, height] : {std::tuple{-9, 4, 2}, {5, 4, 2}}) {
    const std::int64_t low = std::max(0, -first);
    const std::int64_t high = std::min(rows, height - first);
    EXPECT_LT(high - low, 0);
    neuron::Kernel kernel(neuron::Machine{});
    const auto image = kernel.hbm("image", numeric::DType::bf16, 0, 1, 100);
    EXPECT_THAT(error_of([&, count = high - low] {
                  image.ap({{100, 1}, {2, count}, {1, 2}});
                }),
                HasSubstr("expected at least 1"));
    const RowWindow window = row_window(first, rows, height);
    EXPECT_EQ(window.inside, 0);
    EXPECT_EQ(window.before + window.behind, rows);
  }
}

// 200 channels in one tile would stand on 200 partitions.
TEST(LiteralReading, ChannelsAreCutAt128) {
  for (const Variant variant : all) {
    ConvCase c;
    c.variant = variant;
    c.shape = {.C = 200, .H = 5, .W = 5, .O = 4, .Hf = 2, .Wf = 2};
    Plan plan = plan_of(c);
    ASSERT_EQ(plan.tiles.size(), 2u);
    EXPECT_EQ(wrong(c, plan), 0u);
    plan.tiles = {{.first = 0, .count = 200, .outer_tiles = 2}};
    EXPECT_THAT(error_of([&] { wrong(c, plan); }), HasSubstr("partition 199, the tensor has 128"));
  }
}

// One case with everything to spoil: two outer tiles of two bands, two tiles of channels, two columns.
ConvCase rich_case(Variant variant) {
  ConvCase c;
  c.variant = variant;
  c.shape = {.N = 2, .C = 140, .H = 8, .W = 8, .O = 20, .Hf = 3, .Wf = 2, .pt = 1, .pl = 1};
  return c;
}

std::vector<Instruction>& stream(Schedule& schedule, Engine engine) {
  return schedule.streams[static_cast<std::size_t>(engine)];
}

TEST(FamilyMutation, UnspoiltIsRight) {
  for (const Variant variant : all) EXPECT_EQ(run_case(rich_case(variant)).wrong, 0u);
}

// As if the output buffer were zeroed for every batch: what earlier outer tiles added up is lost.
TEST(FamilyMutation, OutputZeroedAtEveryBatch) {
  for (const Variant variant : all)
    EXPECT_GT(run_case(rich_case(variant),
                       [](Schedule& schedule) {
                         for (Instruction& i : stream(schedule, Engine::vector))
                           if (i.opcode == Opcode::tensor_tensor) i.opcode = Opcode::tensor_copy;
                       })
                  .wrong,
              0u);
}

TEST(FamilyMutation, FilterColumnsSwapped) {
  for (const Variant variant : all)
    EXPECT_GT(run_case(rich_case(variant),
                       [](Schedule& schedule) {
                         std::vector<Instruction*> matmuls;
                         for (Instruction& i : stream(schedule, Engine::pe))
                           if (i.opcode == Opcode::matmul) matmuls.push_back(&i);
                         // The next column of the same bank.
                         for (std::size_t at = 1;; ++at)
                           if (matmuls.at(at)->destination == matmuls[0]->destination) {
                             std::swap(matmuls[0]->source1, matmuls[at]->source1);
                             return;
                           }
                       })
                  .wrong,
              0u);
}

// Two bands of a filter change places: 12 channels of the second tile, 3 rows on the partitions.
TEST(FamilyMutation, FilterOnTheWrongBand) {
  for (const Variant variant : all) {
    ConvCase c = rich_case(variant);
    c.shape.C = 16;  // a share of one partition an engine: one descriptor a band and engine
    EXPECT_EQ(run_case(c).wrong, 0u);
    EXPECT_GT(run_case(c,
                       [](Schedule& schedule) {
                         const auto queue = schedule.queues[static_cast<std::size_t>(QueueClass::weights)][0];
                         for (auto& ring : schedule.rings[queue]) std::swap(ring.at(0).source, ring.at(1).source);
                       })
                  .wrong,
              0u);
  }
}

// The dense block's diagonal one plane off: another channel's output.
TEST(FamilyMutation, DiagonalOneOff) {
  ConvCase c;
  c.shape = {.C = 8, .H = 6, .W = 6, .O = 8, .Hf = 2, .Wf = 2, .g = 8};
  EXPECT_EQ(run_case(c, "diagonal1").wrong, 0u);
  EXPECT_GT(run_case(c, "diagonal1",
                     [](Schedule& schedule) {
                       // The only copy from HBM to HBM: from below the core's window.
                       for (const auto queue : schedule.queues[static_cast<std::size_t>(QueueClass::outputs)]) {
                         auto& rings = schedule.rings[queue];
                         for (std::size_t i = 0; i < rings.at(0).size(); ++i)
                           if (!rings[0][i].empty && rings[0][i].source.start() < std::uint64_t{1} << 44)
                             std::swap(rings[0][i].source, rings[1].at(i).source);
                       }
                     })
                .wrong,
            0u);
}

}  // namespace
}  // namespace tilevp::test
