// The header: every fault that a command raises by itself, and random streams of commands against a second model.
#include "tilevp/cube/bundle.hpp"

#include <gtest/gtest.h>

#include <set>

#include "models/cube/state_bench.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/base/random.hpp"
#include "tilevp/cube/rules.hpp"

namespace tilevp::cube::testing {
namespace {

struct Breach {
  const char* name;
  FaultCode code;
  const char* rule;
  std::vector<Command> before;
  Command command;
};

constexpr BStart start{Operation::tgemv, DataType::fp16};
constexpr BStart load{Operation::tload, DataType::fp16};

const std::vector<Breach>& breaches() {
  using enum FaultCode;
  static const std::vector<Breach> all{
      {"ReservedType",
       illegal_instruction,
       rule::header_field,
       {},
       BStart{Operation::tgemv, static_cast<DataType>(15)}},
      {"ReservedPreQuant", illegal_instruction, rule::header_field, {start}, BFpatr{.prequant = 6}},
      {"ReservedRelu", illegal_instruction, rule::header_field, {start}, BFpatr{.relu = 4}},
      {"ReservedGroupN", illegal_instruction, rule::header_field, {start}, BFpatr{.group_n_code = 10}},
      {"ReservedGprOfDim", illegal_instruction, rule::header_field, {start}, BDim{.dimension = 0, .gpr = 24}},
      {"ReservedLoopNest", illegal_instruction, rule::header_field, {start}, BDim{.dimension = 3, .compressed = true}},
      {"ReservedGprOfIor", illegal_instruction, rule::header_field, {start}, BIor{.source = {0, 31, 0}}},
      {"ReservedSize", illegal_instruction, rule::header_field, {start}, destination(M, 11)},
      {"ReservedSharedSize", illegal_instruction, rule::header_field, {start}, BIos{.size_code = 13, .pe_mode = 7}},
      {"ReservedOutsideOfABundle", illegal_instruction, rule::header_field, {}, BFpatr{.prequant = 6}},
      {"DatrOutside", bundle_control, rule::header_no_bundle, {}, BDatr{}},
      {"FpatrOutside", bundle_control, rule::header_no_bundle, {}, BFpatr{}},
      {"DimOutside", bundle_control, rule::header_no_bundle, {}, dimension(0, 1)},
      {"IotOutside", bundle_control, rule::header_no_bundle, {}, source(0)},
      {"IorOutside", bundle_control, rule::header_no_bundle, {}, BIor{}},
      {"IosOutside", bundle_control, rule::header_no_bundle, {}, BIos{.pe_mode = 7}},
      {"CatrOutside", bundle_control, rule::header_no_bundle, {}, BCatr{}},
      {"StopOutside", bundle_control, rule::close_no_bundle, {}, BStop{}},
      {"ScalarInside", bundle_control, rule::header_scalar, {start}, Scalar{}},
      {"SecondDatr", bundle_control, rule::datr_twice, {start, BDatr{}}, BDatr{}},
      {"DatrType", tile_legality, rule::datr_value, {start}, BDatr{.type = 30}},
      {"DatrLayout", tile_legality, rule::datr_value, {start}, BDatr{.layout = 19}},
      {"DatrCMode", tile_legality, rule::datr_value, {start}, BDatr{.cmode = 6}},
      {"SecondFpatr", bundle_control, rule::fpatr_twice, {start, BFpatr{}}, BFpatr{}},
      {"FpatrOfTload", bundle_control, rule::fpatr_operation, {load}, BFpatr{}},
      {"FpatrAfterIot", bundle_control, rule::fpatr_late, {start, source(0)}, BFpatr{}},
      {"FpatrAfterIor", bundle_control, rule::fpatr_late, {start, BIor{}}, BFpatr{}},
      {"FpatrAfterIos", bundle_control, rule::fpatr_late, {start, BIos{.pe_mode = 7}}, BFpatr{}},
      {"InitWithoutRowMax", tile_legality, rule::fpatr_reductions, {start}, BFpatr{.row_max_init = true}},
      {"GroupMaxWithoutGroup", tile_legality, rule::fpatr_reductions, {start}, BFpatr{.group_max = true}},
      {"GroupWithoutGroupMax", tile_legality, rule::fpatr_reductions, {start}, BFpatr{.group_n_code = 1}},
      {"MaxAbsOfNothing", tile_legality, rule::fpatr_reductions, {start}, BFpatr{.max_abs = true}},
      {"SecondLb1", bundle_control, rule::dimension_twice, {start, dimension(1, 5)}, dimension(1, 6)},
      {"SecondIor", bundle_control, rule::ior_twice, {start, BIor{}}, BIor{}},
      {"SecondCatr", bundle_control, rule::catr_twice, {start, BCatr{}}, BCatr{}},
      {"IotAfterLast", bundle_control, rule::iot_after_last, {start, source(0, true)}, destination(M, 1)},
      {"IotAfterLastOfAnotherMask",
       bundle_control,
       rule::iot_after_last,
       {start, source(0, true)},
       source(0, false, 1)},
      {"IotOfAnotherMask", tile_legality, rule::iot_mask, {start, source(0)}, source(0, false, 1)},
      {"SeventeenthIot",
       tile_legality,
       rule::iot_count,
       {start, source(0), source(0), source(0), source(0), source(0), source(0), source(0), source(0), source(0),
        source(0), source(0), source(0), source(0), source(0), source(0), source(0)},
       source(0)},
      {"SameSharedTile",
       bundle_control,
       rule::ios_twice,
       {start, BIos{.shared_tile = 9, .pe_mode = 7}},
       BIos{.shared_tile = 9, .pe_mode = 7}},
      {"FifthIos",
       bundle_control,
       rule::ios_count,
       {start, BIos{.shared_tile = 0, .pe_mode = 7}, BIos{.shared_tile = 1, .pe_mode = 7},
        BIos{.shared_tile = 2, .pe_mode = 7}, BIos{.shared_tile = 3, .pe_mode = 7}},
       BIos{.shared_tile = 4, .pe_mode = 7}},
      {"DirectRead", bundle_control, rule::close_dr, {start, BCatr{.dr = true}}, BStop{}},
  };
  return all;
}

TEST(CubeHeader, ACommandThatFaultsLatchesNothing) {
  for (const Breach& breach : breaches()) {
    SCOPED_TRACE(breach.name);
    Machine machine;
    ASSERT_FALSE(machine.run(breach.before));
    const Header before = machine.header;
    const auto fault = machine.execute(breach.command);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->code, breach.code);
    EXPECT_STREQ(fault->rule, breach.rule) << fault->text;
    EXPECT_NE(fault->text, "");
    EXPECT_EQ(fault->step, 0U);
    EXPECT_EQ(machine.header, before);
  }
}

TEST(CubeHeader, CScaleIsReservedInR1) {
  Parameters r1;
  r1.isa_revision = IsaRevision::r1;
  for (const bool old : {false, true}) {
    Machine machine(old ? r1 : Parameters{});
    ASSERT_FALSE(machine.execute(start));
    const auto fault = machine.execute(BFpatr{.cscale = true});
    ASSERT_EQ(fault.has_value(), old);
    if (old) {
      EXPECT_EQ(fault->code, FaultCode::illegal_instruction);
    }
  }
}

TEST(CubeHeader, DimensionsAreSumsModulo65536) {
  Machine machine;
  machine.gpr[5] = 0xffff'ffff'0000'fffe;
  ASSERT_FALSE(machine.run(
      {start, BDim{.dimension = 1, .gpr = 5, .immediate = 3}, dimension(2, 65'536), BDim{0, 0, 255, true}}));
  EXPECT_EQ(machine.header.dimension[1], 1);
  EXPECT_EQ(machine.header.dimension[2], 0);
  EXPECT_EQ(machine.header.dimension[0], 255);
}

TEST(CubeHeader, MaskZeroBindsNothingAndIsNeverOutOfPlace) {
  Machine machine;
  ASSERT_FALSE(machine.execute(source(0, true, 0))) << "outside of a bundle";
  EXPECT_FALSE(machine.header.zero_participation);
  // Before B.FPATR, and after the last B.IOT; a shared tile twice.
  ASSERT_FALSE(machine.run({start, source(0, true, 0), BIos{.shared_tile = 1}, BIos{.shared_tile = 1}, BFpatr{},
                            source(0, true), source(1, false, 0)}));
  EXPECT_TRUE(machine.header.zero_participation);
  EXPECT_EQ(machine.header.tiles.size(), 1U);
  EXPECT_TRUE(machine.header.shared.empty());
  // Reserved fields come first.
  EXPECT_EQ(machine.execute(destination(M, 12, false, 0))->code, FaultCode::illegal_instruction);
}

TEST(CubeHeader, TypeOfB) {
  Machine machine;
  ASSERT_FALSE(machine.execute(start));
  EXPECT_EQ(machine.header.b_type(), DataType::fp16);
  ASSERT_FALSE(machine.execute(BDatr{.type = datr_inherits_type}));
  EXPECT_EQ(machine.header.b_type(), DataType::fp16);
  machine.header.datr->type = 7;
  EXPECT_EQ(machine.header.b_type(), DataType::e4m3);
}

TEST(CubeHeader, ACloseWantsAnEvenAddress) {
  Machine machine;
  ASSERT_FALSE(machine.execute(start));
  EXPECT_FALSE(check_close(machine.header, 0x1002));
  EXPECT_EQ(check_close(machine.header, 0x1001)->code, FaultCode::instruction_pc);
  EXPECT_STREQ(check_close(machine.header, 0x1001)->rule, rule::close_pc);
  // No bundle comes before an odd address, that before DR.
  EXPECT_STREQ(check_close(Header{}, 0x1001)->rule, rule::close_no_bundle);
  ASSERT_FALSE(machine.execute(BCatr{.dr = true}));
  EXPECT_STREQ(check_close(machine.header, 0x1001)->rule, rule::close_pc);
  EXPECT_STREQ(check_close(machine.header, 0x1002)->rule, rule::close_dr);
}

// The header as a list of what has been taken, each question answered by looking at the whole list.
class SecondModel {
 public:
  FaultCode take(const Command& c) {
    if (reserved(c)) return FaultCode::illegal_instruction;
    if (const auto* start_of_next = std::get_if<BStart>(&c)) {
      open_ = true;
      taken_.assign(1, *start_of_next);
      return FaultCode::none;
    }
    if (std::holds_alternative<BStop>(c)) {
      if (!open_) return FaultCode::bundle_control;
      open_ = false;
      taken_.clear();
      return FaultCode::none;
    }
    if (std::holds_alternative<Scalar>(c)) return open_ ? FaultCode::bundle_control : FaultCode::none;
    if (pe_mode(c) == 0) return FaultCode::none;
    if (!open_) return FaultCode::bundle_control;
    const FaultCode code = judge(c);
    if (code == FaultCode::none) taken_.push_back(c);
    return code;
  }
  bool open() const { return open_; }
  std::size_t size() const { return taken_.size(); }

 private:
  template <class C>
  std::vector<C> all() const {
    std::vector<C> found;
    for (const Command& c : taken_)
      if (const auto* one = std::get_if<C>(&c)) found.push_back(*one);
    return found;
  }
  static int pe_mode(const Command& c) {
    if (const auto* iot = std::get_if<BIot>(&c)) return iot->pe_mode;
    if (const auto* ios = std::get_if<BIos>(&c)) return ios->pe_mode;
    return -1;
  }
  static bool reserved(const Command& c) {
    static const std::set<int> modes{0,  1,  2,  3,  4,  5,  12, 13, 16, 17, 18, 19, 20, 23,
                                     24, 25, 26, 27, 28, 32, 33, 34, 35, 36, 37, 38, 39};
    if (const auto* f = std::get_if<BFpatr>(&c)) return !modes.contains(f->prequant);
    if (const auto* iot = std::get_if<BIot>(&c)) return iot->size_code > 10;
    if (const auto* dim = std::get_if<BDim>(&c)) return dim->gpr > 23;
    return false;
  }
  FaultCode judge(const Command& c) const {
    const bool bound = !all<BIot>().empty() || !all<BIor>().empty() || !all<BIos>().empty();
    if (const auto* f = std::get_if<BFpatr>(&c)) {
      const Operation op = all<BStart>()[0].operation;
      if (!all<BFpatr>().empty() || op == Operation::tload || op == Operation::tstore || bound)
        return FaultCode::bundle_control;
      const bool any = f->row_max || f->group_max;
      const bool sound =
          (!f->row_max_init || f->row_max) && (f->group_max == (f->group_n_code > 0)) && (!f->max_abs || any);
      return sound ? FaultCode::none : FaultCode::tile_legality;
    }
    if (std::holds_alternative<BDatr>(c)) return once<BDatr>();
    if (std::holds_alternative<BIor>(c)) return once<BIor>();
    if (std::holds_alternative<BCatr>(c)) return once<BCatr>();
    if (const auto* dim = std::get_if<BDim>(&c)) {
      for (const BDim& other : all<BDim>())
        if (other.dimension == dim->dimension) return FaultCode::bundle_control;
      return FaultCode::none;
    }
    if (const auto* iot = std::get_if<BIot>(&c)) {
      const auto bound_tiles = all<BIot>();
      for (const BIot& other : bound_tiles)
        if (other.last) return FaultCode::bundle_control;
      for (const BIot& other : bound_tiles)
        if (other.pe_mode != iot->pe_mode) return FaultCode::tile_legality;
      return bound_tiles.size() < 16 ? FaultCode::none : FaultCode::tile_legality;
    }
    const auto& ios = std::get<BIos>(c);
    const auto bound_shared = all<BIos>();
    for (const BIos& other : bound_shared)
      if (other.shared_tile == ios.shared_tile) return FaultCode::bundle_control;
    return bound_shared.size() < 4 ? FaultCode::none : FaultCode::bundle_control;
  }
  template <class C>
  FaultCode once() const {
    return all<C>().empty() ? FaultCode::none : FaultCode::bundle_control;
  }

  bool open_ = false;
  std::vector<Command> taken_{};
};

Command random_command(std::mt19937_64& random) {
  const auto draw = [&](std::int64_t high) { return static_cast<std::uint8_t>(uniform_int(random, 0, high)); };
  const auto chance = [&](std::int64_t one_in) { return uniform_int(random, 1, one_in) == 1; };
  switch (draw(11)) {
    case 0:
      return BStart{chance(4) ? Operation::tload : Operation::tmatmul, DataType::fp16};
    case 1:
      return chance(3) ? Command{BStop{}} : Command{Scalar{}};
    case 2:
      return BDatr{.saturate = chance(2)};
    case 3:
    case 4:
      return BFpatr{.prequant = draw(chance(3) ? 63 : 1),
                    .group_n_code = draw(chance(2) ? 9 : 0),
                    .row_max = chance(2),
                    .group_max = chance(2),
                    .row_max_init = chance(3),
                    .max_abs = chance(3)};
    case 5:
    case 6:
      return BDim{.dimension = draw(2), .gpr = draw(25), .immediate = draw(9)};
    case 7:
      return chance(2) ? Command{BIor{}} : Command{BCatr{}};
    case 8:
      return BIos{.shared_tile = draw(5), .pe_mode = static_cast<std::uint8_t>(chance(3) ? 0 : 7)};
    default:
      return BIot{.sources = 1,
                  .source = {draw(63), 0},
                  .last = chance(20),
                  .size_code = draw(chance(9) ? 12 : 1),
                  .destination = M,
                  .pe_mode = static_cast<std::uint8_t>(chance(12) ? draw(7) : 7)};
  }
}

TEST(CubeHeader, AgreesWithASecondModelOnRandomStreams) {
  auto random = generator_for(3, "cube header");
  unsigned faults = 0;
  Machine machine;
  SecondModel model;
  for (unsigned step = 0; step < 30'000; ++step) {
    const Command command = random_command(random);
    // The close itself is preflight's: here a bundle just ends.
    const bool closes = std::holds_alternative<BStart>(command) || std::holds_alternative<BStop>(command);
    if (closes && machine.header.active && !check_close(machine.header, 2)) {
      machine.header = Header{};
      if (std::holds_alternative<BStop>(command)) {
        ASSERT_EQ(model.take(command), FaultCode::none);
        continue;
      }
    }
    const auto fault = machine.execute(command);
    const FaultCode expected = model.take(command);
    ASSERT_EQ(fault ? fault->code : FaultCode::none, expected)
        << "step " << step << ", command " << command.index() << ": " << (fault ? fault->text : "taken");
    faults += fault ? 1 : 0;
    const Header& h = machine.header;
    std::size_t latched = h.active ? 1 : 0;
    latched += (h.datr ? 1U : 0U) + (h.fpatr ? 1U : 0U) + (h.catr ? 1U : 0U) + (h.ior ? 1U : 0U);
    for (const auto& d : h.dimension) latched += d ? 1 : 0;
    ASSERT_EQ(latched + h.tiles.size() + h.shared.size(), model.size());
    ASSERT_EQ(h.active, model.open());
  }
  EXPECT_GT(faults, 5'000U);
  EXPECT_LT(faults, 25'000U);
}

TEST(CubeHeader, OpeningTwiceIsADefect) {
  Header header;
  ASSERT_FALSE(open(header, start, 0x40));
  EXPECT_EQ(header.pc, 0x40U);
  EXPECT_THROW(open(header, start, 0x80), Defect);
}

}  // namespace
}  // namespace tilevp::cube::testing
