// The order of the close (PTO-ISA/pto-spec, asl/block/model/dispatch/cube-tmatmul.asl): for every pair of causes that
// one bundle can have together, the earlier one is the fault. Causes are listed in that order, each as a change to one
// bundle that uses every operand.
#include <gtest/gtest.h>

#include "models/cube/state_bench.hpp"
#include "tilevp/cube/rules.hpp"

namespace tilevp::cube::testing {
namespace {

constexpr std::uint64_t scale_2 = 0x4000'0000;  // in bits 31:13

struct Cause {
  const char* rule;
  FaultCode code;
  unsigned step;
  void (*add)(Machine&, Plan&);
};

// What the tiles of the bundle are, found again by their names.
TileSlot slot(Machine& m, Hand hand, unsigned number) { return m.tiles.find(code(hand, number)).value(); }

void set_source(Plan& p, unsigned at, std::uint8_t to) { p.tiles[at / 2].source[at % 2] = to; }

void add_to_all(Machine& m, TileSlot s, std::uint64_t bit) {
  for (unsigned pe = 0; pe < pes; ++pe) m.tiles.payload(s, pe)[0] |= static_cast<std::byte>(bit);
}

// TMATMUL.ACC FP16, M 2, N 8, K 4, CScale, RowMax with RowMaxIn, GroupMax of 8, PreQuant 33 (FP16 by a vector), PReLU
// by a vector. T#1 A, U#1 B, U#2 CScale, N#1 RowMaxIn, N#2 quantisation, N#3 slopes, N#4 C.
Plan whole(Machine& m) {
  m.cells(T, Layout::cube_m16, DataType::fp16, 2, 4, 128);
  m.cells(U, Layout::cube_m32, DataType::u8, 2, 1, 128);
  m.cells(U, Layout::cube_n8, DataType::fp16, 4, 8, 128);
  m.cells(N, Layout::cube_m16, DataType::fp32, 2, 8, 512);
  m.words(N, 8, 0x1'f800);
  m.words(N, 8, scale_2);
  m.row_major(N, DataType::fp32, 2, 1, 128);
  Plan p;
  p.start = {Operation::tmatmul_acc, DataType::fp16};
  p.datr = BDatr{};
  p.fpatr = BFpatr{.prequant = 33,
                   .relu = 3,
                   .group_n_code = 1,
                   .row_max = true,
                   .group_max = true,
                   .row_max_init = true,
                   .cscale = true};
  p.dimensions = {dimension(0, 2), dimension(1, 8), dimension(2, 4)};
  p.ior = BIor{};
  p.tiles = {sources(code(N, 4), code(T, 1)),
             sources(code(U, 1), code(U, 2)),
             sources(code(N, 1), code(N, 2)),
             source(code(N, 3)),
             destination(M, 2),
             destination(M, 1),
             destination(M, 1, true)};
  return p;
}

const std::vector<Cause>& causes() {
  using enum FaultCode;
  static const std::vector<Cause> all{
      {rule::no_fpatr, bundle_control, 2, [](Machine&, Plan& p) { p.fpatr.reset(); }},
      {rule::mx_form, illegal_instruction, 3, [](Machine&, Plan& p) { p.start.operation = Operation::tmatmulmx_acc; }},
      {rule::type_pair, tile_legality, 4, [](Machine&, Plan& p) { p.datr->type = 19; }},
      {rule::dimension_zero, tile_legality, 4, [](Machine&, Plan& p) { p.dimensions[2] = dimension(2, 0); }},
      {rule::transpose_local, tile_legality, 6, [](Machine&, Plan& p) { p.fpatr->trans_b = true; }},
      {rule::accumulator_class, tile_legality, 8, [](Machine&, Plan& p) { p.fpatr->prequant = 2; }},
      {rule::parameter_tile, tile_legality, 8,
       [](Machine& m, Plan&) { m.tiles.undefine(slot(m, N, 1), 1, 0); }},  // RowMaxIn
      {rule::parameter_word, tile_legality, 8,
       [](Machine& m, Plan&) { add_to_all(m, slot(m, N, 2), 1); }},  // quantisation
      {rule::parameter_word, tile_legality, 8,
       [](Machine& m, Plan&) {
         for (unsigned pe = 0; pe < pes; ++pe) m.tiles.payload(slot(m, N, 3), pe)[7] = std::byte{1};
       }},  // slopes
      {rule::source_undefined, tile_legality, 9, [](Machine& m, Plan&) { m.tiles.undefine(slot(m, N, 4), 0, 0); }},
      {rule::source_missing, tile_legality, 9, [](Machine&, Plan& p) { set_source(p, 1, code(T, 9)); }},  // A
      {rule::source_undefined, tile_legality, 9, [](Machine& m, Plan&) { m.tiles.undefine(slot(m, U, 1), 0, 0); }},
      {rule::source_undefined, tile_legality, 9, [](Machine& m, Plan&) { m.tiles.undefine(slot(m, U, 2), 0, 0); }},
      {rule::capacity, tile_allocation, 12, [](Machine& m, Plan&) { m.tiles.set_capacity(4096); }},
      {rule::d_size, tile_allocation, 12, [](Machine&, Plan& p) { p.tiles[4].size_code = 1; }},
  };
  return all;
}

void expect_fault(const Cause& expected, Machine& machine, const Plan& plan, const std::string& what) {
  ASSERT_FALSE(machine.run(plan.commands())) << what;
  const Snapshot before = machine.snapshot();
  const auto fault = machine.execute(BStop{});
  ASSERT_TRUE(fault) << what;
  EXPECT_STREQ(fault->rule, expected.rule) << what << ": " << fault->text;
  EXPECT_EQ(fault->code, expected.code) << what;
  EXPECT_EQ(fault->step, expected.step) << what;
  EXPECT_EQ(machine.snapshot(), before) << what;
}

TEST(CubePreflightOrder, TheWholeBundleIsLegal) {
  Machine machine;
  const Plan plan = whole(machine);
  const auto named = [&](Hand hand, unsigned number) { return slot(machine, hand, number); };
  const TileSlot c = named(N, 4), a = named(T, 1), b = named(U, 1), cscale = named(U, 2);
  const TileSlot row_max_in = named(N, 1), quant = named(N, 2), slopes = named(N, 3);
  const auto fault = machine.run(plan);
  ASSERT_FALSE(fault) << fault->text;
  const MatrixOperation& op = *machine.last_matrix;
  EXPECT_EQ(op.c, c);
  EXPECT_EQ(op.a, a);
  EXPECT_EQ(op.b, b);
  EXPECT_EQ(op.cscale, cscale);
  EXPECT_EQ(op.row_max_in, row_max_in);
  EXPECT_EQ(op.quant_vector, quant);
  EXPECT_EQ(op.slope_vector, slopes);
  EXPECT_FALSE(op.bias);
  EXPECT_EQ(op.d_type, DataType::fp16);
  // Published in the order of their bindings: the last is M#1.
  EXPECT_EQ(named(M, 1), op.group_max_out);
  EXPECT_EQ(named(M, 2), op.row_max_out);
  EXPECT_EQ(named(M, 3), op.d);
  EXPECT_EQ(sources(op).size(), 7U);
}

TEST(CubePreflightOrder, BiasComesAfterB) {
  Machine machine;
  define_gemv(machine);
  const TileSlot bias = machine.row_major(N, DataType::fp32, 1, 8, 128);
  Plan plan = gemv();
  plan.start.operation = Operation::tgemv_bias;
  plan.tiles = {sources(code(T, 1), code(U, 1)), source(code(N, 1)), destination(M, 3, true)};
  const auto fault = machine.run(plan);
  ASSERT_FALSE(fault) << fault->text;
  EXPECT_EQ(machine.last_matrix->bias, bias);
  EXPECT_EQ(machine.last_matrix->c, std::nullopt);
}

TEST(CubePreflightOrder, TheEarlierOfTwoCausesIsTheFault) {
  unsigned pairs = 0;
  const auto& all = causes();
  for (std::size_t first = 0; first < all.size(); ++first)
    for (std::size_t second = first; second < all.size(); ++second) {
      Machine machine;
      Plan plan = whole(machine);
      // The earlier one last: no_fpatr takes away what others change.
      all[second].add(machine, plan);
      if (first != second) all[first].add(machine, plan);
      const std::string what = std::string(all[first].rule) + " and " + all[second].rule;
      expect_fault(all[first], machine, plan, what);
      ++pairs;
    }
  EXPECT_EQ(pairs, 15U + 15U * 14U / 2U);
}

// The steps that the bundle above cannot have: TGEMV's M, scalar words, and C against D.
struct Gemv {
  const char* rule;
  unsigned step;
  void (*add)(Machine&, Plan&);
};

Plan scalar_gemv(Machine& m) {
  // C = M#1 (code 32), A = T#1, B = U#1, D in hand N, PreQuant 24 by B.IOR.
  define_gemv(m);
  m.cells(M, Layout::cube_m16, DataType::fp32, 1, 8, 512);
  m.gpr[2] = scale_2;
  Plan p = gemv();
  p.start.operation = Operation::tgemv_acc;
  p.datr = BDatr{};
  p.fpatr->prequant = 24;
  p.ior = BIor{.source = {2, 0, 0}};
  p.tiles = {sources(code(M, 1), code(T, 1)), source(code(U, 1)), destination(N, 1, true)};
  return p;
}

const Gemv gemv_causes[] = {
    {rule::type_pair, 4, [](Machine&, Plan& p) { p.datr->type = 27; }},
    {rule::gemv_rows, 5, [](Machine&, Plan& p) { p.dimensions.push_back(dimension(0, 2)); }},
    {rule::transpose_local, 6, [](Machine&, Plan& p) { p.fpatr->trans_a = true; }},
    {rule::quant_word, 7, [](Machine& m, Plan&) { m.gpr[2] |= 1; }},
    {rule::accumulator_class, 8, [](Machine&, Plan& p) { p.fpatr->prequant = 3; }},
    {rule::source_undefined, 9, [](Machine& m, Plan&) { m.tiles.undefine(slot(m, U, 1), 0, 0); }},
    {rule::c_is_d, 10,
     [](Machine& m, Plan& p) {
       // C becomes T#2 (code 1), D's hand U (1).
       const TileSlot a = slot(m, T, 1);
       m.tiles.retire(a);
       m.cells(T, Layout::cube_m16, DataType::fp32, 1, 8, 512);
       m.cells(T, Layout::cube_m16, DataType::fp16, 1, 4, 128);
       set_source(p, 0, code(T, 2));
       p.tiles.back().destination = U;
     }},
    {rule::capacity, 12, [](Machine& m, Plan&) { m.tiles.set_capacity(1024); }},
};

TEST(CubePreflightOrder, OfGemvScalarsAndC) {
  const std::size_t count = std::size(gemv_causes);
  for (std::size_t first = 0; first < count; ++first)
    for (std::size_t second = first; second < count; ++second) {
      Machine machine;
      Plan plan = scalar_gemv(machine);
      gemv_causes[second].add(machine, plan);
      if (first != second) gemv_causes[first].add(machine, plan);
      const Gemv& expected = gemv_causes[first];
      const FaultCode code = expected.step == 12 ? FaultCode::tile_allocation : FaultCode::tile_legality;
      expect_fault({expected.rule, code, expected.step, nullptr}, machine, plan,
                   std::string(expected.rule) + " and " + gemv_causes[second].rule);
    }
}

TEST(CubePreflightOrder, InR1ScalarWordsAreJudgedWithTheSchema) {
  for (const IsaRevision revision : {IsaRevision::r1, IsaRevision::r2}) {
    Parameters parameters;
    parameters.isa_revision = revision;
    Machine machine(parameters);
    Plan plan = scalar_gemv(machine);
    gemv_causes[3].add(machine, plan);  // the word
    gemv_causes[1].add(machine, plan);  // M = 2
    if (revision == IsaRevision::r1)
      expect_fault({rule::quant_word, FaultCode::tile_legality, 4, nullptr}, machine, plan, "r1");
    else
      expect_fault({rule::gemv_rows, FaultCode::tile_legality, 5, nullptr}, machine, plan, "r2");
  }
}

// Inside step 12: registers of all destinations, then capacity, then D, then the reductions.
TEST(CubePreflightOrder, OfDestinations) {
  Parameters parameters;
  parameters.tile_selectors = TileSelectors::absolute;
  struct {
    bool hand, capacity, d, reduction;
    const char* rule;
  } const table[] = {{true, true, true, true, rule::hand_full},   {true, false, false, true, rule::hand_full},
                     {false, true, true, true, rule::capacity},   {false, true, false, false, rule::capacity},
                     {false, false, true, true, rule::d_size},    {false, false, false, true, rule::reduction_size},
                     {true, true, false, false, rule::hand_full}, {false, false, true, false, rule::d_size}};
  for (const auto& row : table) {
    Machine machine(parameters);
    machine.cells(T, Layout::cube_m16, DataType::fp16, 1, 4, 128);
    machine.cells(U, Layout::cube_n8, DataType::fp16, 4, 24, 512);
    Plan plan = gemv();
    plan.dimensions[0] = dimension(1, 24);
    plan.fpatr->group_max = true;
    plan.fpatr->group_n_code = row.reduction ? 1 : 2;  // three groups of 8, or two of 16
    plan.tiles = {sources(code(T, 1), code(U, 1)), destination(M, row.d ? 1 : 5), destination(M, 1, true)};
    if (row.hand)
      for (unsigned i = 0; i < 15; ++i) machine.cells(M, Layout::cube_m16, DataType::fp32, 1, 1, 128);
    if (row.capacity) machine.tiles.set_capacity(100);
    expect_fault({row.rule, FaultCode::tile_allocation, 12, nullptr}, machine, plan, row.rule);
  }
}

}  // namespace
}  // namespace tilevp::cube::testing
