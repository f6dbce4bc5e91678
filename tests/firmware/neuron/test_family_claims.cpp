// What public reverse engineering of AWS's kernels (GrigoryEvko/nvopen-tools, page on dense convolutions) claims of the
// family, and how many instructions of each kind a variant has, by closed forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/conv2d/variants.hpp"
#include "tilevp/neuron/operands.hpp"

namespace tilevp::test {
namespace {

using namespace neuron::conv2d;
using neuron::Operation;
using neuron::QueueClass;
using neuroncore::Opcode;
using testing::HasSubstr;

// The calls of a variant's kernel.
class Trace {
 public:
  Trace(std::string_view variant, const PlanRequest& request) : kernel_(neuron::Machine{}) {
    const VariantInfo& info = *find_variant(variant);
    EXPECT_EQ(info.refusal(request), "") << variant;
    const auto convolution = info.make(request, neuron::Machine{});
    std::uint64_t next = 0;
    convolution->place([&](const std::string&, std::uint64_t bytes) { return std::exchange(next, next + bytes); });
    convolution->emit(kernel_);
  }

  const std::vector<Operation>& operations() const { return kernel_.operations(); }
  std::vector<const Operation*> of(std::string_view call) const {
    std::vector<const Operation*> list;
    for (const Operation& operation : kernel_.operations())
      if (operation.call == call) list.push_back(&operation);
    return list;
  }
  std::vector<const Operation*> copies(QueueClass of) const {
    std::vector<const Operation*> list;
    for (const Operation& operation : kernel_.operations())
      if (operation.is_copy && operation.queue_class == of) list.push_back(&operation);
    return list;
  }

 private:
  neuron::Kernel kernel_;
};

PlanRequest dense(const Problem& problem) { return {.problem = problem}; }

PlanRequest grouped(Problem problem) {
  PlanRequest request{.problem = problem};
  if (problem.batch_groups > 1) request.layouts = {.image = ImageLayout::cnhw, .filter = FilterLayout::cohw};
  return request;
}

// "H_REP is stacked onto the contraction (partition) axis." 32 channels, 5 rows: 4 rows fit 128 partitions (not 5); the
// second outer tile has one row. 128 channels: no row beside another.
TEST(FamilyClaims, RowsStandOnThePartitionsOfBothOperands) {
  for (const char* variant : {"default", "stride", "packing"})
    for (const auto& [channels, partitions, outer] :
         {std::tuple{32, 128, 2}, {3, 15, 1}, {128, 128, 5}, {50, 100, 3}}) {
      const Trace trace(variant, dense({.C = channels, .H = 9, .W = 9, .O = 8, .Hf = 5, .Wf = 2}));
      const auto matmuls = trace.of("nc_matmul");
      for (const Operation* matmul : matmuls) {
        EXPECT_EQ(matmul->instruction.source_partitions, partitions);
        EXPECT_EQ(matmul->instruction.partitions, 8);  // filters, not partitions: they are the free axis
      }
      EXPECT_EQ(matmuls.size() % static_cast<std::size_t>(2 * outer), 0u) << variant << " " << channels;
    }
}

// "This is the PE-array path; depthwise is not." Three places call nc_matmul, one a dense variant; the diagonals call
// those.
TEST(FamilyClaims, MatmulsInDenseVariantsNoneInDepthwise) {
  const Problem row{.C = 8, .H = 1, .W = 20, .O = 8, .Wf = 3, .groups = 8};
  const Problem plane{.C = 8, .H = 9, .W = 9, .O = 8, .Hf = 3, .Wf = 3};
  std::size_t with = 0;
  for (const VariantInfo& info : variants()) {
    PlanRequest request{.problem = plane};
    const std::string name(info.full_name);
    const bool depthwise = name.find("depthwise") != std::string::npos;
    if (name.starts_with("conv1d")) request = {.problem = row, .layouts = {.image = ImageLayout::nchw}};
    if (name.starts_with("conv2d_depthwise") || name == "conv2d_column_packing_1") request.problem.groups = 8;
    if (name == "conv2d_column_packing" || name == "conv2d_column_packing_io10") {
      request.problem.N = request.problem.batch_groups = 8;
      request.layouts = {.image = ImageLayout::cnhw,
                         .filter = name.ends_with("io10") ? FilterLayout::cowh : FilterLayout::cohw};
    }
    const auto matmuls = Trace(info.name, request).of("nc_matmul").size();
    EXPECT_EQ(matmuls == 0, depthwise) << name;
    with += matmuls > 0 ? 1 : 0;
  }
  EXPECT_EQ(with, 6u);
}

// "nc_matmul is called dest-first."
TEST(FamilyClaims, MatmulTakesItsDestinationFirst) {
  neuron::Kernel kernel(neuron::Machine{});
  const auto x = kernel.sbuf("x", numeric::DType::bf16, 0, 64);
  const auto bank = kernel.psum("bank", 0);
  const auto tile = x.ap({{64, 16}, {1, 16}});
  const auto out = bank.ap({{512, 16}, {1, 16}});
  try {
    kernel.nc_matmul(tile, tile, out);
    FAIL() << "destination last was taken";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("dest-first (dst, stationary, moving): operand dst is 'x' in SBUF"));
  }
}

// "Column packing = dense run for a diagonal": a copy a block, from HBM to HBM. One image: planes (B + 1) * K0 * K1
// apart. One image a group: K0 * K1 * B + 1 apart, and their elements B apart.
TEST(FamilyClaims, DiagonalIsOneStridedCopyABlock) {
  for (const bool images : {false, true})
    for (const long groups : {6, 128, 140}) {
      Problem p{.C = 2, .H = 5, .W = 4, .O = groups, .Hf = 2, .Wf = 2};  // 4 x 3 outputs
      if (images)
        p.N = p.batch_groups = groups;
      else
        p.C = p.groups = groups;
      const Trace trace(images ? "diagonal" : "diagonal1", grouped(p));
      std::vector<const Operation*> diagonals;
      for (const Operation* copy : trace.copies(QueueClass::outputs))
        if (copy->parts[0].source.memory() == neuron::Memory::hbm) diagonals.push_back(copy);
      ASSERT_EQ(diagonals.size(), groups > 128 ? 2u : 1u);
      const long blocks[] = {std::min(groups, 128L), groups - 128};
      for (std::size_t i = 0; i < diagonals.size(); ++i) {
        const long block = blocks[i];
        ASSERT_EQ(diagonals[i]->parts.size(), 1u);
        const auto& source = diagonals[i]->parts[0].source;
        EXPECT_EQ(source.outer(), (neuron::Pair{images ? 12 * block + 1 : (block + 1) * 12, block}));
        EXPECT_EQ(source.free()[0], (neuron::Pair{images ? block : 1, 12}));
        EXPECT_EQ(diagonals[i]->parts[0].destination.offset(), i == 0 ? 0 : 128 * 12);
      }
    }
}

// Of a dense block of B x B groups one in B products is wanted.
TEST(FamilyClaims, DiagonalComputesTheWholeBlock) {
  const Problem p{.C = 16, .H = 8, .W = 8, .O = 16, .Hf = 3, .Wf = 3, .groups = 16};
  const auto convolution = find_variant("diagonal1")->make(grouped(p), neuron::Machine{});
  EXPECT_EQ(convolution->prediction().macs, 16 * p.useful_macs());
}

// "Stride lives in the moving access pattern, not the DMA": [stride_h * W_padded, rows] and [stride_w, columns]; whole
// rows are staged, every one of them.
TEST(FamilyClaims, StrideLiesInTheMovingPattern) {
  const Trace trace(
      "stride",
      dense({.C = 4, .H = 11, .W = 13, .O = 8, .Hf = 3, .Wf = 3, .stride_h = 2, .stride_w = 3, .left = 1, .right = 1}));
  // 15 padded columns; 5 output rows and 5 columns fit one matmul.
  for (const Operation* matmul : trace.of("nc_matmul")) {
    const auto& dims = matmul->instruction.source0.dims;
    EXPECT_EQ(dims[1], (neuroncore::Dim{2 * 15, 5}));
    EXPECT_EQ(dims[2], (neuroncore::Dim{3, 5}));
  }
  // (5 - 1) * 2 + 3 = 11 rows a band: the image whole for the first, and so on.
  const auto loads = trace.copies(QueueClass::inputs);
  ASSERT_EQ(loads.size(), 1u);
  const auto& band = loads[0]->parts[0];
  EXPECT_EQ(band.source.elements(), 11 * 13);
  EXPECT_EQ(band.source.free().size(), 1u);  // one contiguous run a channel
  EXPECT_EQ(band.source.free()[0].step, 1);
}

using Histogram = std::map<std::string, long>;
Histogram histogram(const Trace& trace) {
  Histogram calls;
  for (const Operation& operation : trace.operations()) {
    constexpr const char* classes[] = {" image", " filter", " output", " local"};
    ++calls[operation.is_copy ? operation.call + std::string(classes[static_cast<std::size_t>(operation.queue_class)])
                              : std::string(operation.call)];
  }
  return calls;
}

// 64 channels, 3 rows: 2 bands, 2 outer tiles (the second has an empty band, which is cleared). 56 x 56 outputs, 9 rows
// a matmul (512 / 56) and at most 8 strips: 7 strips of 9 rows (the last of 2), one tile each. A band has 56 columns
// and one of zeros on either side, cleared once in each of 4 image buffers (2 batches).
TEST(FamilyHistogram, DefaultOf64Channels) {
  const Problem p{.C = 64, .H = 56, .W = 56, .O = 64, .Hf = 3, .Wf = 3, .top = 1, .bottom = 1, .left = 1, .right = 1};
  constexpr long tiles = 7, outer = 2, taps = 3;
  EXPECT_EQ(histogram(Trace("default", dense(p))), (Histogram{{"nc_matmul", outer * taps * tiles},
                                                              {"tensor_copy", tiles},
                                                              {"tensor_tensor", (outer - 1) * tiles},
                                                              {"memset", 2 * 4 + 1},
                                                              {"dma_copy image", outer * tiles},
                                                              {"dma_copy filter", outer},
                                                              {"dma_copy output", tiles}}));
}

// The same by column packing: 2 image buffers; each of 7 tiles is stored for itself.
TEST(FamilyHistogram, PackingOf64Channels) {
  const Problem p{.C = 64, .H = 56, .W = 56, .O = 64, .Hf = 3, .Wf = 3, .top = 1, .bottom = 1, .left = 1, .right = 1};
  constexpr long tiles = 7, outer = 2, taps = 3;
  EXPECT_EQ(histogram(Trace("packing", dense(p))), (Histogram{{"nc_matmul", outer * taps * tiles},
                                                              {"tensor_copy", tiles},
                                                              {"tensor_tensor", (outer - 1) * tiles},
                                                              {"memset", 2 * 2 + 1},
                                                              {"dma_copy image", outer * tiles},
                                                              {"dma_copy filter", outer},
                                                              {"dma_copy output", tiles}}));
}

// 8 strips of 14 rows of 112: 4 tiles of 4 rows (the last of 2) a strip, twice for 200 filters; 5 outer tiles of one
// row for 128 channels, 3 columns. Tiles of a strip, 8 combos, share the banks: column by column. No padding: one
// matmul more would be one too many.
TEST(FamilyHistogram, PackingOfTwoFilterTiles) {
  const Problem p{.C = 128, .H = 116, .W = 114, .O = 200, .Hf = 5, .Wf = 3};
  const Trace trace("packing", dense(p));
  constexpr long strips = 8, combos = 4 * 2, outer = 5, taps = 3;
  EXPECT_EQ(histogram(trace), (Histogram{{"nc_matmul", outer * taps * combos * strips},
                                         {"tensor_copy", combos * strips},
                                         {"tensor_tensor", (outer - 1) * combos * strips},
                                         {"dma_copy image", outer * strips},
                                         {"dma_copy filter", outer},
                                         {"dma_copy output", combos * strips}}));
  const auto matmuls = trace.of("nc_matmul");
  for (std::size_t i = 0; i < 8 * taps; ++i) {
    EXPECT_EQ(matmuls[i]->instruction.destination.offset, i % 8 * neuroncore::psum_bank_bytes) << i;
    EXPECT_EQ((matmuls[i]->instruction.flags & neuroncore::matmul_start) != 0, i < 8) << i;
  }
}

// The ResNet stem: 28 tiles of 4 x 112 outputs, one outer tile of 7 rows; every tile stages 7 bands anew.
TEST(FamilyHistogram, StrideOfTheStem) {
  const Problem p{.C = 3,
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
                  .right = 3};
  constexpr long tiles = 28, taps = 7;
  EXPECT_EQ(histogram(Trace("stride", dense(p))), (Histogram{{"nc_matmul", taps * tiles},
                                                             {"tensor_copy", tiles},
                                                             {"memset", 2 * 2},
                                                             {"dma_copy image", tiles},
                                                             {"dma_copy filter", 1},
                                                             {"dma_copy output", tiles}}));
}

// 140 groups are blocks of 128 and 12. Each: one transposed image (a 16-column tile, 128 rows on the PE array, 12 on
// the vector engine), one filter block, a dense convolution, a diagonal.
TEST(FamilyHistogram, DiagonalOfTwoBlocks) {
  const Problem p{.C = 140, .H = 4, .W = 4, .O = 140, .Hf = 2, .Wf = 2, .groups = 140};
  PlanRequest request{.problem = p};
  request.layouts.filter = FilterLayout::ochw;
  const Histogram calls = histogram(Trace("diagonal1", request));
  EXPECT_EQ(calls.at("nc_transpose"), 2 * 2);
  // 3 x 3 outputs; 128 images: 3 columns (512 / 128 = 4) of one row a matmul; 12 images: 9 outputs at once. 2 columns.
  EXPECT_EQ(calls.at("nc_matmul"), 3 * 2 + 1 * 2);
  EXPECT_EQ(calls.at("dma_copy filter"), 2);
  EXPECT_EQ(calls.at("dma_copy local"), 2 * 2 * 2);  // to and from SBUF, image and filter, of two blocks
}

}  // namespace
}  // namespace tilevp::test
