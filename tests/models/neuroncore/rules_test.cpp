// Every rule of the table, broken once.
#include "tilevp/neuroncore/rules.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "core_bench.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/legality.hpp"
#include "tilevp/neuroncore/race_detector.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace {

using namespace tilevp::neuroncore;
using namespace tilevp::neuroncore::test;
using tilevp::Fault;
using tilevp::numeric::DType;

// What breaks a rule and the message it must give. One instruction is enough for most, a run for the others.
struct Breach {
  std::string message;
  std::function<void()> act;
};

Breach instruction(Engine engine, Instruction i, std::string message, std::uint32_t generation = 2) {
  return {std::move(message), [=] { check(i, engine, {generation, 180'224}, 412); }};
}

using Prepare = std::function<void(CoreBench&)>;
Breach run(std::string message, Prepare prepare) {
  return {std::move(message), [prepare = std::move(prepare)] {
            CoreBench bench;
            bench.before = [&] {
              const std::vector<float> ones(512, 1.0F);
              for (unsigned p = 0; p < 16; ++p) bench.write_floats(Space::sbuf, p, 0, ones);
            };
            prepare(bench);
            bench.run();
          }};
}

// The same with the detector of races, on four engines' streams.
Breach race(std::string message, std::map<Engine, std::vector<Instruction>> streams) {
  return run(std::move(message), [streams = std::move(streams)](CoreBench& bench) {
    const auto races = std::make_shared<RaceDetector>(RaceSetup{.engine_port_base = bench.core.agent_port(0)});
    bench.core.watch(*races);
    bench.after = [races] {};  // it lasts as long as the bench
    for (const auto& [engine, stream] : streams) bench.program(engine, stream);
  });
}

Instruction small_matmul(unsigned flags, unsigned bank = 0) { return matmul(16, 16, 16, 0, 64, bank, flags); }

Instruction changed(Instruction i, const std::function<void(Instruction&)>& change) {
  change(i);
  return i;
}

constexpr unsigned whole_group = matmul_start | matmul_stop;

std::map<std::string, Breach> instruction_breaches() {
  const Operand s = sbuf_tile(0, 0, 8);
  const Instruction ok = matmul(128, 128, 512, 0, 4096, 0, whole_group);
  const Instruction copy = tensor_copy(sbuf_tile(0, 64, 8), s, 32);
  return {
      {rule::engine_opcode, instruction(Engine::scalar, copy, "the scalar engine does not execute it")},
      {rule::operand_space,
       instruction(Engine::gpsimd, tensor_copy(psum_tile(0, 0, 8), s, 32), "gpsimd engine does not reach")},
      {rule::operand_empty, instruction(Engine::vector, changed(copy, [](auto& i) { i.source0.dims[1].num = 0; }),
                                        "source 0 has a dimension of 0 elements")},
      {rule::operand_elements, instruction(Engine::vector, tensor_copy(sbuf_tile(0, 64, 7), s, 32),
                                           "source 0 has 8 elements a partition, destination 7")},
      {rule::operand_alignment, instruction(Engine::vector, changed(copy, [](auto& i) { i.source0.offset = 2; }),
                                            "starts at byte 2, no multiple of its element size 4")},
      {rule::operand_free_size, instruction(Engine::vector, memset(psum_tile(0, 0, 4097), 32, 0, DType::uint8),
                                            "free size 4097 exceeds 4096 in PSUM")},
      {rule::operand_dtype,
       instruction(Engine::gpsimd, tensor_tensor(s, s, AluOp::add, s, 32), "takes int32 operands")},
      {rule::operand_op, instruction(Engine::vector, tensor_tensor(s, s, AluOp::bypass, s, 32), "op is bypass")},
      {rule::operand_transpose_size,
       instruction(Engine::vector, transpose(sbuf_tile(0, 512, 32), sbuf_tile(0, 0, 33), 32, 33),
                   "source 0 of 32 partitions x 33 elements exceeds 32 x 32 of the vector engine")},
      {rule::partition_count, instruction(Engine::pe, changed(ok, [](auto& i) { i.partitions = 96; }),
                                          "stationary has 128 columns, destination 96 partitions")},
      {rule::partition_range,
       instruction(Engine::vector, memset(sbuf_tile(96, 0, 8), 33, 0), "96 to 128; there are 128")},
      {rule::partition_start, instruction(Engine::vector, memset(sbuf_tile(32, 0, 8), 33, 0),
                                          "destination of 33 partitions starts at partition 32, no multiple of 64")},
      {rule::sbuf_bounds, instruction(Engine::vector, memset(sbuf_tile(0, 180'220, 2), 32, 0),
                                      "reaches bytes 180220 to 180227 of its partitions; SBUF has 180224 usable")},
      {rule::psum_bounds, instruction(Engine::vector, memset(psum_tile(0, 7, 513), 32, 0), "PSUM has 16384 usable")},
      {rule::psum_bank_span, instruction(Engine::pe, changed(ok, [](auto& i) { i.destination.offset = 4; }),
                                         "destination spans banks 0 to 1")},
      {rule::psum_two_inputs,
       instruction(Engine::vector, tensor_tensor(s, psum_tile(0, 0, 8), AluOp::add, psum_tile(0, 1, 8), 32),
                   "2 inputs in PSUM")},
      {rule::pe_moving_free_size, instruction(Engine::pe, matmul(128, 128, 640, 0, 4096, 0, whole_group),
                                              "nc_matmul #412: moving free size 640 exceeds 512")},
      {rule::pe_stationary_free_size, instruction(Engine::pe, changed(ok, [](auto& i) { i.source1.dims[2].num = 129; }),
                                                  "stationary free size 129 exceeds 128")},
      {rule::pe_partition_start,
       instruction(Engine::pe,
                   changed(matmul(32, 32, 8, 0, 64, 0, whole_group), [](auto& i) { i.source0.partition = 32; }),
                   "moving starts at partition 32, expected 0")},
      {rule::pe_dtype, instruction(Engine::pe, changed(ok, [](auto& i) { i.source0_dtype = DType::fp32; }),
                                   "moving fp32, stationary bf16, destination fp32")},
      {rule::pe_flags,
       instruction(Engine::pe, changed(ok, [](auto& i) { i.flags |= matmul_accumulate; }), "START or ACCUMULATE")},
      {rule::pe_reuse_fp32,
       instruction(Engine::pe, changed(fp32(ok), [](auto& i) { i.flags |= matmul_reuse; }), "REUSE with fp32")},
      {rule::semaphore_reserved,
       instruction(Engine::sync, wait_for(253, 1), "semaphore 253 is reserved; programs use 0 to 252")},
      {rule::dma_queue, instruction(Engine::sync, changed(control(Opcode::dma_trigger), [](auto& i) { i.queue = 16; }),
                                    "queue 16 exceeds 15")},
      {rule::dma_descriptors, instruction(Engine::sync, control(Opcode::dma_trigger), "0 descriptors")},
  };
}

std::map<std::string, Breach> run_breaches() {
  const auto pe = [](std::vector<Instruction> stream) {
    return [stream](CoreBench& bench) { bench.program(Engine::pe, stream); };
  };
  const auto read_bank = tensor_copy(sbuf_tile(0, 1024, 16), psum_tile(0, 0, 16), 16);
  return {
      {rule::isa_decode,
       run("core0.pe #0: the record is no instruction: unknown opcode",
           [](CoreBench& bench) { bench.program_bytes(Engine::pe, std::vector<std::byte>(64, std::byte{0x7f})); })},
      {rule::sbuf_undefined_read,
       run("nc_matmul #0: reads byte 2048 of partition 0", pe({matmul(16, 16, 16, 0, 2048, 0, whole_group)}))},
      {rule::psum_undefined_read, run("tensor_copy #0: reads byte 0 of partition 0 of",
                                      [=](CoreBench& bench) { bench.program(Engine::vector, {read_bank}); })},
      {rule::psum_accumulate_unstarted, run("which nobody wrote", pe({small_matmul(matmul_accumulate | matmul_stop)}))},
      {rule::psum_read_open_group, run("reads bank 0",
                                       [=](CoreBench& bench) {
                                         bench.program(Engine::pe, {updating(small_matmul(matmul_start), 1)});
                                         bench.program(Engine::vector, {wait_for(1, 1), read_bank});
                                       })},
      {rule::psum_second_group, run("START in bank 0", pe({small_matmul(matmul_start), small_matmul(matmul_start)}))},
      {rule::race_access, race("and nothing orders the two: no semaphore orders",
                               {{Engine::vector, {memset(sbuf_tile(0, 64, 8), 32, 0)}},
                                {Engine::gpsimd, {memset(sbuf_tile(0, 68, 8), 32, 0)}}})},
      {rule::race_ambiguous_wait, race("scalar@0 waits for semaphore 1 >= 1",
                                       {{Engine::vector, {updating(memset(sbuf_tile(0, 64, 8), 32, 0), 1)}},
                                        {Engine::gpsimd, {updating(memset(sbuf_tile(0, 128, 8), 32, 0), 1)}},
                                        {Engine::scalar, {wait_for(1, 1)}}})},
      {rule::pe_reuse_not_loaded, run("nc_matmul #0: REUSE of a tile at SBUF byte 0, loaded is none",
                                      pe({small_matmul(whole_group | matmul_reuse)}))},
      {rule::semaphore_overflow, run("semaphore 9 at 2147483647 changed by 1 leaves 32 signed bits",
                                     [](CoreBench& bench) {
                                       const auto before = bench.before;
                                       bench.before = [&bench, before] {
                                         before();
                                         bench.set_register(registers::semaphore(9), 4, 0x7fff'ffff);
                                       };
                                       bench.program(Engine::sync, {add_to(9, 1)});
                                     })},
      {rule::stream_end, run("the stream of 1 records ends without halt",
                             [](CoreBench& bench) { bench.program(Engine::sync, {control(Opcode::nop)}, false); })},
      {rule::stream_alignment, run("stream at address 32, no multiple of 64",
                                   [](CoreBench& bench) {
                                     bench.before = [&bench] {
                                       bench.set_register(registers::sequencer(4) + registers::stream_base, 8, 32);
                                       bench.set_register(registers::sequencer(4) + registers::start, 4, 1);
                                     };
                                     bench.program(Engine::pe, {});
                                   })},
      {rule::stream_running, run("core0.pe: started while it runs",
                                 [](CoreBench& bench) {
                                   const std::uint64_t base = registers::sequencer(0);
                                   bench.before = [&bench, base] {
                                     bench.set_register(base + registers::stream_count, 4, 2);
                                     for (int i = 0; i < 2; ++i) bench.set_register(base + registers::start, 4, 1);
                                   };
                                   bench.program(Engine::pe, {wait_for(1, 1)});
                                 })},
  };
}

std::map<std::string, Breach> breaches() {
  auto all = instruction_breaches();
  all.merge(run_breaches());
  return all;
}

std::vector<std::string> ids_of_the_table() {
  std::vector<std::string> ids;
  for (const Rule& rule : rules()) ids.emplace_back(rule.id);
  return ids;
}

class EveryRule : public testing::TestWithParam<std::string> {};

TEST_P(EveryRule, IsRaisedWithItsIdAndAMessage) {
  const auto all = breaches();
  const auto breach = all.find(GetParam());
  ASSERT_NE(breach, all.end()) << "no test breaks " << GetParam();
  try {
    breach->second.act();
    FAIL() << "nothing was raised";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), GetParam());
    EXPECT_NE(std::string(fault.what()).find(breach->second.message), std::string::npos) << fault.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryRule, testing::ValuesIn(ids_of_the_table()), [](const auto& parameter) {
  std::string name = parameter.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(Rules, IdsAreUniqueAndEveryRowSaysWhatAndWhere) {
  std::set<std::string> ids;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_GT(std::string(rule.text).size(), 10U) << rule.id;
    EXPECT_GT(std::string(rule.source).size(), 10U) << rule.id;
  }
  EXPECT_EQ(ids.size(), breaches().size());
}

// What stands just inside a limit is legal.
TEST(Rules, TheLimitsThemselvesAreLegal) {
  const LegalityLimits limits{2, 180'224};
  check(matmul(128, 128, 512, 0, 4096, 7, whole_group), Engine::pe, limits, 0);
  check(memset(sbuf_tile(0, 180'216, 2), 128, 0), Engine::vector, limits, 0);
  check(memset(sbuf_tile(64, 0, 8), 64, 0), Engine::vector, limits, 0);
  check(memset(sbuf_tile(96, 0, 8), 32, 0), Engine::gpsimd, limits, 0);
  check(memset(psum_tile(0, 0, 4096), 128, 0), Engine::vector, limits, 0);
  check(memset(sbuf_tile(0, 0, 32'768, 0), 128, 0), Engine::vector, limits, 0);
  check(tensor_copy(sbuf_tile(0, 0, 8), psum_tile(0, 0, 8), 32), Engine::scalar, {3, 180'224}, 0);
  check(wait_for(252, 1), Engine::pe, limits, 0);
}

// Cells that another engine wrote since are as bad as cells nobody wrote: memset then accumulate is undefined on NC-v2
// and v3.
TEST(Rules, AMemsetDoesNotStartAGroup) {
  CoreBench bench;
  bench.before = [&] {
    for (unsigned p = 0; p < 16; ++p) bench.write_floats(Space::sbuf, p, 0, std::vector<float>(64, 1.0F));
  };
  bench.program(Engine::vector, {wait_for(1, 1), updating(memset(psum_tile(0, 0, 16), 16, 0), 2)});
  bench.program(Engine::pe, {updating(small_matmul(whole_group), 1), wait_for(2, 1),
                             small_matmul(matmul_accumulate | matmul_stop)});
  try {
    bench.run();
    FAIL() << "nothing was raised";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), rule::psum_accumulate_unstarted);
    EXPECT_NE(std::string(fault.what()).find("another engine wrote last"), std::string::npos) << fault.what();
  }
}

}  // namespace
