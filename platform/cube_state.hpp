#pragma once
// What a CUBE core holds where a run stopped at `--break`, as text. Read as a debugger would: from its windows.
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace tilevp::platform {

// A debug read; false where not all bytes lie in memory.
using DebugRead = std::function<bool(std::uint64_t address, std::span<std::byte> bytes)>;

// The operation of the open bundle, in one line. `core_base`: of the core's window.
std::string cube_stopped_text(std::uint64_t core_base, const DebugRead& read);

// The open bundle's header, the GPRs that are not 0, and every tile: shape, type, layout, the first elements.
std::string cube_state_text(std::uint64_t core_base, const DebugRead& read);

}  // namespace tilevp::platform
