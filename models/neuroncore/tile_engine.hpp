#pragma once
// The vector, scalar and gpsimd engines: one elementwise machine with three sets of instructions, memories and costs.
//
// Time of instruction i, issued at t, in cycles of the engine's clock:
//   begin    = max(t, end of i-1, completion of whatever it depends on, PSUM banks and shared ports free)
//   end      = begin + cost (engine_costs.hpp)
//   the result is visible at end + latency_cycles
// An instruction depends on one in flight whose destination it reads or overwrites. Dependent single-element
// instructions of the scalar engine on NC-v2 then follow each other every 64 + 200 cycles = 188.6 ns; the published
// profile shows 189 ns (AWS Neuron documentation, NKI performance guide).
#include <array>
#include <memory>
#include <systemc>
#include <vector>

#include "tilevp/neuroncore/execution_unit.hpp"
#include "tilevp/neuroncore/shared_resources.hpp"
#include "tilevp/neuroncore/tile_operations.hpp"
#include "tilevp/neuroncore/tile_port.hpp"

namespace tilevp::neuroncore {

class TileEngine final : public sc_core::sc_module, public ExecutionUnit {
 public:
  TilePort sbuf{"sbuf"};
  std::unique_ptr<TilePort> psum;  // null: the engine does not reach it

  TileEngine(sc_core::sc_module_name name, const EngineContext& context, const EngineParameters& parameters,
             std::uint32_t generation, SharedResources& shared);

 private:
  struct RowsEffect;

  void schedule(Flight& flight) override;
  void commit(const Flight& flight) override;
  std::uint64_t dependency_ps(const Flight& flight, std::uint64_t after_ps) const;
  ResourceSet resources_of(const Flight& flight, unsigned& banks) const;
  std::uint64_t begin_of(const Flight& flight, std::uint64_t earliest_ps);
  Stall stall_of(const Resource* blocker) const;

  TilePort& port_of(Space space);
  bool all_direct(const Flight& flight);
  TileAccess access_to(const Operand& operand, const Flight& flight, numeric::DType dtype, TilePart part) const;
  TileOperation operation_of(const Flight& flight);
  ScalarView scalar_of(const Scalar& scalar, const Flight& flight, TilePart part, std::vector<std::byte>& buffer);

  EngineParameters parameters_;
  std::uint32_t generation_;
  SharedResources& shared_;
  std::uint64_t free_at_ = 0;  // cycles

  std::array<OperationBuffers, EffectsQueue::max_threads> buffers_;  // touched by effects only
  // Bytes of operands whose memory is not direct.
  std::vector<std::byte> source0_bytes_;
  std::vector<std::byte> source1_bytes_;
  std::vector<std::byte> scalar0_bytes_;
  std::vector<std::byte> scalar1_bytes_;
  std::vector<std::byte> result_bytes_;
};

}  // namespace tilevp::neuroncore
