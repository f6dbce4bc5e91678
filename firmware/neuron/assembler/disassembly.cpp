#include <algorithm>
#include <cstdio>
#include <string>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/hex_text.hpp"
#include "tilevp/neuron/assembler/listing.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace tilevp::neuron::assembler {
namespace {

using memory::AccessPattern;

template <std::size_t size>
std::string bytes_text(const std::array<std::byte, size>& bytes) {
  std::string text = ".record ";
  for (const std::byte b : bytes) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(b));
    text += digits;
  }
  return text;
}

std::string address_text(std::uint64_t address, const Bases& bases) {
  namespace map = neuroncore::registers;
  if (const std::uint64_t offset = address - bases.core0; address >= bases.core0 && offset < map::control_window) {
    if (offset < map::psum_window)
      return "sbuf(" + std::to_string(offset >> neuroncore::sbuf_partition_shift) + ", " +
             std::to_string(offset & ((1U << neuroncore::sbuf_partition_shift) - 1)) + ")";
    const std::uint64_t place = offset - map::psum_window;
    const std::uint64_t bytes = place & ((1U << neuroncore::psum_partition_shift) - 1);
    if (place >> neuroncore::psum_partition_shift < neuroncore::max_partitions &&
        bytes < neuroncore::psum_banks * neuroncore::psum_bank_bytes)
      return "psum(" + std::to_string(place >> neuroncore::psum_partition_shift) + ", " +
             std::to_string(bytes >> neuroncore::psum_bank_shift) + ", " +
             std::to_string(bytes % neuroncore::psum_bank_bytes) + ")";
  }
  return address >= bases.hbm ? "hbm + " + hex_text(address - bases.hbm) : hex_text(address);
}

std::string side_text(const AccessPattern& pattern, numeric::DType dtype, const Bases& bases) {
  std::string text = address_text(pattern.start(), bases);
  for (std::size_t l = 0; l < pattern.loops().size(); ++l)
    text += (l == 0 ? " [" : ", ") + std::to_string(pattern.loops()[l].size) + " by " +
            std::to_string(pattern.loops()[l].stride);
  if (!pattern.loops().empty()) text += "]";
  text += " " + std::string(numeric::name(dtype));
  if (pattern.element_bytes() != numeric::size_bytes(dtype))
    text += " element " + std::to_string(pattern.element_bytes());
  return text;
}

std::string descriptor_text(const dma::Descriptor& d, const Bases& bases) {
  std::string text = "empty";
  if (!d.empty)
    text = "copy " + side_text(d.destination, d.destination_dtype, bases) + " = " +
           side_text(d.source, d.source_dtype, bases);
  if (d.signals) text += ", sem " + std::to_string(d.semaphore) + " += " + std::to_string(d.increment);
  if (d.interrupts) text += ", interrupt";
  if (d.transposes) text += ", transpose";
  return text;
}

// Whether the text of a descriptor says all of it.
bool is_said(const dma::Descriptor& d) {
  if (d.rows.side != dma::Indirect::none) return false;
  if (!d.signals && (d.semaphore != 0 || d.increment != 0)) return false;
  return !d.empty || d.source_dtype == numeric::DType::uint8;
}

std::string line_of(const Record& record, const Bases&) {
  try {
    const auto instruction = neuroncore::decode(record, "");
    if (neuroncore::encode(instruction) == record) return neuroncore::disassemble(instruction);
  } catch (const Error&) {
    // It is no instruction.
  }
  return bytes_text(record);
}

std::string line_of(const DescriptorRecord& record, const Bases& bases) {
  try {
    const auto descriptor = dma::decode(record, "");
    if (is_said(descriptor) && dma::encode(descriptor) == record) return descriptor_text(descriptor, bases);
  } catch (const Error&) {
    // It is no descriptor.
  }
  return bytes_text(record);
}

// At most 16 bytes a line; equal bytes are counted.
std::string data_text(const DataBlock& block, const Bases& bases) {
  constexpr std::size_t line_bytes = 16;
  constexpr std::size_t worth_counting = 4;
  std::string text;
  for (std::size_t at = 0; at < block.bytes.size();) {
    const std::byte first = block.bytes[at];
    const auto same =
        static_cast<std::size_t>(std::find_if(block.bytes.begin() + static_cast<std::ptrdiff_t>(at), block.bytes.end(),
                                              [&](std::byte b) { return b != first; }) -
                                 block.bytes.begin()) -
        at;
    text += ".data " + address_text(block.address + at, bases) + " uint8: ";
    if (same >= worth_counting) {
      text += std::to_string(same) + " x " + std::to_string(std::to_integer<unsigned>(first)) + "\n";
      at += same;
      continue;
    }
    const std::size_t end = std::min(at + line_bytes, block.bytes.size());
    for (std::size_t i = at; i < end; ++i)
      text += (i == at ? "" : ", ") + std::to_string(std::to_integer<unsigned>(block.bytes[i]));
    text += "\n";
    at = end;
  }
  return text;
}

template <class T>
std::string lines_of(const std::vector<T>& records, const Bases& bases) {
  std::string text;
  for (const T& record : records) text += "  " + line_of(record, bases) + "\n";
  return text;
}

}  // namespace

std::string disassemble(const Listing& listing, const Bases& bases) {
  std::string text;
  for (unsigned e = 0; e < neuroncore::engines; ++e)
    if (!listing.streams[e].empty())
      text += ".engine " + std::string(neuroncore::name(static_cast<neuroncore::Engine>(e))) + "\n" +
              lines_of(listing.streams[e], bases);
  for (const auto& [id, records] : listing.rings)
    text += ".ring queue " + std::to_string(id.first) + " engine " + std::to_string(id.second) + "\n" +
            lines_of(records, bases);
  for (const auto& block : listing.data) text += data_text(block, bases);
  return text;
}

}  // namespace tilevp::neuron::assembler
