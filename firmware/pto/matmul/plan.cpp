#include "tilevp/pto/matmul/plan.hpp"

#include <algorithm>
#include <optional>

#include "tilevp/base/errors.hpp"
#include "tilevp/pto/code.hpp"

namespace tilevp::pto::matmul {
namespace {

// A hand holds on to its newest 16 tiles, and the next one needs room before the oldest goes.
constexpr std::uint64_t live_tiles = cube::tiles_per_hand + 1;

std::uint32_t cut(std::uint64_t whole, std::uint32_t tile) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(whole, tile));
}

// Of the largest row of parameters: bias, conversion, slopes.
std::uint64_t row_tile_bytes(const Plan& plan) {
  const Request& r = plan.request;
  std::uint64_t bytes = 0;
  if (r.bias && !plan.bias_is_c) bytes = tile_bytes(cube::Layout::row_major, r.accumulator(), 1, plan.n_tile);
  if (r.quant_is_vector() || r.slope_is_vector())
    bytes = std::max<std::uint64_t>(bytes, tile_bytes(cube::Layout::row_major, cube::DataType::u64, 1, plan.n_tile));
  return bytes;
}

// The sizes of a plan's tiles; false where one exceeds what a tile can be.
bool size_tiles(Plan& plan) {
  const Request& r = plan.request;
  try {
    plan.a_bytes = tile_bytes(plan.layout, r.a_type, plan.m_tile, plan.k_tile);
    plan.b_bytes = tile_bytes(cube::Layout::cube_n8, r.b_type, plan.k_tile, plan.n_tile);
    plan.sum_bytes = tile_bytes(plan.layout, r.accumulator(), plan.m_tile, plan.n_tile);
    plan.d_bytes = tile_bytes(plan.layout, r.d_type(), plan.m_tile, plan.n_tile);
    row_tile_bytes(plan);
  } catch (const UserError&) {
    return false;
  }
  return true;
}

unsigned rows_a_block(const Plan& plan) {
  const Request& r = plan.request;
  return (r.bias && !plan.bias_is_c ? 1U : 0U) + (r.quant_is_vector() ? 1U : 0U) + (r.slope_is_vector() ? 1U : 0U);
}

// With relative selectors tiles come and go; with absolute ones all of a program are there at its end.
bool fits(const Plan& plan, const Machine& machine) {
  const std::uint64_t d = std::max(plan.sum_bytes, plan.d_bytes);
  if (!machine.absolute_selectors)
    return live_tiles * (plan.a_bytes + plan.b_bytes + d + row_tile_bytes(plan)) <= machine.capacity_bytes;
  const std::uint64_t sums = plan.products() + (plan.bias_is_c ? plan.stores() : 0);
  return sums <= cube::tiles_per_hand && plan.stores() * rows_a_block(plan) <= cube::tiles_per_hand &&
         plan.products() * (plan.a_bytes + plan.b_bytes) + sums * d +
                 plan.stores() * rows_a_block(plan) * row_tile_bytes(plan) <=
             machine.capacity_bytes;
}

}  // namespace

Plan make_plan(const Request& request, const Machine& machine) {
  constexpr std::uint32_t largest_tile = 16'384;
  std::optional<Plan> best;
  std::uint64_t best_work = 0;
  Plan plan{.request = request};
  plan.layout = request.m <= 16 ? cube::Layout::cube_m16 : cube::Layout::cube_m32;
  plan.m_tile = cut(request.m, 32);
  // Of plans with equal work a bundle the one with the wider rows: memory is faster with long runs.
  for (std::uint32_t n = 8; n <= largest_tile; n *= 2) {
    plan.n_tile = cut(request.n, n);
    for (std::uint32_t k = 8; k <= largest_tile; k *= 2) {
      plan.k_tile = cut(request.k, k);
      plan.bias_is_c = request.bias && plan.k_blocks() > 1;
      if (!size_tiles(plan) || !fits(plan, machine)) continue;
      const std::uint64_t work = std::uint64_t{plan.n_tile} * plan.k_tile;
      if (work < best_work) continue;
      best = plan;
      best_work = work;
    }
  }
  if (!best)
    throw UserError(request.gemv ? "tgemv" : "tmatmul",
                    "a product of " + std::to_string(request.m) + " x " + std::to_string(request.k) + " by " +
                        std::to_string(request.n) + " does not fit into " + std::to_string(machine.capacity_bytes) +
                        " bytes of tiles" +
                        (machine.absolute_selectors ? ", of which absolute selectors free none" : ""));
  return *best;
}

std::string Plan::text(std::uint64_t loads) const {
  const auto line = [](const std::string& what, const std::string& text) {
    return what + std::string(10 - what.size(), ' ') + text + "\n";
  };
  const auto type = [](cube::DataType t) { return std::string(name(t)); };
  const auto tile = [](std::uint64_t rows, std::uint64_t columns, std::uint64_t bytes) {
    return std::to_string(rows) + " x " + std::to_string(columns) + ", " + std::to_string(bytes) + " bytes a tile";
  };
  const Request& r = request;
  return line("A", std::to_string(r.m) + " x " + std::to_string(r.k) + " " + type(r.a_type) + " in " +
                       std::string(name(layout)) + ": " + tile(m_tile, k_tile, a_bytes)) +
         line("B", std::to_string(r.k) + " x " + std::to_string(r.n) + " " + type(r.b_type) +
                       " in CUBE_N8: " + tile(k_tile, n_tile, b_bytes)) +
         line("D", std::to_string(r.m) + " x " + std::to_string(r.n) + " " + type(r.d_type()) + ": " +
                       tile(m_tile, n_tile, d_bytes) + "; sums in " + type(r.accumulator())) +
         (r.bias ? line("bias", bias_is_c ? "the sums start from it" : "added to the whole sum") : "") +
         line("bundles", std::to_string(products()) + " products (" + std::to_string(m_blocks()) + " x " +
                             std::to_string(n_blocks()) + " blocks of " + std::to_string(k_blocks()) + "), " +
                             std::to_string(loads) + " loads, " + std::to_string(stores()) + " stores, " +
                             std::to_string(r.pes) + (r.pes == 1 ? " PE" : " PEs"));
}

}  // namespace tilevp::pto::matmul
