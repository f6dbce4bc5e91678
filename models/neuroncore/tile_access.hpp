#pragma once
// The tile protocol: how engines reach SBUF and PSUM. It has a payload of its own, so that an engine cannot be bound to
// a memory-mapped socket by mistake (docs/protocols.md).
//
// b_transport is the only method. It is called when an operation commits, on the kernel thread, outside any SC_THREAD:
// nobody may wait, the delay is zero on entry and return. When the operation begins and ends has been settled by the
// engines' resources.
#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tlm>

#include "tilevp/neuroncore/isa.hpp"
#include "tilevp/numeric/strided_tile.hpp"

namespace tilevp::neuroncore {

// Who writes a PSUM cell decides what may be done to it next: only a matmul may add to what a matmul wrote.
enum class Writer : std::uint8_t { other, matmul_overwrite, matmul_accumulate };

struct TileAccess {
  // query: only whether the target is direct; nothing is checked or counted and `data` is empty. An engine asks once.
  enum class Command : std::uint8_t { read, write, query };

  // Set by the engine.
  Command command = Command::read;
  Operand operand;
  unsigned partitions = 1;
  numeric::DType dtype = numeric::DType::fp32;
  Writer writer = Writer::other;  // writes
  bool last = false;              // writes of a matmul: it ends its accumulation group (STOP)
  const char* engine = "";        // for messages: "vector"
  std::uint64_t instruction = 0;  // for messages: index in the stream
  std::uint64_t id = 0;           // the instruction's, and a part number for each of its accesses
  // Packed bytes, partition after partition, elements in the pattern's order. Used when the target has no direct way: a
  // read fills it, a write takes it. An accumulating write adds fp32 values.
  std::span<std::byte> data;

  // Set by the target. With `direct` true the target has done its checks and its accounting (definedness, writer kinds,
  // counters) and the engine moves the bytes itself, through `view`, in an effect. False: `data` was used.
  bool direct = false;
  numeric::MutableStridedTile view;  // the pointer stays valid for the whole run; `partitions` rows
};

// Numbers of an instruction's tile accesses, the part of their ids.
enum class TilePart : std::uint8_t { source0 = 1, source1 = 2, scalar0 = 3, scalar1 = 4, destination = 5 };

struct TileProtocol {
  using tlm_payload_type = TileAccess;
  using tlm_phase_type = tlm::tlm_phase;
};

}  // namespace tilevp::neuroncore
