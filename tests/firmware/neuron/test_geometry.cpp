// Packing, windows and plans, against numbers worked out by hand and the published tilings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/conv2d/emitter.hpp"
#include "tilevp/neuron/conv2d/plan.hpp"
#include "tilevp/neuron/scheduler.hpp"

namespace tilevp::neuron::conv2d {
namespace {

using testing::HasSubstr;

TEST(Geometry, RowsOnThePartitions) {
  struct Row {
    std::int64_t extent, channels, dilation, expected;
  };
  // The first is the worked example of the family's documentation: 5 * 32 > 128, 4 * 32 fits.
  for (const Row& row : {Row{5, 32, 1, 4}, Row{3, 128, 1, 1}, Row{7, 3, 1, 7}, Row{3, 64, 1, 2}, Row{1, 1, 1, 1},
                         Row{5, 50, 2, 2},  // 5 and 4 are too many, 3 is odd
                         Row{7, 40, 3, 3}, Row{5, 100, 2, 1}, Row{9, 1, 4, 8}, Row{3, 43, 2, 2}, Row{2, 65, 1, 1}})
    EXPECT_EQ(replication(row.extent, row.channels, row.dilation), row.expected)
        << row.extent << " " << row.channels << " " << row.dilation;
}

TEST(Geometry, ChannelTilesAndTheirOuterTiles) {
  Problem p{.C = 200, .H = 20, .W = 20, .Hf = 3, .Wf = 3, .dilation_h = 2, .dilation_w = 2};
  const auto tiles = channel_tiles(p);
  ASSERT_EQ(tiles.size(), 2u);
  // 128 channels: one row a tile, a dilation apart, so as many tiles as filter rows.
  EXPECT_EQ(tiles[0].rep, 1);
  EXPECT_EQ(tiles[0].step, 2);
  EXPECT_EQ(tiles[0].outer_tiles, 3);
  EXPECT_FALSE(tiles[0].has_zero_bands(2, p));
  // 72 channels: two rows would be 144 partitions.
  EXPECT_EQ(tiles[1].first, 128);
  EXPECT_EQ(tiles[1].count, 72);
  EXPECT_EQ(tiles[1].rep, 1);
  p.C = 60;
  const auto packed = channel_tiles(p);
  ASSERT_EQ(packed.size(), 1u);
  EXPECT_EQ(packed[0].rep, 2);          // extent 5; 2 is the largest multiple of the dilation with 60 * i <= 128
  EXPECT_EQ(packed[0].filter_rows, 1);  // the other band of the two holds no filter row
  EXPECT_EQ(packed[0].outer_tiles, 3);
  EXPECT_EQ(packed[0].used_partitions(), 120);
  EXPECT_TRUE(packed[0].has_zero_bands(0, p));
}

TEST(Geometry, WindowsAreClampedToTheImage) {
  const auto window = [](std::int64_t first, std::int64_t rows, std::int64_t height) {
    const RowWindow w = row_window(first, rows, height);
    return std::array{w.before, w.inside, w.behind};
  };
  using testing::ElementsAre;
  EXPECT_THAT(window(0, 4, 10), ElementsAre(0, 4, 0));
  EXPECT_THAT(window(-3, 4, 10), ElementsAre(3, 1, 0));
  EXPECT_THAT(window(8, 4, 10), ElementsAre(0, 2, 2));
  EXPECT_THAT(window(-2, 9, 3), ElementsAre(2, 3, 4));
  EXPECT_THAT(window(-9, 4, 10), ElementsAre(4, 0, 0));
  EXPECT_THAT(window(12, 4, 10), ElementsAre(0, 0, 4));
}

TEST(Geometry, SizesOfTheOutput) {
  const Problem p{
      .H = 224, .W = 224, .Hf = 7, .Wf = 7, .stride_h = 2, .stride_w = 2, .top = 3, .bottom = 3, .left = 3, .right = 3};
  EXPECT_EQ(p.K0(), 112);
  EXPECT_EQ(p.K1(), 112);
  const Problem dilated{.H = 13, .W = 10, .Hf = 3, .Wf = 3, .left = -2, .dilation_h = 3, .dilation_w = 2};
  EXPECT_EQ(dilated.K0(), 7);
  EXPECT_EQ(dilated.K1(), 4);
}

TEST(Geometry, RefusesProblemsWithoutAnOutput) {
  const auto error_of = [](const Problem& p) {
    try {
      p.check();
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of({.H = 4, .W = 9, .Hf = 3, .Wf = 1, .dilation_h = 2}),
            "conv2d: the filter spans 5 rows, the padded image has 4");
  EXPECT_EQ(error_of({.H = 4, .W = 4, .Wf = 2, .left = -2, .right = -1}),
            "conv2d: the filter spans 2 columns, the padded image has 1");
  EXPECT_EQ(error_of({.C = 0}), "conv2d: C: expected at least 1, found 0");
  EXPECT_EQ(error_of({.stride_w = 0}), "conv2d: stride: expected at least 1, found 0");
}

// Work of four published convolutions in closed form. Image bytes count the rows of every band and strip, halo
// included: those are copied as zeros.
struct Golden {
  const char* name;
  PlanRequest request;
  std::vector<std::array<std::int64_t, 3>> tiles;  // C, REP, HO
  std::int64_t strips, matmuls, pe_cycles, image_bytes;
};

const Golden goldens[] = {
    {"256->256 3x3, 224x224",
     {{.N = 1, .C = 256, .H = 224, .W = 224, .O = 256, .Hf = 3, .Wf = 3}},
     {{128, 1, 3}, {128, 1, 3}},
     8,
     3996,
     1774224,
     77070336},
    {"3->64 7x7 s2 p3, 224",
     {{.N = 1,
       .C = 3,
       .H = 224,
       .W = 224,
       .O = 64,
       .Hf = 7,
       .Wf = 7,
       .stride_h = 2,
       .stride_w = 2,
       .top = 3,
       .bottom = 3,
       .left = 3,
       .right = 3},
      numeric::DType::bf16,
      Layouts{},
      Variant::strided},
     {{3, 7, 1}},
     28,
     196,
     87808,
     3424512},
    {"64->64 3x3 p1, 56x56",
     {{.N = 1, .C = 64, .H = 56, .W = 56, .O = 64, .Hf = 3, .Wf = 3, .top = 1, .bottom = 1, .left = 1, .right = 1}},
     {{64, 2, 2}},
     7,
     42,
     18816,
     1806336},
    {"32->32 5x5 p2, 32x32, N=4",
     {{.N = 4, .C = 32, .H = 32, .W = 32, .O = 32, .Hf = 5, .Wf = 5, .top = 2, .bottom = 2, .left = 2, .right = 2}},
     {{32, 4, 2}},
     8,
     80,
     40960,
     2097152},
};

class GoldenConvolutions : public testing::TestWithParam<Golden> {};

TEST_P(GoldenConvolutions, CountersOfThePlanAndOfTheStreams) {
  const Golden& golden = GetParam();
  const Machine machine;
  const Plan plan = make_plan(golden.request, machine);
  ASSERT_EQ(plan.tiles.size(), golden.tiles.size());
  for (std::size_t i = 0; i < plan.tiles.size(); ++i)
    EXPECT_EQ((std::array{plan.tiles[i].count, plan.tiles[i].rep, plan.tiles[i].outer_tiles}), golden.tiles[i]);
  EXPECT_EQ(plan.strips(), golden.strips);
  EXPECT_LE(plan.bytes(), plan.sbuf_bytes);
  const Prediction predicted = predict(plan);
  EXPECT_EQ(predicted.matmuls, golden.matmuls);
  EXPECT_EQ(predicted.pe_cycles, golden.pe_cycles);
  EXPECT_EQ(predicted.image_bytes, golden.image_bytes);

  Kernel kernel(machine);
  emit(kernel, plan, {});
  const Schedule schedule = neuron::schedule(kernel);
  std::int64_t matmuls = 0;
  std::int64_t cycles = 0;
  for (const auto& instruction : schedule.streams[static_cast<std::size_t>(Engine::pe)]) {
    if (instruction.opcode != neuroncore::Opcode::matmul) continue;
    ++matmuls;
    cycles +=
        std::max<std::int64_t>(instruction.source0.elements(), std::min<std::int64_t>(64, instruction.partitions));
  }
  EXPECT_EQ(matmuls, golden.matmuls);
  EXPECT_EQ(cycles, golden.pe_cycles);
  std::uint64_t bytes = 0;
  for (const auto queue : schedule.queues[static_cast<std::size_t>(QueueClass::inputs)])
    for (const auto& ring : schedule.rings[queue])
      for (const auto& descriptor : ring) bytes += descriptor.empty ? 0 : descriptor.destination.bytes();
  EXPECT_EQ(bytes, static_cast<std::uint64_t>(golden.image_bytes));
}

INSTANTIATE_TEST_SUITE_P(Published, GoldenConvolutions, testing::ValuesIn(goldens));

TEST(Plan, HaloOfTheHeadlineIsThreeRowsOfEachChannelTile) {
  // The last strip starts at output row 196: bands of 28 rows from 196, 197 and 198 on leave the 224 rows by 0, 1
  // and 2.
  const Prediction predicted = predict(make_plan(goldens[0].request, Machine{}));
  EXPECT_EQ(predicted.halo_bytes, 3 * 256 * 224 * 2);
}

TEST(Plan, Fp32CostsFourTimesTheCycles) {
  PlanRequest request = goldens[0].request;
  request.dtype = numeric::DType::fp32;
  const Prediction predicted = predict(make_plan(request, Machine{}));
  EXPECT_EQ(predicted.pe_cycles, 4 * 1774224);
  EXPECT_EQ(predicted.matmuls, 3996);
}

TEST(Plan, CutsUntilItFits) {
  PlanRequest request = goldens[0].request;
  Machine machine;
  machine.sbuf_bytes = 40'000;
  const Plan plan = make_plan(request, machine);
  EXPECT_LE(plan.bytes(), 40'000);
  EXPECT_GT(plan.strips(), 8);
  EXPECT_EQ(predict(plan).macs, request.problem.useful_macs());  // all partitions used, whatever the strips
}

TEST(Plan, TooLittleSbufIsTheAllocatorsError) {
  PlanRequest request{{.N = 1, .C = 4, .H = 4, .W = 1000, .O = 8, .Hf = 1, .Wf = 1}};
  Machine machine;
  machine.sbuf_bytes = 2'048;
  Kernel kernel(machine);
  const Plan plan = make_plan(request, machine);
  try {
    emit(kernel, plan, {});
    FAIL();
  } catch (const UserError& error) {
    // One filter tile of 8 bf16 at a 64-byte grain, then a row of 1000 bf16.
    EXPECT_STREQ(
        error.what(),
        "SBUF: 'image0' needs 2000 bytes a partition, 1984 of 2048 free (largest gap 1984); held: filter0 16 at 0, "
        "free 1984 at 64");
  }
}

TEST(Plan, TextNamesWhatMatters) {
  const std::string text = make_plan(goldens[3].request, Machine{}).text();
  for (const char* part : {"H_REP 4", "outer tiles 2", "partitions 96..127", "strips: 8", "PSUM: batches of",
                           "80 matmuls", "40960 PE cycles"})
    EXPECT_THAT(text, HasSubstr(part));
}

using Runs = std::map<std::int64_t, std::int64_t>;

// 8 strips x 2 outer tiles x 4 bands x 32 channels x 4 rows, each 32 columns x 4 images of 2 bytes: with zero columns
// beside them rows do not continue each other.
TEST(ImageRuns, RowsWithZeroColumnsAreRunsOfTheirOwn) {
  const Problem p{
      .N = 4, .C = 32, .H = 32, .W = 32, .O = 32, .Hf = 5, .Wf = 5, .top = 2, .bottom = 2, .left = 2, .right = 2};
  const Plan plan = make_plan({.problem = p}, Machine{});
  EXPECT_EQ(image_runs(plan), (Runs{{256, 8192}}));
  EXPECT_THAT(plan.text(), HasSubstr("\n  image DMA: 8192 runs of 256 bytes\n"));
}

// 8 strips of 28 rows of 448 bytes, 3 outer tiles, 256 channels. The last strip begins at row 196 + t: t = 1 leaves the
// image by one row, t = 2 by two; each of those comes from the row of zeros.
TEST(ImageRuns, RowsWithoutZeroColumnsContinueEachOther) {
  const Problem p{.C = 256, .H = 224, .W = 224, .O = 256, .Hf = 3, .Wf = 3};
  EXPECT_EQ(image_runs(make_plan({.problem = p}, Machine{})),
            (Runs{{28 * 448, 22 * 256}, {27 * 448, 256}, {26 * 448, 256}, {448, 3 * 256}}));
}

// What the descriptors hold: the side with more contiguous pieces.
std::int64_t runs_of_descriptors(const Plan& plan) {
  Kernel kernel{Machine{}};
  const std::uint64_t apart = 1 << 24;
  emit(kernel, plan, {.image = 0, .filter = apart, .output = 2 * apart, .zeros = 3 * apart});
  const Schedule schedule = neuron::schedule(kernel);
  std::uint64_t total = 0;
  for (const auto queue : schedule.queues[static_cast<std::size_t>(QueueClass::inputs)])
    for (const auto& ring : schedule.rings[queue])
      for (const auto& descriptor : ring)
        if (!descriptor.empty) total += std::max(descriptor.source.runs(), descriptor.destination.runs());
  return static_cast<std::int64_t>(total);
}

TEST(ImageRuns, AreThoseOfTheDescriptors) {
  const Problem padded{.N = 3, .C = 20, .H = 14, .W = 10, .O = 8, .Hf = 3, .Wf = 2, .top = 1, .bottom = 2, .left = 1};
  const Problem plain{.N = 45, .C = 6, .H = 12, .W = 9, .O = 8, .Hf = 2, .Wf = 2, .bottom = 1};
  Machine small;
  small.sbuf_bytes = 2'000;
  for (const Problem& problem : {padded, plain})
    for (const auto layout : {ImageLayout::chwn, ImageLayout::nchw})
      for (const auto variant : {Variant::standard, Variant::strided})
        for (const Machine& machine : {Machine{}, small}) {
          if (layout == ImageLayout::nchw && variant == Variant::strided) continue;
          const Plan plan = make_plan({.problem = problem, .layouts = {.image = layout}, .variant = variant}, machine);
          std::int64_t count = 0, bytes = 0;
          for (const auto& [length, runs] : image_runs(plan)) {
            count += runs;
            bytes += length * runs;
          }
          EXPECT_EQ(count, runs_of_descriptors(plan)) << plan.text();
          EXPECT_EQ(bytes, predict(plan).image_bytes) << plan.text();
        }
}

}  // namespace
}  // namespace tilevp::neuron::conv2d
