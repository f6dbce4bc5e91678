// The fault cases of TGEMV's contract (PTO-ISA/pto-spec, PTO-TGEMV-CONTRACT-001), each without effect; what commits,
// what waits, and how a bundle goes on after its fault has been repaired.
#include <gtest/gtest.h>

#include "models/cube/state_bench.hpp"
#include "tilevp/cube/rules.hpp"

namespace tilevp::cube::testing {
namespace {

using enum FaultCode;

Parameters absolute() {
  Parameters parameters;
  parameters.tile_selectors = TileSelectors::absolute;
  return parameters;
}

// The bytes of a finished run, without the registers the tiles happen to lie in.
std::vector<std::vector<std::byte>> results(const Machine& machine) {
  std::vector<std::vector<std::byte>> all;
  for (unsigned selector = 0; selector < local_tiles; ++selector)
    if (const auto slot = machine.tiles.find(static_cast<std::uint8_t>(selector)))
      for (unsigned pe = 0; pe < pes; ++pe) all.push_back(machine.tiles.architectural_bytes(*slot, pe));
  return all;
}

struct Case {
  const char* name;
  FaultCode code;
  void (*change)(Machine&, Plan&);
};

const Case cases[] = {
    {"F1 M = 2", tile_legality, [](Machine&, Plan& p) { p.dimensions.push_back(dimension(0, 2)); }},
    {"F2 no B.FPATR", bundle_control, [](Machine&, Plan& p) { p.fpatr.reset(); }},
    {"F4 PreQuantMode 6", illegal_instruction, [](Machine&, Plan& p) { p.fpatr->prequant = 6; }},
    {"F5 FP16 x S8", tile_legality, [](Machine&, Plan& p) { p.datr = BDatr{.type = 19}; }},
    {"F6 N = 0", tile_legality, [](Machine&, Plan& p) { p.dimensions[0] = dimension(1, 0); }},
    {"F7 B.IOS", tile_legality, [](Machine&, Plan& p) { p.shared = {BIos{.pe_mode = 7}}; }},
    {"F8 TransA", tile_legality, [](Machine&, Plan& p) { p.fpatr->trans_a = true; }},
    {"F9 CScaleEn", tile_legality, [](Machine&, Plan& p) { p.fpatr->cscale = true; }},
    {"F10 REQ8 on FP16", tile_legality,
     [](Machine& m, Plan& p) {
       p.fpatr->prequant = 3;
       m.gpr[2] = 0x4000'0000;
       p.ior = BIor{.source = {2, 0, 0}};
     }},
    {"F11 17th tile of a hand", tile_allocation,
     [](Machine& m, Plan&) {
       for (unsigned i = 0; i < 16; ++i) m.cells(M, Layout::cube_m16, DataType::fp32, 1, 1, 128);
     }},
    {"F12 B row-major", tile_legality,
     [](Machine& m, Plan&) {
       m.tiles.retire(16);
       m.row_major(U, DataType::fp16, 4, 8, 128);
     }},
    {"F13 an undefined element of B", tile_legality, [](Machine& m, Plan&) { m.tiles.undefine(16, 2, 5); }},
    {"F15 bit 0 of the quantisation word", tile_legality,
     [](Machine& m, Plan& p) {
       p.fpatr->prequant = 24;
       m.gpr[2] = 0x4000'0001;
       p.ior = BIor{.source = {2, 0, 0}};
     }},
    {"F16 RegSrc0 with mode 0", tile_legality,
     [](Machine&, Plan& p) {
       p.ior = BIor{.source = {2, 0, 0}};
     }},
    {"F17 FP64", tile_legality, [](Machine&, Plan& p) { p.start.type = DataType::fp64; }},
    {"F17 DataType 15", illegal_instruction, [](Machine&, Plan& p) { p.start.type = static_cast<DataType>(15); }},
};

TEST(CubeFaultCases, HaveNoEffect) {
  Machine straight(absolute());
  straight.flags = flag_underflow;
  define_gemv(straight);
  const Snapshot untouched = straight.snapshot();
  ASSERT_FALSE(straight.run(gemv()));
  unsigned rewritten = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Machine machine(absolute());
    machine.flags = flag_underflow;
    define_gemv(machine);
    Plan plan = gemv();
    c.change(machine, plan);
    const Snapshot before = machine.snapshot();
    const auto fault = machine.run(plan);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->code, c.code) << fault->text;
    EXPECT_EQ(machine.snapshot(), before);
    EXPECT_EQ(machine.committed, 0U);
    if (before != untouched) continue;
    // Only the program was wrong. Rewritten, and restarted at its BSTART with no bundle open, it ends as one that
    // never faulted.
    machine.header = Header{};
    ASSERT_FALSE(machine.run(gemv()));
    EXPECT_EQ(results(machine), results(straight));
    ++rewritten;
  }
  EXPECT_EQ(rewritten, 13U);  // all but F11, F12 and F13, which are about tiles
}

TEST(CubeFaultCases, F3SecondFpatr) {
  Machine machine;
  define_gemv(machine);
  const Snapshot before = machine.snapshot();
  const auto fault = machine.run({gemv().start, BFpatr{}, BFpatr{}});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->code, bundle_control);
  EXPECT_EQ(machine.snapshot(), before);
}

TEST(CubeFaultCases, F9CScaleEnIsReservedInR1) {
  Parameters r1;
  r1.isa_revision = IsaRevision::r1;
  Machine machine(r1);
  Plan plan = gemv();
  plan.fpatr->cscale = true;
  EXPECT_EQ(machine.run(plan)->code, illegal_instruction);
}

TEST(CubeFaultCases, F14MaskZeroPrecedesEverything) {
  Machine machine;
  Plan plan;
  plan.start = {Operation::tgemv, DataType::fp64};
  plan.fpatr.reset();
  plan.dimensions = {dimension(0, 0), dimension(1, 0)};
  plan.ior = BIor{.source = {5, 6, 7}};
  plan.tiles = {sources(63, 62, true, 0), destination(M, 10, false, 0)};
  const Snapshot before = machine.snapshot();
  EXPECT_FALSE(machine.run(plan));
  EXPECT_EQ(machine.snapshot(), before);
  EXPECT_EQ(machine.committed, 1U);
  plan.start.operation = Operation::tload;
  EXPECT_FALSE(machine.run(plan));
  plan.start.operation = Operation::tgemvmx;
  EXPECT_FALSE(machine.run(plan));
  // A bundle that binds nothing at all has no mask: it is not a no-op.
  plan.tiles.clear();
  EXPECT_EQ(machine.run(plan)->code, bundle_control);
}

TEST(CubeCommit, ResolvesOperandsAndDefaults) {
  Machine machine;
  machine.cells(T, Layout::cube_m32, DataType::bf16, 1, 1, 128);
  machine.cells(U, Layout::cube_n8, DataType::e4m3, 1, 1, 128);
  Plan plan = gemv();
  plan.start.type = DataType::bf16;
  plan.datr = BDatr{.saturate = true, .type = 7, .rounding = 4};
  plan.fpatr = BFpatr{.prequant = 27};
  machine.gpr[9] = 0x4000'0000;
  plan.ior = BIor{.source = {9, 0, 0}};
  plan.dimensions.clear();
  plan.tiles = {sources(code(T, 1), code(U, 1), false, 5), destination(M, 1, true, 5)};
  const auto fault = machine.run(plan);
  ASSERT_FALSE(fault) << fault->text;
  const MatrixOperation& op = *machine.last_matrix;
  EXPECT_EQ(op.m * op.n * op.k, 1U);
  EXPECT_EQ(op.mask, 0b1100);
  EXPECT_EQ(op.a_type, DataType::bf16);
  EXPECT_EQ(op.b_type, DataType::e4m3);
  EXPECT_EQ(op.accumulator, DataType::fp32);
  EXPECT_EQ(op.d_type, DataType::fp32);
  EXPECT_EQ(op.m_layout, Layout::cube_m32);
  EXPECT_EQ(op.rounding, numeric::Rounding::rtp);
  EXPECT_TRUE(op.saturate);
  EXPECT_EQ(op.quant_word, 0x4000'0000U);
  EXPECT_EQ(machine.tiles.find(code(M, 1)), op.d);
  const TileDescriptor& d = machine.tiles.descriptor(op.d);
  EXPECT_EQ(d.mask, 0b1100);
  EXPECT_EQ(d.layout, Layout::cube_m32);
  EXPECT_EQ(d.capacity_bytes, 128U);
  EXPECT_EQ(machine.tiles.used_bytes(0), 3U * 128U);
  EXPECT_EQ(machine.tiles.used_bytes(3), 2U * 128U);
}

// D, RowMaxOut and GroupMaxOut of every operand that a bundle can have, in their order.
TEST(CubeCommit, PublishesTheReductionsWithD) {
  Machine machine(absolute());
  define_gemv(machine);
  Plan plan = gemv();
  plan.fpatr = BFpatr{.group_n_code = 1, .row_max = true, .group_max = true};
  plan.tiles = {sources(code(T, 1), code(U, 1)), destination(M, 3), destination(M, 2), destination(N, 1, true)};
  ASSERT_FALSE(machine.run(plan));
  EXPECT_EQ(machine.last_matrix->d, 32);
  EXPECT_EQ(machine.last_matrix->row_max_out, std::uint8_t{33});
  EXPECT_EQ(machine.last_matrix->group_max_out, std::uint8_t{48});
  const TileDescriptor& row_max = machine.tiles.descriptor(33);
  EXPECT_EQ(row_max.layout, Layout::row_major);
  EXPECT_EQ(row_max.rows, 64U);  // 256 bytes of one FP32 column
  EXPECT_EQ(row_max.valid_rows, 1U);
  EXPECT_EQ(row_max.type, DataType::fp32);
  EXPECT_EQ(machine.tiles.descriptor(48).valid_columns, 1U);
  for (const TileSlot slot : {TileSlot{32}, TileSlot{33}, TileSlot{48}}) EXPECT_TRUE(machine.tiles.defined(slot));
}

TEST(CubeCommit, LeavesSourcesAndOtherPesAlone) {
  Machine machine;
  define_gemv(machine);
  machine.cells(M, Layout::cube_m16, DataType::fp32, 1, 8, 512);
  const Snapshot before = machine.snapshot();
  Plan plan = gemv();
  plan.tiles = {sources(code(T, 1), code(U, 1), false, 2), destination(M, 3, true, 2)};  // PE1
  ASSERT_FALSE(machine.run(plan));
  const Snapshot after = machine.snapshot();
  for (const auto& [place, bytes] : before.payloads) EXPECT_EQ(after.payloads.at(place), bytes);
  EXPECT_EQ(after.payloads.size(), before.payloads.size() + 1);
  EXPECT_EQ(after.payloads.at({machine.last_matrix->d, 1}).size(), 512U);
  EXPECT_EQ(after.used[0], before.used[0]);
  EXPECT_EQ(after.used[1], before.used[1] + 512);
}

TEST(CubeCommit, TrapAfterTheBundle) {
  Machine machine;
  define_gemv(machine);
  Plan plan = gemv();
  auto commands = plan.commands();
  commands.insert(commands.begin() + 1, BCatr{.trap = true});
  ASSERT_FALSE(machine.run(commands));
  const auto fault = machine.execute(BStop{});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->code, bundle_post_commit);
  EXPECT_STREQ(fault->rule, rule::post_commit);
  EXPECT_EQ(machine.committed, 1U);
  EXPECT_FALSE(machine.header.active);
  EXPECT_TRUE(machine.tiles.find(code(M, 1)));
}

// The next BSTART closes; where that faults, it opens nothing.
TEST(CubeCommit, ABstartWhoseCloseFaultsOpensNothing) {
  Machine machine;
  define_gemv(machine);
  ASSERT_FALSE(machine.run(gemv().commands()));
  machine.tiles.set_capacity(1024);
  const Header header = machine.header;
  const BStart next{Operation::tload, DataType::u8};
  EXPECT_EQ(machine.execute(next)->code, tile_allocation);
  EXPECT_EQ(machine.header, header);
  machine.tiles.set_capacity(262'144);
  EXPECT_FALSE(machine.execute(next));
  EXPECT_EQ(machine.header.start, next);
  EXPECT_EQ(machine.committed, 1U);
}

TEST(CubeWait, ForTheProducerOfASource) {
  Machine machine;
  define_gemv(machine);
  const TileSlot b = machine.tiles.next_free(U).value();
  machine.tiles.allocate(b, cell_tile(Layout::cube_n8, DataType::fp16, 4, 8, 128, 0xf).value());
  ASSERT_FALSE(machine.run(gemv().commands()));
  const auto judge = [&] { return preflight(machine.header, machine.gpr, machine.parameters, machine.tiles); };
  ASSERT_TRUE(std::holds_alternative<Wait>(judge()));
  EXPECT_EQ(std::get<Wait>(judge()).producer, b);
  machine.tiles.publish({&b, 1});
  const Verdict verdict = judge();
  ASSERT_TRUE(std::holds_alternative<MatrixOperation>(verdict));
  EXPECT_EQ(std::get<MatrixOperation>(verdict).b, b);
}

TEST(CubeWait, WithAFaultUntilEveryOlderBundleHasCommitted) {
  Machine machine;
  define_gemv(machine);
  const TileSlot other = machine.tiles.next_free(N).value();
  machine.tiles.allocate(other, cell_tile(Layout::cube_n8, DataType::fp16, 4, 8, 128, 0xf).value());
  Plan plan = gemv();
  plan.fpatr.reset();
  ASSERT_FALSE(machine.run(plan.commands()));
  const auto judge = [&](bool older) {
    return preflight(machine.header, machine.gpr, machine.parameters, machine.tiles, older);
  };
  ASSERT_TRUE(std::holds_alternative<Wait>(judge(false)));
  EXPECT_FALSE(std::get<Wait>(judge(false)).producer);
  machine.tiles.release({&other, 1});
  EXPECT_TRUE(std::holds_alternative<Wait>(judge(true))) << "a TSTORE in flight";
  EXPECT_TRUE(std::holds_alternative<BundleFault>(judge(false)));
}

TEST(CubeWait, NotWithMaskZero) {
  Machine machine;
  const TileSlot slot = machine.tiles.next_free(T).value();
  machine.tiles.allocate(slot, cell_tile(Layout::cube_n8, DataType::fp16, 4, 8, 128, 0xf).value());
  ASSERT_FALSE(machine.run({BStart{}, source(0, true, 0)}));
  EXPECT_TRUE(std::holds_alternative<NoOperation>(
      preflight(machine.header, machine.gpr, machine.parameters, machine.tiles, true)));
}

struct Repair {
  const char* name;
  FaultCode code;
  void (*damage)(Machine&, Plan&);
  void (*repair)(Machine&);
};

// What a host can put right without touching the program: the closer is tried again with the header as it is.
TEST(CubeRestart, AtTheCloserAfterARepair) {
  const Repair repairs[] = {
      {"quantisation word", tile_legality, [](Machine& m, Plan&) { m.gpr[2] = 0x4000'0001; },
       [](Machine& m) { m.gpr[2] = 0x4000'0000; }},
      {"capacity", tile_allocation, [](Machine& m, Plan&) { m.tiles.set_capacity(1100); },
       [](Machine& m) { m.tiles.set_capacity(262'144); }},
      {"hand", tile_allocation,
       [](Machine& m, Plan&) {
         for (unsigned i = 0; i < 16; ++i) m.cells(M, Layout::cube_m16, DataType::fp32, 1, 1, 128);
       },
       [](Machine& m) {
         for (unsigned i = 0; i < 16; ++i) m.tiles.retire(static_cast<TileSlot>(32 + i));
       }},
      {"tile", tile_legality, [](Machine& m, Plan&) { m.tiles.retire(16); },
       [](Machine& m) { m.cells(U, Layout::cube_n8, DataType::fp16, 4, 8, 128); }},
  };
  const auto prepare = [](Machine& machine) {
    define_gemv(machine);
    machine.gpr[2] = 0x4000'0000;
    Plan plan = gemv();
    plan.fpatr->prequant = 24;
    plan.ior = BIor{.source = {2, 0, 0}};
    return plan;
  };
  Machine straight(absolute());
  ASSERT_FALSE(straight.run(prepare(straight)));
  for (const Repair& r : repairs) {
    SCOPED_TRACE(r.name);
    Machine machine(absolute());
    Plan plan = prepare(machine);
    r.damage(machine, plan);
    const auto fault = machine.run(plan);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->code, r.code);
    EXPECT_EQ(machine.execute(BStop{})->rule, fault->rule) << "tried again without a repair";
    r.repair(machine);
    ASSERT_FALSE(machine.execute(BStop{}));
    EXPECT_EQ(results(machine), results(straight));
    EXPECT_EQ(machine.flags, straight.flags);
    EXPECT_EQ(machine.tiles.used_bytes(), straight.tiles.used_bytes());
  }
}

// A command whose word the host replaced goes on with what was latched before it.
TEST(CubeRestart, AtACommandThatWasReplaced) {
  Machine straight;
  define_gemv(straight);
  ASSERT_FALSE(straight.run(gemv()));
  Machine machine;
  define_gemv(machine);
  const auto commands = gemv().commands();
  const Command wrong[] = {BDatr{.layout = 2}, BFpatr{.relu = 5}, dimension(3, 1), BDim{.gpr = 30},
                           BIot{.sources = 1, .size_code = 12, .pe_mode = 7}};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (i > 0) {
      ASSERT_TRUE(machine.execute(wrong[i % std::size(wrong)])) << i;
    }
    ASSERT_FALSE(machine.execute(commands[i]));
  }
  ASSERT_FALSE(machine.execute(BStop{}));
  EXPECT_EQ(results(machine), results(straight));
}

}  // namespace
}  // namespace tilevp::cube::testing
