// Random programs of transfers and matrix bundles, most of them legal but for one thing: what holds after each whatever
// it did.
#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "models/cube/state_bench.hpp"
#include "tilevp/base/random.hpp"

namespace tilevp::cube::testing {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : generator_(generator_for(seed, "cube bundles")) {}
  std::uint32_t upto(std::int64_t high) { return static_cast<std::uint32_t>(uniform_int(generator_, 0, high)); }
  bool one_in(std::int64_t n) { return uniform_int(generator_, 1, n) == 1; }

 private:
  std::mt19937_64 generator_;
};

// TLOAD of what the matrix bundles below take: A in T, B in U, C in N, Bias in M.
Plan load(Dice& dice, std::uint8_t pe_mode) {
  Plan plan;
  plan.fpatr.reset();
  const unsigned what = dice.upto(3);
  constexpr Hand where[] = {T, U, N, M};
  plan.start = {Operation::tload, what < 2 ? DataType::fp16 : DataType::fp32};
  if (what < 3) plan.datr = BDatr{.layout = static_cast<std::uint8_t>(what == 1 ? nd2n8 : nd2m16)};
  constexpr std::uint32_t columns[] = {4, 8, 8, 8}, rows[] = {1, 4, 1, 1};
  plan.dimensions = {dimension(0, columns[what]), dimension(1, rows[what])};
  plan.tiles = {destination(where[what], what == 2 ? 3 : 1, true, pe_mode)};
  return plan;
}

Plan matrix(Dice& dice, std::uint8_t pe_mode) {
  constexpr Operation ops[] = {Operation::tgemv, Operation::tgemv_acc, Operation::tgemv_bias};
  Plan plan = gemv();
  plan.start.operation = ops[dice.upto(2)];
  plan.tiles.clear();
  const auto number = [&] { return dice.one_in(4) ? 1 + dice.upto(15) : 1; };
  if (accumulates(plan.start.operation)) plan.tiles.push_back(source(code(N, number()), false, pe_mode));
  plan.tiles.push_back(sources(code(T, number()), code(U, number()), false, pe_mode));
  if (has_bias(plan.start.operation)) plan.tiles.push_back(source(code(M, number()), false, pe_mode));
  plan.tiles.push_back(destination(N, 3, true, pe_mode));
  return plan;
}

void spoil(Dice& dice, Plan& plan) {
  switch (dice.upto(7)) {
    case 0:
      plan.dimensions[dice.upto(1)].immediate = dice.upto(20);
      break;
    case 1:
      plan.tiles.back().size_code = static_cast<std::uint8_t>(dice.upto(10));
      break;
    case 2:
      plan.tiles.back().last = false;
      break;
    case 3:
      plan.start.type = static_cast<DataType>(dice.upto(28));
      break;
    case 4:
      if (plan.fpatr) plan.fpatr->prequant = static_cast<std::uint8_t>(dice.upto(39));
      break;
    case 5:
      plan.ior = BIor{.source = {static_cast<std::uint8_t>(dice.upto(3)), 0, 0}};
      break;
    case 6:
      plan.tiles.push_back(source(static_cast<std::uint8_t>(dice.upto(63))));
      break;
    default:
      plan.datr =
          BDatr{.pad = static_cast<std::uint8_t>(dice.upto(3)), .layout = static_cast<std::uint8_t>(dice.upto(30))};
  }
}

// Sums, names and definedness, found again from the descriptors.
void check_books(const Machine& machine, std::uint32_t capacity) {
  std::array<std::uint64_t, pes> used{};
  std::array<unsigned, hands> live{};
  for (unsigned slot = 0; slot < tile_slots; ++slot) {
    const auto s = static_cast<TileSlot>(slot);
    if (!machine.tiles.allocated(s)) continue;
    ASSERT_TRUE(machine.tiles.defined(s));
    ++live[static_cast<unsigned>(hand_of(s))];
    const TileDescriptor& tile = machine.tiles.descriptor(s);
    ASSERT_LE(tile.storage_bytes(), tile.capacity_bytes);
    ASSERT_TRUE(std::has_single_bit(tile.capacity_bytes));
    for (unsigned pe = 0; pe < pes; ++pe) used[pe] += selects(tile.mask, pe) ? tile.capacity_bytes : 0;
  }
  std::uint64_t sum = 0;
  for (unsigned pe = 0; pe < pes; ++pe) {
    ASSERT_EQ(machine.tiles.used_bytes(pe), used[pe]);
    sum += used[pe];
  }
  ASSERT_LE(sum, capacity);
  for (const unsigned count : live) ASSERT_LE(count, 16U);
}

TEST(CubeRandomBundles, FaultsHaveNoEffectAndSuccessesOnlyTheirOwn) {
  constexpr std::uint32_t capacity = 48 * 1024;
  Parameters parameters;
  parameters.tile_capacity_bytes = capacity;
  Machine machine(parameters);
  Dice dice(5);
  std::map<FaultCode, unsigned> outcomes;
  for (unsigned round = 0; round < 400; ++round) {
    const auto pe_mode = static_cast<std::uint8_t>(dice.one_in(6) ? dice.upto(7) : 7);
    Plan plan = dice.one_in(2) ? load(dice, pe_mode) : matrix(dice, pe_mode);
    if (dice.one_in(3)) spoil(dice, plan);
    const Snapshot before = machine.snapshot();
    const auto fault = machine.run(plan);
    const Snapshot after = machine.snapshot();
    ++outcomes[fault ? fault->code : FaultCode::none];
    if (fault) {
      ASSERT_EQ(after, before) << fault->text;
      machine.header = Header{};
      // The host makes room, for a full core stays full: tiles leave only when others arrive.
      if (fault->code == FaultCode::tile_allocation)
        for (unsigned number = 1; number <= 3; ++number)
          if (const auto slot = machine.tiles.find(code(N, number))) machine.tiles.retire(*slot);
    } else {
      // Every payload that is still there is what it was.
      for (const auto& [place, bytes] : before.payloads) {
        const auto now = after.payloads.find(place);
        if (now == after.payloads.end() || after.tiles.at(place.first) != before.tiles.at(place.first)) continue;
        const bool replaced = machine.tiles.find(static_cast<std::uint8_t>(place.first % 64 / 16 * 16)) == place.first;
        if (!replaced) {
          ASSERT_EQ(now->second, bytes);
        }
      }
    }
    ASSERT_NO_FATAL_FAILURE(check_books(machine, capacity));
  }
  EXPECT_GT(outcomes[FaultCode::none], 120U);
  EXPECT_GT(outcomes[FaultCode::tile_legality], 70U);
  EXPECT_GT(outcomes[FaultCode::tile_allocation], 2U);
  EXPECT_GT(outcomes[FaultCode::illegal_instruction], 2U);
}

}  // namespace
}  // namespace tilevp::cube::testing
