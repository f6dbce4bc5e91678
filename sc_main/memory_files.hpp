#pragma once
// Files in and out of the simulated memories: `--load ADDR=FILE` before the program starts, `--dump ADDR:BYTES=FILE`
// after it ended. Debug accesses: they take no simulated time and count as nobody's traffic; loaded bytes count as
// written.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tilevp/platform/builder.hpp"

namespace tilevp::command {

struct LoadFile {
  std::string file;
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;
};
struct DumpFile {
  std::string text;  // as given, before '='
  std::string file;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool of_tiles = false;  // they lie in a memory of tiles: only where there is one, when the run has ended
};

// `hbm+0x1000`, `core0.sbuf + 64KiB`, `4096`: a sum of region names and numbers. UserError(option).
std::uint64_t parse_address(std::string_view option, const std::string& text,
                            const std::vector<platform::MemoryRegion>& map);
// `16`, `0x40`, `4KiB`, `2MiB`, `1GiB`.
std::uint64_t parse_size(std::string_view option, const std::string& text);

// Reads the file: raw bytes, or the payload of a `.npy` (row-major, little endian). UserError where the option, the
// file or the place is wrong: all of the bytes must lie in memory.
LoadFile parse_load(const std::string& text, const std::vector<platform::MemoryRegion>& map);
DumpFile parse_dump(const std::string& text, const std::vector<platform::MemoryRegion>& map);

void load(platform::Platform& machine, const std::vector<LoadFile>& files);
// Each file is written aside and renamed. Bytes that nobody wrote are 0.
void dump(platform::Platform& machine, const std::vector<DumpFile>& files);

}  // namespace tilevp::command
