#pragma once
// A raw program: exactly the records and descriptors that somebody wrote, and bytes to put beside them.
//
// Records are kept as bytes, so that what is no instruction can be listed, stored and run too (the machine faults).
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tilevp/dma/descriptor.hpp"
#include "tilevp/neuroncore/isa.hpp"

namespace tilevp::neuron::assembler {

using Record = std::array<std::byte, neuroncore::instruction_bytes>;
using DescriptorRecord = std::array<std::byte, dma::descriptor_bytes>;

// Where a platform's parts stand in the addresses of its DMA engines; by default as in the shipped descriptions.
struct Bases {
  std::uint64_t hbm = 0;
  std::uint64_t core0 = std::uint64_t{1} << 44;
};

struct DataBlock {
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;
  bool operator==(const DataBlock&) const = default;
};

// (queue, DMA engine)
using RingId = std::pair<std::uint8_t, std::uint8_t>;

struct Listing {
  std::array<std::vector<Record>, neuroncore::engines> streams;
  std::map<RingId, std::vector<DescriptorRecord>> rings;
  std::vector<DataBlock> data;
  bool operator==(const Listing&) const = default;
};

// ---- Text (docs/assembler.md)

// Throws UserError `name:line:column: expected ..., found ...`.
Listing assemble(const std::string& name, std::string_view text, const Bases& bases);
// What assembles to the same listing. A record or descriptor whose fields do not say all of its bytes is written as
// bytes.
std::string disassemble(const Listing& listing, const Bases& bases);

// ---- Files

// A listing as one file, little endian: magic, u32 version, u32 sections; then for each section u32 kind (0 stream,
// 1 ring, 2 data), u16 engine, u16 queue, u64 address, u64 bytes, and the bytes.
std::string to_binary(const Listing& listing);
bool is_binary(std::string_view file);
// Throws UserError(name) where the file is cut short, has an unknown version or kind, or pieces of records.
Listing from_binary(const std::string& name, std::string_view file);

// A file of any of the three kinds: what to_binary makes; bare records, which are the stream of `engine` (without one:
// pe); text. Throws UserError(name), and UserError("--engine") where the file names its engines itself.
Listing listing_of(const std::string& name, std::string_view file, const Bases& bases,
                   std::optional<neuroncore::Engine> engine = std::nullopt);
// Throws UserError(option).
neuroncore::Engine parse_engine(const std::string& option, const std::string& text);

}  // namespace tilevp::neuron::assembler
