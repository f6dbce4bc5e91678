// The builder: what it records, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/kernel.hpp"

namespace tilevp::neuron {
namespace {

using testing::HasSubstr;

template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

class KernelTest : public testing::Test {
 protected:
  Kernel k{Machine{}};
  Tensor w = k.sbuf("w", numeric::DType::bf16, 0, 64);
  Tensor x = k.sbuf("x", numeric::DType::bf16, 1024, 4096);
  Tensor bank = k.psum("bank", 3);
  Tensor y = k.hbm("y", numeric::DType::fp32, 1 << 20, 64, 100);
  Access stationary = w.ap({{64, 96}, {1, 32}}, 8);
  Access moving = x.ap({{4096, 96}, {200, 4}, {2, 50}}, 4096 * 0 + 10);
  Access result = bank.ap({{512, 32}, {1, 200}});
};

TEST_F(KernelTest, MatmulIsEncodedDestinationFirst) {
  k.nc_matmul(result, stationary, moving, {.start = true});
  ASSERT_EQ(k.operations().size(), 1u);
  const auto& instruction = k.operations()[0].instruction;
  EXPECT_EQ(instruction.opcode, neuroncore::Opcode::matmul);
  EXPECT_EQ(instruction.flags, neuroncore::matmul_start);
  EXPECT_EQ(instruction.partitions, 32);
  EXPECT_EQ(instruction.source_partitions, 96);
  EXPECT_EQ(instruction.destination.space, neuroncore::Space::psum);
  EXPECT_EQ(instruction.destination.offset, 3u * 2048);
  EXPECT_EQ(instruction.destination.elements(), 200u);
  EXPECT_EQ(instruction.source1.offset, 16u);
  EXPECT_EQ(instruction.source0.offset, 1024u + 20);
  EXPECT_EQ(instruction.source0.dims[0], (neuroncore::Dim{0, 1}));
  EXPECT_EQ(instruction.source0.dims[1], (neuroncore::Dim{200, 4}));
  EXPECT_EQ(instruction.source0.dims[2], (neuroncore::Dim{2, 50}));
  k.nc_matmul(result, stationary, moving, {.stop = true, .reuse = true});
  EXPECT_EQ(k.operations()[1].instruction.flags,
            neuroncore::matmul_accumulate | neuroncore::matmul_stop | neuroncore::matmul_reuse);
}

TEST_F(KernelTest, TransposeSwapsPartitionsAndElements) {
  const Tensor bf16_bank = k.psum("bf16 bank", 2, numeric::DType::bf16);
  k.nc_transpose(bf16_bank.ap({{1024, 50}, {1, 96}}), x.ap({{4096, 96}, {2, 50}}, 10));
  const auto& operation = k.operations()[0];
  EXPECT_EQ(operation.engine, Engine::pe);
  EXPECT_EQ(disassemble(operation.instruction),
            "transpose psum[0..49, bank 2 + 0, 96:1] bf16 = sbuf[0..95, 1044, 50:2] bf16");
  ASSERT_EQ(operation.regions.size(), 2u);
  EXPECT_EQ(operation.regions[0].row_end, 96u);
  EXPECT_EQ(operation.regions[1].row_end, 50u);
  EXPECT_TRUE(operation.regions[1].write);
  EXPECT_EQ(error_of([&] {
              k.nc_transpose(bf16_bank.ap({{1024, 50}, {1, 95}}), x.ap({{4096, 96}, {2, 50}}));
            }),
            "nc_transpose #1: elements of dst and partitions of source differ: 95 and 96");
}

TEST_F(KernelTest, DmaTransposesAreForNcV3) {
  const Access to = x.ap({{4096, 100}, {1, 64}});
  const Access from = y.ap({{100, 64}, {1, 100}});
  EXPECT_EQ(error_of([&] {
              k.dma_transpose({{to, from}}, QueueClass::local);
            }),
            "dma_transpose #0: NC-v2 has no DMA transposes; NC-v3 and later have");
  Kernel v3{Machine{.generation = 3}};
  const Tensor rows = v3.hbm("rows", numeric::DType::bf16, 0, 64, 100);
  const Tensor columns = v3.sbuf("columns", numeric::DType::bf16, 0, 256);
  const Access row_access = rows.ap({{100, 64}, {1, 100}});
  v3.dma_transpose({{columns.ap({{256, 100}, {1, 64}}), row_access}}, QueueClass::local);
  v3.dma_transpose({{columns.ap({{256, 50}, {64, 2}, {1, 64}}), row_access}}, QueueClass::local);
  EXPECT_TRUE(v3.operations()[1].parts[0].transposes);
  EXPECT_EQ(error_of([&] {
              v3.dma_transpose({{columns.ap({{256, 100}, {1, 63}}), row_access}}, QueueClass::local);
            }),
            "dma_transpose #2: elements of dst and rows of source times tiles differ: 63 and 64");
  EXPECT_EQ(error_of([&] {
              v3.dma_transpose({{row_access, row_access}}, QueueClass::local);
            }).substr(0, 17),
            "dma_transpose #2:");
}

// The pattern of the source is cut where a run ends, also in the middle of a dimension that was merged.
TEST_F(KernelTest, ReduceCutsThePatternBehindEachRun) {
  const Tensor out = k.sbuf("out", numeric::DType::fp32, 0, 64);
  const auto reduced = [&](std::int64_t results, const Access& source) {
    k.tensor_reduce(out.ap({{64, 8}, {1, results}}), AluOp::add, source);
    return disassemble(k.operations().back().instruction);
  };
  const std::string to = "tensor_reduce sbuf[0..7, 0, ";
  EXPECT_EQ(reduced(10, x.ap({{4096, 8}, {1, 30}})), to + "10:1] fp32 = add sbuf[0..7, 1024, 10:3 3:1] bf16 over 1");
  EXPECT_EQ(reduced(10, x.ap({{4096, 8}, {1, 10}, {1, 3}})),
            to + "10:1] fp32 = add sbuf[0..7, 1024, 10:1 3:1] bf16 over 1");
  EXPECT_EQ(reduced(5, x.ap({{4096, 8}, {100, 10}, {1, 3}})),
            to + "5:1] fp32 = add sbuf[0..7, 1024, 5:200 2:100 3:1] bf16 over 2");
  EXPECT_EQ(reduced(1, x.ap({{4096, 8}, {100, 10}, {1, 3}})),
            to + "1:1] fp32 = add sbuf[0..7, 1024, 10:100 3:1] bf16 over 2");
  EXPECT_EQ(reduced(4, x.ap({{4096, 8}, {7, 4}})), to + "4:1] fp32 = add sbuf[0..7, 1024, 4:7 1:7] bf16 over 1");
  EXPECT_EQ(error_of([&] {
              reduced(6, x.ap({{4096, 8}, {100, 10}, {1, 3}}));
            }),
            "tensor_reduce #5: 'x' in SBUF: no dimension ends after 5 elements");
  EXPECT_EQ(error_of([&] {
              reduced(4, x.ap({{4096, 8}, {1, 30}}));
            }),
            "tensor_reduce #5: elements of source are no multiple of those of dst: 30 and 28");
}

TEST_F(KernelTest, RefusesTheOrderOfTheStub) {
  k.memset(w.all(), 0.0F);
  EXPECT_EQ(error_of([&] { k.nc_matmul(stationary, moving, result); }),
            "nc_matmul #1: dest-first (dst, stationary, moving): operand dst is 'w' in SBUF, expected PSUM");
  EXPECT_EQ(error_of([&] { k.nc_matmul(result, stationary, result); }),
            "nc_matmul #1: dest-first (dst, stationary, moving): operand moving is 'bank' in PSUM, expected SBUF");
  EXPECT_EQ(error_of([&] {
              k.nc_matmul(result, y.ap({{100, 32}, {1, 8}}), moving);
            }),
            "nc_matmul #1: dest-first (dst, stationary, moving): operand stationary is 'y' in HBM, expected SBUF");
}

TEST_F(KernelTest, RefusesShapesThatDoNotFitEachOther) {
  EXPECT_EQ(error_of([&] {
              k.nc_matmul(result, w.ap({{64, 95}, {1, 32}}), moving);
            }),
            "nc_matmul #0: partitions of stationary and moving (K) differ: 95 and 96");
  EXPECT_EQ(error_of([&] {
              k.nc_matmul(bank.ap({{512, 31}, {1, 200}}), stationary, moving);
            }),
            "nc_matmul #0: partitions of dst and elements of stationary (M) differ: 31 and 32");
  EXPECT_EQ(error_of([&] {
              k.nc_matmul(bank.ap({{512, 32}, {1, 199}}), stationary, moving);
            }),
            "nc_matmul #0: elements of dst and of moving (N) differ: 199 and 200");
  EXPECT_EQ(error_of([&] {
              k.tensor_copy(x.ap({{4096, 8}, {1, 5}}), w.ap({{64, 8}, {1, 6}}));
            }),
            "tensor_copy #0: elements of dst and source differ: 5 and 6");
  EXPECT_EQ(error_of([&] {
              k.dma_copy(y.ap({{100, 3}, {1, 5}}), w.ap({{64, 8}, {1, 5}}), QueueClass::outputs);
            }),
            "dma_copy #0: outermost elements (partitions) of dst and source differ: 3 and 8");
}

TEST_F(KernelTest, RefusesWhatAnInstructionCannotHold) {
  const Tensor wide = k.sbuf("wide", numeric::DType::uint8, 0, 170'000);
  EXPECT_EQ(error_of([&] {
              k.memset(wide.ap({{170'000, 4}, {40'000, 3}, {1, 2}}), 0.0F);
            }),
            "memset #0: dst 'wide' in SBUF: step 40000, the field holds -32768..32767");
  EXPECT_EQ(error_of([&] {
              k.memset(wide.ap({{170'000, 4}, {1, 70'000}}), 0.0F);
            }),
            "memset #0: dst 'wide' in SBUF: num 70000, the field holds at most 65535");
  EXPECT_EQ(error_of([&] {
              k.memset(wide.ap({{170'000, 4}, {1000, 2}, {100, 2}, {10, 2}, {1, 2}}), 0.0F);
            }),
            "memset #0: dst 'wide' in SBUF: 4 free dimensions after merging, an instruction holds 3");
  EXPECT_EQ(error_of([&] {
              k.tensor_copy(x.ap({{4096, 3}, {1, 4}}), y.ap({{100, 3}, {1, 4}}));
            }),
            "tensor_copy #0: src 'y' in HBM: engines reach SBUF and PSUM, not HBM");
  EXPECT_THAT(error_of([&] {
                k.dma_copy(y.ap({{100, 3}, {1, 4}}), bank.ap({{512, 3}, {1, 4}}), QueueClass::outputs);
              }),
              HasSubstr("'bank' in PSUM: copies reach HBM and SBUF"));
}

TEST_F(KernelTest, PatternsStayInTheirTensor) {
  EXPECT_EQ(error_of([&] {
              w.ap({{64, 129}, {1, 8}});
            }),
            "'w' in SBUF: access pattern reaches partition 128, the tensor has 128");
  EXPECT_EQ(error_of([&] {
              w.ap({{64, 2}, {1, 60}}, 5);
            }),
            "'w' in SBUF: access pattern reaches elements 5..64 of a partition, the tensor has 64");
  EXPECT_EQ(error_of([&] {
              w.ap({{64, 2}, {-1, 3}}, 1);
            }),
            "'w' in SBUF: access pattern reaches elements -1..1 of a partition, the tensor has 64");
  EXPECT_EQ(error_of([&] { w.ap({{32, 2}, {1, 8}}); }), "'w' in SBUF: partition step 32, expected the free size 64");
  EXPECT_EQ(error_of([&] {
              y.ap({{100, 64}, {1, 101}});
            }),
            "'y' in HBM: access pattern reaches elements 0..6400, the tensor has 6400");
  EXPECT_THAT(error_of([&] { w.ap({{64, 0}, {1, 8}}); }), HasSubstr("num 0, expected at least 1"));
}

TEST_F(KernelTest, PairsThatContinueEachOtherBecomeOne) {
  const Access merged = x.ap({{4096, 8}, {100, 5}, {10, 10}, {1, 10}});
  ASSERT_EQ(merged.free().size(), 1u);
  EXPECT_EQ(merged.free()[0], (Pair{1, 500}));
  const Access apart = x.ap({{4096, 8}, {100, 5}, {10, 9}, {1, 10}});
  ASSERT_EQ(apart.free().size(), 2u);
  EXPECT_EQ(apart.free()[0], (Pair{100, 5}));
  EXPECT_EQ(apart.free()[1], (Pair{1, 90}));
}

// A pattern is over the tensor: partition = offset / free size, whatever was looked at before.
TEST_F(KernelTest, OffsetsCountFromTheTensor) {
  const Access part = x.ap({{4096, 3}, {1, 7}}, 5 * 4096 + 11);
  EXPECT_EQ(part.first_partition(), 5);
  EXPECT_EQ(part.first_element(), 11);
  k.memset(part, 0.0F);
  const auto& region = k.operations()[0].regions[0];
  EXPECT_EQ(region.row_begin, 5u);
  EXPECT_EQ(region.row_end, 8u);
  EXPECT_EQ(region.byte_begin, 1024u + 22);
  EXPECT_EQ(region.byte_end, 1024u + 36);
}

}  // namespace
}  // namespace tilevp::neuron
