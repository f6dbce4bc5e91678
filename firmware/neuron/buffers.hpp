#pragma once
// Who holds which bytes of SBUF and PSUM, and between which calls of the trace.
#include <boost/json/array.hpp>

#include "tilevp/neuron/kernel.hpp"

namespace tilevp::neuron {

// Of each on-chip tensor that a call touched, by memory and address: {name, memory, first_byte, bytes (a partition),
// partitions [first, last], calls [first, last]}. Calls are numbered in the order of the trace.
boost::json::array buffers_of(const Kernel& kernel);

}  // namespace tilevp::neuron
