#include "tilevp/neuroncore/sbuf.hpp"

#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/rules.hpp"

namespace tilevp::neuroncore {

std::uint32_t usable_sbuf_bytes(const Parameters& parameters) {
  constexpr std::uint32_t limit = 1U << sbuf_partition_shift;
  if (parameters.sbuf_partition_bytes > limit)
    throw UserError("sbuf_partition_bytes", "expected at most " + std::to_string(limit) + ", found " +
                                                std::to_string(parameters.sbuf_partition_bytes));
  if (parameters.sbuf_reserved_bytes >= parameters.sbuf_partition_bytes)
    throw UserError("sbuf_reserved_bytes", "expected less than sbuf_partition_bytes (" +
                                               std::to_string(parameters.sbuf_partition_bytes) + "), found " +
                                               std::to_string(parameters.sbuf_reserved_bytes));
  return parameters.sbuf_partition_bytes - parameters.sbuf_reserved_bytes;
}

Sbuf::Sbuf(sc_core::sc_module_name name, Simulation& simulation, const Parameters& parameters)
    : Scratchpad(name, simulation,
                 {.space = Space::sbuf,
                  .partition_shift = sbuf_partition_shift,
                  .usable_bytes = usable_sbuf_bytes(parameters),
                  .kind = "sbuf",
                  .bounds_rule = rule::sbuf_bounds,
                  .undefined_read_rule = rule::sbuf_undefined_read}) {}

}  // namespace tilevp::neuroncore
