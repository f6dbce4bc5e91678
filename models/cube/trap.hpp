#pragma once
// What a fault leaves behind for the host, and how a program goes on after it.
#include <cstdint>
#include <string>

#include "tilevp/cube/bundle.hpp"

namespace tilevp::cube {

// The core stands still with `fault`. `pc` is the instruction that raised it: a header command, or the closer of the
// bundle. The header stays latched as it was before that instruction.
struct TrapContext {
  BundleFault fault{};
  std::uint64_t pc = 0;
  Header header{};
};

// The header with which execution goes on at `pc`. At the trap's own PC the faulting instruction is tried again with
// what was latched before (the host changed a GPR, the capacity, a tile, or the instruction word). Anywhere else, and
// so at the bundle's BSTART too, no bundle is open: the host rewrote the program.
inline Header header_at_restart(const TrapContext& trap, std::uint64_t pc) {
  return pc == trap.pc ? trap.header : Header{};
}

}  // namespace tilevp::cube
