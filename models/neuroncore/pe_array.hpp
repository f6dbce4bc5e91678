#pragma once
// The PE array: 128 rows x 128 columns. A stationary tile (K partitions x M columns) is loaded, then a moving tile
// (K x N) streams past it, one column a cycle:   psum[m][n] (=|+=) sum over k of stationary[k][m] * moving[k][n].
//
// Time of matmul i, issued at t, in PE cycles:
//   ls_begin = max(t, begin of i-1)          the load runs in the background of the matmul before
//   ls_end   = ls_begin + passes * ceil(M / weight_load_columns_per_cycle)       (0 with REUSE)
//   begin    = max(t, end of i-1, ls_end, PSUM bank free)
//   end      = begin + passes * max(N, min(64, M))
//   the result is in PSUM at end + fill_cycles
// passes is 4 for fp32, else 1. Sources: the interval max(N, min(64, M)), 4x for fp32 and loads "up to 4x faster, in
// the background" are from the AWS Neuron documentation (nki.isa of release 2.26; Trainium/Inferentia2 architecture
// guide); 200 base-clock cycles of fill are the compiler's latency constant.
//
// A transpose (P partitions x F elements) is a matmul with an identity matrix as the moving tile: it loads F columns of
// weights, one pass for every type, and takes max(P, min(64, F)) cycles (nki.isa of release 2.26). Its numbers:
// transpose.hpp. Afterwards no stationary tile is loaded.
//
// Numbers: numeric::multiply defines the order of accumulation; fp32's passes are a cost, not a value. The array keeps
// the loaded tile: with REUSE, later writes to its source in SBUF do not reach the product.
#include <memory>
#include <systemc>
#include <vector>

#include "tilevp/neuroncore/execution_unit.hpp"
#include "tilevp/neuroncore/moving_tiles.hpp"
#include "tilevp/neuroncore/shared_resources.hpp"
#include "tilevp/neuroncore/tile_port.hpp"
#include "tilevp/numeric/ordered_gemm.hpp"

namespace tilevp::neuroncore {

// Passes x columns a matmul or transpose streams for.
std::uint64_t interval_cycles(const PeParameters& parameters, const Instruction& instruction);
std::uint64_t weight_load_cycles(const PeParameters& parameters, const Instruction& instruction);

class PeArray final : public sc_core::sc_module, public ExecutionUnit {
 public:
  TilePort sbuf{"sbuf"};
  TilePort psum{"psum"};

  PeArray(sc_core::sc_module_name name, const EngineContext& context, const PeParameters& parameters,
          std::uint32_t generation, SharedResources& shared);

  std::uint64_t matmuls() const { return matmuls_.value(); }
  std::uint64_t macs() const { return macs_.value(); }
  std::uint64_t pe_cycles() const { return pe_cycles_.value(); }
  std::uint64_t weight_loads() const { return weight_loads_.value(); }
  // No stationary tile is loaded.
  void forget_stationary() { loaded_ = {}; }

 private:
  struct Loaded {
    Operand tile;
    unsigned partitions = 0;  // 0: nothing is loaded
    numeric::DType dtype = numeric::DType::fp32;
    bool operator==(const Loaded&) const = default;
  };
  struct Views;
  struct Product;
  struct Transposition;

  void schedule(Flight& flight) override;
  void commit(const Flight& flight) override;
  void commit_matmul(const Flight& flight);
  void commit_transpose(const Flight& flight);
  void take_stationary(const Flight& flight);
  Grant acquire_bank(const Flight& flight, std::uint64_t earliest_cycle);
  void multiply_part(const Views& views, unsigned part);
  void store(const Views& views, const numeric::PackedMoving& moving);

  PeParameters parameters_;
  std::uint32_t generation_;
  SharedResources& shared_;
  // Cycles of the PE clock.
  std::uint64_t last_begin_ = 0;
  std::uint64_t free_at_ = 0;
  Loaded loaded_;

  Counter matmuls_;
  Counter transposes_;
  Counter macs_;
  Counter pe_cycles_;
  Counter weight_loads_;

  MovingTiles moving_;
  // Touched by effects only.
  numeric::PackedStationary stationary_;
  std::vector<float> product_;
  std::vector<float> row_;
  std::vector<float> transposed_;
  std::vector<std::byte> transposed_bytes_;
  // Bytes of operands whose memory is not direct.
  std::vector<std::byte> stationary_bytes_;
  std::vector<std::byte> moving_bytes_;
  std::vector<std::byte> result_bytes_;
};

}  // namespace tilevp::neuroncore
