// Every rule of a close, broken; and what a close that passes resolves.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "models/cube/state_bench.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/cube/rules.hpp"
#include "tilevp/described/path.hpp"

namespace tilevp::cube::testing {
namespace {

// FP32 scale 2.0 in bits 31:13, offset -1 in bits 45:37; a slope of 0.5.
constexpr std::uint64_t scale_2 = 0x0000'3fe0'4000'0000;
constexpr std::uint64_t slope_half = 0x1'f800;

Plan accumulate() {
  // TMATMUL.ACC of FP16: C = N#1 [2, 8], A = T#1 [2, 4], B = U#1 [4, 8], D in hand M, 512 bytes.
  Plan plan;
  plan.start = {Operation::tmatmul_acc, DataType::fp16};
  plan.dimensions = {dimension(0, 2), dimension(1, 8), dimension(2, 4)};
  plan.tiles = {sources(code(N, 1), code(T, 1)), source(code(U, 1)), destination(M, 3, true)};
  return plan;
}

void define_accumulate(Machine& m) {
  m.cells(N, Layout::cube_m16, DataType::fp32, 2, 8, 512);
  m.cells(T, Layout::cube_m16, DataType::fp16, 2, 4, 128);
  m.cells(U, Layout::cube_n8, DataType::fp16, 4, 8, 128);
}

struct Breach {
  const char* name;
  FaultCode code;
  const char* rule;
  unsigned step;
  std::function<Plan(Machine&)> make;  // defines tiles, returns the bundle
};

// The GEMV of state_bench.hpp with its tiles, changed by `change`.
std::function<Plan(Machine&)> with_gemv(std::function<void(Machine&, Plan&)> change) {
  return [change = std::move(change)](Machine& m) {
    define_gemv(m);
    Plan plan = gemv();
    change(m, plan);
    return plan;
  };
}
std::function<Plan(Machine&)> with_acc(std::function<void(Machine&, Plan&)> change) {
  return [change = std::move(change)](Machine& m) {
    define_accumulate(m);
    Plan plan = accumulate();
    change(m, plan);
    return plan;
  };
}
std::function<Plan(Machine&)> with_load(std::function<void(Machine&, Plan&)> change) {
  return [change = std::move(change)](Machine& m) {
    Plan plan;
    plan.start = {Operation::tload, DataType::fp16};
    plan.datr = BDatr{.layout = nd2m16};
    plan.fpatr.reset();
    plan.dimensions = {dimension(0, 4), dimension(1, 1)};
    plan.tiles = {destination(T, 1, true)};
    change(m, plan);
    return plan;
  };
}
std::function<Plan(Machine&)> with_store(std::function<void(Machine&, Plan&)> change) {
  return [change = std::move(change)](Machine& m) {
    define_gemv(m);
    Plan plan;
    plan.start = {Operation::tstore, DataType::fp16};
    plan.datr = BDatr{.layout = n82nd};
    plan.fpatr.reset();
    plan.dimensions = {dimension(0, 8), dimension(1, 4)};
    plan.tiles = {source(code(U, 1), true)};
    change(m, plan);
    return plan;
  };
}

std::vector<Breach> matrix_schema() {
  using enum FaultCode;
  return {
      {"NoFpatr", bundle_control, rule::no_fpatr, 2, with_gemv([](Machine&, Plan& p) { p.fpatr.reset(); })},
      {"MxForm", illegal_instruction, rule::mx_form, 3,
       with_gemv([](Machine&, Plan& p) { p.start.operation = Operation::tgemvmx; })},
      {"TwoClasses", tile_legality, rule::type_pair, 4,
       with_gemv([](Machine&, Plan& p) { p.datr = BDatr{.type = 19}; })},
      {"SignedWithUnsigned", tile_legality, rule::type_pair, 4, with_gemv([](Machine&, Plan& p) {
         p.start.type = DataType::s8;
         p.datr = BDatr{.type = 27};
       })},
      {"Fp64", tile_legality, rule::type_pair, 4, with_gemv([](Machine&, Plan& p) { p.start.type = DataType::fp64; })},
      {"SharedOfGemv", tile_legality, rule::shared_tile, 4,
       with_gemv([](Machine&, Plan& p) { p.shared = {BIos{.pe_mode = 7}}; })},
      {"SharedOfMatmul", tile_legality, rule::shared_tile, 4, with_gemv([](Machine&, Plan& p) {
         p.start.operation = Operation::tmatmul;
         p.shared = {BIos{.pe_mode = 7}};
       })},
      {"NoBias", tile_legality, rule::source_count, 4,
       with_gemv([](Machine&, Plan& p) { p.start.operation = Operation::tgemv_bias; })},
      {"OneSourceTooMany", tile_legality, rule::source_count, 4,
       with_gemv([](Machine&, Plan& p) { p.tiles.insert(p.tiles.begin(), source(0)); })},
      {"NoSourceAtAll", tile_legality, rule::source_count, 4, with_gemv([](Machine&, Plan& p) { p.tiles.clear(); })},
      {"NoDestination", tile_legality, rule::destination_count, 4,
       with_gemv([](Machine&, Plan& p) { p.tiles = {sources(code(T, 1), code(U, 1), true)}; })},
      {"NoRoomForRowMax", tile_legality, rule::destination_count, 4,
       with_gemv([](Machine&, Plan& p) { p.fpatr->row_max = true; })},
      {"NeverLast", tile_legality, rule::last_missing, 4,
       with_gemv([](Machine&, Plan& p) { p.tiles.back().last = false; })},
      {"UnusedGpr", tile_legality, rule::ior_unused, 4, with_gemv([](Machine&, Plan& p) {
         p.ior = BIor{.source = {2, 0, 0}};
       })},
      {"GprDestination", tile_legality, rule::ior_unused, 4,
       with_gemv([](Machine&, Plan& p) { p.ior = BIor{.destination = 2}; })},
      {"SecondGprUnused", tile_legality, rule::ior_unused, 4, with_gemv([](Machine& m, Plan& p) {
         p.fpatr->relu = 2;
         m.gpr[2] = slope_half;
         p.ior = BIor{.source = {2, 2, 0}};
       })},
      {"NoScalar", tile_legality, rule::scalar_missing, 4,
       with_gemv([](Machine&, Plan& p) { p.fpatr->prequant = 24; })},
      {"Pad", tile_legality, rule::datr_unused, 4, with_gemv([](Machine&, Plan& p) { p.datr = BDatr{.pad = 3}; })},
      {"Layout", tile_legality, rule::datr_unused, 4,
       with_gemv([](Machine&, Plan& p) { p.datr = BDatr{.layout = nd2m16}; })},
      {"Canonicalize", tile_legality, rule::datr_unused, 4,
       with_gemv([](Machine&, Plan& p) { p.datr = BDatr{.canonicalize = true}; })},
      {"RoundingOfNothing", tile_legality, rule::datr_conversion, 4,
       with_gemv([](Machine&, Plan& p) { p.datr = BDatr{.rounding = 1}; })},
      {"SaturationOfNothing", tile_legality, rule::datr_conversion, 4,
       with_gemv([](Machine&, Plan& p) { p.datr = BDatr{.saturate = true}; })},
      {"RoundingOfAFixedMode", tile_legality, rule::datr_conversion, 4, with_gemv([](Machine&, Plan& p) {
         p.fpatr->prequant = 1;
         p.datr = BDatr{.rounding = 2};
       })},
      {"ZeroN", tile_legality, rule::dimension_zero, 4,
       with_gemv([](Machine&, Plan& p) { p.dimensions[0] = dimension(1, 0); })},
      {"KOf65536", tile_legality, rule::dimension_zero, 4,
       with_gemv([](Machine&, Plan& p) { p.dimensions[1] = dimension(2, 65'536); })},
      {"TwoRows", tile_legality, rule::gemv_rows, 5,
       with_gemv([](Machine&, Plan& p) { p.dimensions.push_back(dimension(0, 2)); })},
      {"TransA", tile_legality, rule::transpose_local, 6,
       with_gemv([](Machine&, Plan& p) { p.fpatr->trans_a = true; })},
      {"TransB", tile_legality, rule::transpose_local, 6,
       with_gemv([](Machine&, Plan& p) { p.fpatr->trans_b = true; })},
      {"QuantWord", tile_legality, rule::quant_word, 7, with_gemv([](Machine& m, Plan& p) {
         p.fpatr->prequant = 24;
         m.gpr[2] = scale_2 | 1;
         p.ior = BIor{.source = {2, 0, 0}};
       })},
      {"SlopeWord", tile_legality, rule::slope_word, 7, with_gemv([](Machine& m, Plan& p) {
         p.fpatr->relu = 2;
         m.gpr[2] = 0x4'0000;  // -0
         p.ior = BIor{.source = {2, 0, 0}};
       })},
  };
}

std::vector<Breach> matrix_sources() {
  using enum FaultCode;
  const auto with_row_max = [](Machine&, Plan& p) {
    p.fpatr->row_max = p.fpatr->row_max_init = true;
    p.tiles = {sources(code(T, 1), code(U, 1)), source(code(N, 1)), destination(M, 3), destination(M, 1, true)};
  };
  const auto with_vector = [](Plan& p, std::uint8_t mode, std::uint8_t relu) {
    p.fpatr->prequant = mode;
    p.fpatr->relu = relu;
    p.tiles = {sources(code(T, 1), code(U, 1)), source(code(N, 1)), destination(M, 3, true)};
  };
  return {
      {"AccumulatorClass", tile_legality, rule::accumulator_class, 8, with_gemv([](Machine& m, Plan& p) {
         p.fpatr->prequant = 3;  // REQ8, on S32
         m.gpr[2] = scale_2;
         p.ior = BIor{.source = {2, 0, 0}};
       })},
      {"RowMaxInMissing", tile_legality, rule::parameter_tile, 8, with_gemv(with_row_max)},
      {"RowMaxInOfAnotherType", tile_legality, rule::parameter_tile, 8, with_gemv([=](Machine& m, Plan& p) {
         with_row_max(m, p);
         m.row_major(N, DataType::s32, 1, 1, 128);
       })},
      {"RowMaxInUndefined", tile_legality, rule::parameter_tile, 8, with_gemv([=](Machine& m, Plan& p) {
         with_row_max(m, p);
         m.tiles.undefine(m.row_major(N, DataType::fp32, 1, 1, 128), 0, 0);
       })},
      {"QuantVectorTooShort", tile_legality, rule::parameter_tile, 8, with_gemv([=](Machine& m, Plan& p) {
         with_vector(p, 23, 0);
         m.words(N, 7, scale_2);
       })},
      {"QuantVectorInCells", tile_legality, rule::parameter_tile, 8, with_gemv([=](Machine& m, Plan& p) {
         with_vector(p, 23, 0);
         m.cells(N, Layout::cube_n8, DataType::fp32, 1, 8, 128);
       })},
      {"QuantVectorWord", tile_legality, rule::parameter_word, 8, with_gemv([=](Machine& m, Plan& p) {
         with_vector(p, 23, 0);
         m.tiles.payload(m.words(N, 8, scale_2), 3)[7 * 8] = std::byte{1};  // the last word of PE3
       })},
      {"SlopeVectorWord", tile_legality, rule::parameter_word, 8, with_gemv([=](Machine& m, Plan& p) {
         with_vector(p, 0, 3);
         m.words(N, 8, std::uint64_t{1} << 18);
       })},
      {"NoA", tile_legality, rule::source_missing, 9,
       with_gemv([](Machine&, Plan& p) { p.tiles[0] = sources(code(T, 2), code(U, 1)); })},
      {"BNotInAllPes", tile_legality, rule::source_mask, 9,
       with_gemv([](Machine& m, Plan&) { m.cells(U, Layout::cube_n8, DataType::fp16, 4, 8, 128, 0b1110); })},
      {"ARowMajor", tile_legality, rule::source_layout, 9,
       with_gemv([](Machine& m, Plan&) { m.row_major(T, DataType::fp16, 1, 4, 128); })},
      {"BRowMajor", tile_legality, rule::source_layout, 9,
       with_gemv([](Machine& m, Plan&) { m.row_major(U, DataType::fp16, 4, 8, 128); })},
      {"CInTheOtherMLayout", tile_legality, rule::source_layout, 9,
       with_acc([](Machine& m, Plan&) { m.cells(N, Layout::cube_m32, DataType::fp32, 2, 8, 1024); })},
      {"BiasInCells", tile_legality, rule::source_layout, 9, with_gemv([](Machine& m, Plan& p) {
         p.start.operation = Operation::tgemv_bias;
         p.tiles.insert(p.tiles.begin() + 1, source(code(N, 1)));
         m.cells(N, Layout::cube_m16, DataType::fp32, 1, 8, 512);
       })},
      {"AOfAnotherType", tile_legality, rule::source_type, 9,
       with_gemv([](Machine&, Plan& p) { p.start.type = DataType::bf16; })},
      {"COfTheInputsType", tile_legality, rule::source_type, 9,
       with_acc([](Machine& m, Plan&) { m.cells(N, Layout::cube_m16, DataType::fp16, 2, 8, 512); })},
      {"KOfA", tile_legality, rule::source_shape, 9,
       with_gemv([](Machine&, Plan& p) { p.dimensions[1] = dimension(2, 5); })},
      {"NOfB", tile_legality, rule::source_shape, 9,
       with_gemv([](Machine&, Plan& p) { p.dimensions[0] = dimension(1, 7); })},
      {"BUndefined", tile_legality, rule::source_undefined, 9,
       with_gemv([](Machine& m, Plan&) { m.tiles.undefine(m.tiles.find(code(U, 1)).value(), 3, 7); })},
      {"CapacityOfC", tile_legality, rule::c_capacity, 9,
       with_acc([](Machine&, Plan& p) { p.tiles.back().size_code = 4; })},
      {"CScaleOfGemv", tile_legality, rule::cscale_operation, 9,
       with_gemv([](Machine&, Plan& p) { p.fpatr->cscale = true; })},
      {"CScaleOfIntegers", tile_legality, rule::cscale_operation, 9,
       [](Machine& m) {
         m.cells(N, Layout::cube_m16, DataType::s32, 2, 8, 512);
         m.cells(T, Layout::cube_m16, DataType::s8, 2, 4, 128);
         m.cells(U, Layout::cube_n8, DataType::s8, 4, 8, 128);
         m.cells(M, Layout::cube_m32, DataType::u8, 2, 1, 128);
         Plan p = accumulate();
         p.start.type = DataType::s8;
         p.fpatr->cscale = true;
         p.tiles[1] = sources(code(U, 1), code(M, 1));
         return p;
       }},
      {"CIsD", tile_legality, rule::c_is_d, 10, with_acc([](Machine& m, Plan& p) {
         // C = T#2 (code 1) with D in hand U (1).
         m.tiles.reset();
         m.cells(T, Layout::cube_m16, DataType::fp32, 2, 8, 512);
         m.cells(T, Layout::cube_m16, DataType::fp16, 2, 4, 128);
         m.cells(U, Layout::cube_n8, DataType::fp16, 4, 8, 128);
         p.tiles = {sources(code(T, 2), code(T, 1)), source(code(U, 1)), destination(U, 3, true)};
       })},
      // CScale = T#1 (code 0) with RowMaxOut in hand T (0); D is in hand M.
      {"CScaleIsRowMax", tile_legality, rule::cscale_is_destination, 10, with_acc([](Machine& m, Plan& p) {
         m.cells(T, Layout::cube_m32, DataType::u8, 2, 1, 128);
         p.fpatr->cscale = p.fpatr->row_max = true;
         p.tiles = {sources(code(N, 1), code(T, 2)), sources(code(U, 1), code(T, 1)), destination(M, 3),
                    destination(T, 1, true)};
       })},
  };
}

std::vector<Breach> destinations_and_transfers() {
  using enum FaultCode;
  return {
      {"Capacity", tile_allocation, rule::capacity, 12,
       with_gemv([](Machine& m, Plan&) { m.tiles.set_capacity(2 * 4 * 128 + 4 * 512 - 1); })},
      {"DTooSmall", tile_allocation, rule::d_size, 12,
       with_gemv([](Machine&, Plan& p) { p.tiles.back().size_code = 2; })},  // 512 bytes needed
      {"ThreeGroups", tile_allocation, rule::reduction_size, 12, with_gemv([](Machine& m, Plan& p) {
         m.cells(U, Layout::cube_n8, DataType::fp16, 4, 24, 512);
         p.dimensions[0] = dimension(1, 24);
         p.fpatr->group_max = true;
         p.fpatr->group_n_code = 1;
         p.tiles = {sources(code(T, 1), code(U, 1)), destination(M, 5), destination(M, 1, true)};
       })},
      {"CellsWithoutColumns", tile_legality, rule::transfer_dimensions, 1,
       with_load([](Machine&, Plan& p) { p.dimensions = {dimension(1, 1)}; })},
      {"CellsWithLb2", tile_legality, rule::transfer_dimensions, 1,
       with_load([](Machine&, Plan& p) { p.dimensions.push_back(dimension(2, 4)); })},
      {"ZeroRows", tile_legality, rule::transfer_dimensions, 1,
       with_load([](Machine&, Plan& p) { p.dimensions[1] = dimension(1, 0); })},
      {"StoreLayoutOfALoad", tile_legality, rule::transfer_attributes, 1,
       with_load([](Machine&, Plan& p) { p.datr->layout = m162nd; })},
      {"ColumnMajor", tile_legality, rule::transfer_attributes, 1,
       with_load([](Machine&, Plan& p) { p.datr->layout = 1; })},
      {"TypeWithCells", tile_legality, rule::transfer_attributes, 1,
       with_load([](Machine&, Plan& p) { p.datr->type = 4; })},
      {"RoundingOfALoad", tile_legality, rule::transfer_attributes, 1,
       with_load([](Machine&, Plan& p) { p.datr->rounding = 1; })},
      {"TwoDestinations", tile_legality, rule::transfer_bindings, 1, with_load([](Machine&, Plan& p) {
         p.tiles = {destination(T, 1), destination(T, 1, true)};
       })},
      {"LoadWithoutLast", tile_legality, rule::transfer_bindings, 1,
       with_load([](Machine&, Plan& p) { p.tiles[0].last = false; })},
      {"StoreWithDestination", tile_legality, rule::transfer_bindings, 1,
       with_store([](Machine&, Plan& p) { p.tiles = {destination(T, 1, true)}; })},
      {"SharedLoad", tile_legality, rule::transfer_shared, 1,
       with_load([](Machine&, Plan& p) { p.shared = {BIos{.size_code = 1, .pe_mode = 7}}; })},
      {"ThirdGpr", tile_legality, rule::transfer_ior, 1, with_load([](Machine&, Plan& p) {
         p.ior = BIor{.source = {1, 2, 3}};
       })},
      {"WordsInCells", tile_legality, rule::transfer_type, 2,
       with_load([](Machine&, Plan& p) { p.start.type = DataType::u64; })},
      {"LoadTooBig", tile_allocation, rule::transfer_size, 3,
       with_load([](Machine&, Plan& p) { p.dimensions[0] = dimension(0, 5); })},
      {"RowsBeyondM16", tile_allocation, rule::transfer_size, 3,
       with_load([](Machine&, Plan& p) { p.dimensions[1] = dimension(1, 17); })},
      {"LoadCapacity", tile_allocation, rule::transfer_capacity, 3,
       with_load([](Machine& m, Plan&) { m.tiles.set_capacity(511); })},
      {"StoreOfNothing", tile_legality, rule::transfer_source, 3,
       with_store([](Machine&, Plan& p) { p.tiles = {source(code(N, 1), true)}; })},
      {"StoreOfAnotherType", tile_legality, rule::transfer_source, 3,
       with_store([](Machine&, Plan& p) { p.start.type = DataType::bf16; })},
      {"StoreOfAnotherShape", tile_legality, rule::transfer_source, 3,
       with_store([](Machine&, Plan& p) { p.dimensions[0] = dimension(0, 7); })},
      {"StoreOfAnotherLayout", tile_legality, rule::transfer_source, 3,
       with_store([](Machine&, Plan& p) { p.datr->layout = m162nd; })},
      {"StoreInOtherPes", tile_legality, rule::transfer_source, 3,
       with_store([](Machine& m, Plan&) { m.cells(U, Layout::cube_n8, DataType::fp16, 4, 8, 128, 0b1000); })},
      {"StoreUndefined", tile_legality, rule::transfer_undefined, 3,
       with_store([](Machine& m, Plan&) { m.tiles.undefine(m.tiles.find(code(U, 1)).value(), 0, 0); })},
  };
}

std::vector<Breach> breaches() {
  std::vector<Breach> all = matrix_schema();
  for (auto&& more : {matrix_sources(), destinations_and_transfers()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(CubeRules, ABrokenOneFaultsAtItsStepWithoutEffect) {
  for (const Breach& breach : breaches()) {
    SCOPED_TRACE(breach.name);
    Machine machine;
    machine.flags = flag_overflow;
    const Plan plan = breach.make(machine);
    ASSERT_FALSE(machine.run(plan.commands()));
    const Snapshot before = machine.snapshot();
    const Header header = machine.header;
    const auto fault = machine.execute(BStop{});
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->code, breach.code);
    EXPECT_STREQ(fault->rule, breach.rule) << fault->text;
    EXPECT_EQ(fault->step, breach.step);
    EXPECT_EQ(machine.snapshot(), before);
    EXPECT_EQ(machine.header, header);
  }
}

TEST(CubeRules, EachCauseHasOneIdAndABreach) {
  std::set<std::string> broken;
  for (const Breach& breach : breaches()) broken.insert(breach.rule);
  // In test_bundle_header.cpp, below, in test_fault_cases.cpp, and what the core raises by itself.
  for (const char* elsewhere : {rule::header_field,    rule::header_no_bundle,   rule::header_scalar,
                                rule::datr_twice,      rule::datr_value,         rule::fpatr_operation,
                                rule::fpatr_twice,     rule::fpatr_late,         rule::fpatr_reductions,
                                rule::dimension_twice, rule::ior_twice,          rule::catr_twice,
                                rule::iot_after_last,  rule::iot_mask,           rule::iot_count,
                                rule::ios_twice,       rule::ios_count,          rule::close_no_bundle,
                                rule::close_pc,        rule::close_dr,           rule::post_commit,
                                rule::hand_full,       rule::transfer_hand_full, rule::start_status,
                                rule::fetch_pc,        rule::fetch_page,         rule::decode,
                                rule::transfer_memory})
    EXPECT_TRUE(broken.insert(elsewhere).second) << elsewhere;
  std::set<std::string> ids;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_NE(std::string(rule.text), "");
    EXPECT_NE(std::string(rule.source), "");
  }
  EXPECT_EQ(ids, broken);
}

TEST(CubeParameters, AreChecked) {
  Parameters parameters;
  parameters.check("cube");
  parameters.sequencer.check("cube.sequencer");
  parameters.matrix_unit.check("cube.matrix_unit");
  parameters.tile_capacity_bytes = 64;
  try {
    parameters.check("cube");
    FAIL();
  } catch (const described::KeyError& error) {
    EXPECT_STREQ(error.what(), "cube.tile_capacity_bytes: expected 128 to 1048576, found 64");
  }
  parameters.matrix_unit.tile_n = 0;
  EXPECT_THROW(parameters.matrix_unit.check("x"), UserError);
  parameters.sequencer.issue_depth = 0;
  EXPECT_THROW(parameters.sequencer.check("x"), UserError);
}

}  // namespace
}  // namespace tilevp::cube::testing
