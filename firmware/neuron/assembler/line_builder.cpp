#include "tilevp/neuron/assembler/line_builder.hpp"

#include <algorithm>

#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace tilevp::neuron::assembler {
namespace {

constexpr unsigned max_depth = 64;
// Of all .data lines: what a text can ask for with `N x V`.
constexpr std::uint64_t max_data_bytes = std::uint64_t{1} << 26;

}  // namespace

LineBuilder::LineBuilder(const Bases& bases) : bases_(bases) {
  constants_ = {{"hbm", bases.hbm}, {"core0", bases.core0}};
}

void LineBuilder::begin_line(const char* at) {
  line_ = Line::nothing;
  line_at_ = at;
  depth_ = 0;
  arguments_.clear();
}

void LineBuilder::end_line() {
  const auto put = [&]<class T>(std::vector<T>& records, const T& record) { records.push_back(record); };
  try {
    if (line_ == Line::instruction) {
      if (instruction.opcode == neuroncore::Opcode::memset && !source_partitions_given)
        instruction.source_partitions = instruction.partitions;
      put(listing_.streams[static_cast<std::size_t>(engine_)], encode(instruction));
    } else if (line_ == Line::descriptor) {
      put(listing_.rings[ring_], encode(descriptor));
    }
  } catch (const UserError& error) {
    throw Mistake{line_at_, "", "", error.what()};
  }
  if (line_ != Line::record) return;
  if (section_ == Section::stream) {
    Record record;
    std::copy(record_.begin(), record_.end(), record.begin());
    put(listing_.streams[static_cast<std::size_t>(engine_)], record);
  } else {
    DescriptorRecord record;
    std::copy(record_.begin(), record_.end(), record.begin());
    put(listing_.rings[ring_], record);
  }
}

// ---- Constants

void LineBuilder::define(const char* at, const std::string& name, Wide value) {
  const auto [known, added] = constants_.emplace(name, value);
  if (!added) throw Mistake{at, "a new name", "'" + name + "', which is " + number_text(known->second) + " already"};
}

// The number that the next record of the section will have.
void LineBuilder::label(const char* at, const std::string& name) {
  if (section_ == Section::none) throw Mistake{at, ".engine or .ring before a label"};
  const std::size_t next = section_ == Section::stream ? listing_.streams[static_cast<std::size_t>(engine_)].size()
                                                       : listing_.rings[ring_].size();
  define(at, name, Wide{next});
}

std::optional<Wide> LineBuilder::constant(const std::string& name) const {
  const auto found = constants_.find(name);
  if (found == constants_.end()) return std::nullopt;
  return found->second;
}

Wide LineBuilder::take_argument() {
  const Wide last = arguments_.back();
  arguments_.pop_back();
  return last;
}

Wide LineBuilder::take_sbuf_address() {
  const Wide byte = take_argument();
  const Wide partition = take_argument();
  return bases_.core0 + neuroncore::registers::sbuf_window + partition * (1 << neuroncore::sbuf_partition_shift) + byte;
}

Wide LineBuilder::take_psum_address() {
  const Wide byte = take_argument();
  const Wide bank = take_argument();
  const Wide partition = take_argument();
  return bases_.core0 + neuroncore::registers::psum_window + partition * (1 << neuroncore::psum_partition_shift) +
         bank * neuroncore::psum_bank_bytes + byte;
}

void LineBuilder::enter(const char* at) {
  if (++depth_ > max_depth)
    throw Mistake{at, "at most " + std::to_string(max_depth) + " parentheses inside each other", "one more"};
}

// ---- Sections

void LineBuilder::open_engine(neuroncore::Engine engine) {
  section_ = Section::stream;
  engine_ = engine;
}

void LineBuilder::open_ring() {
  section_ = Section::ring;
  ring_ = {queue, dma_engine};
  listing_.rings[ring_];
}

void LineBuilder::require_stream(const char* at) const {
  if (section_ == Section::none) throw Mistake{at, ".engine NAME before the first instruction"};
  if (section_ == Section::ring)
    throw Mistake{at, "a descriptor (copy, empty, .record) in the section of a ring, or .engine NAME"};
}

void LineBuilder::require_ring(const char* at) const {
  if (section_ != Section::ring) throw Mistake{at, ".ring queue Q before a descriptor"};
}

// ---- Instructions

void LineBuilder::begin_instruction(neuroncore::Opcode opcode) {
  line_ = Line::instruction;
  instruction = {};
  instruction.opcode = opcode;
  source_partitions_given = false;
  waits_ = sources_ = 0;
}

unsigned LineBuilder::end_tile(const char* at, neuroncore::Operand& operand, numeric::DType& dtype) const {
  using neuroncore::Dim;
  constexpr std::size_t dims = std::tuple_size_v<decltype(operand.dims)>;
  if (tile.counts.size() > dims)
    throw Mistake{at, "at most " + std::to_string(dims) + " dimensions", std::to_string(tile.counts.size())};
  const Wide partitions = tile.last - tile.first + 1;
  if (partitions < 1 || partitions > neuroncore::max_partitions)
    throw Mistake{at, "1 to 128 partitions", number_text(tile.first) + ".." + number_text(tile.last)};
  operand.space = tile.space;
  operand.partition = static_cast<std::uint8_t>(tile.first);
  operand.offset =
      static_cast<std::uint32_t>(tile.byte) + (static_cast<std::uint32_t>(tile.bank) << neuroncore::psum_bank_shift);
  operand.dims.fill(Dim{0, 1});
  const std::size_t missing = dims - tile.counts.size();
  for (std::size_t d = 0; d < tile.counts.size(); ++d)
    operand.dims[missing + d] = {static_cast<std::int16_t>(tile.steps[d]), static_cast<std::uint16_t>(tile.counts[d])};
  dtype = tile.dtype;
  return static_cast<unsigned>(partitions);
}

void LineBuilder::end_destination(const char* at) {
  instruction.partitions = static_cast<std::uint8_t>(end_tile(at, instruction.destination, instruction.dtype));
}

// The record has one count for both sources.
void LineBuilder::set_source_partitions(const char* at, unsigned partitions) {
  if (sources_++ > 0 && instruction.source_partitions != partitions)
    throw Mistake{at, "as many partitions as the other source, " + std::to_string(instruction.source_partitions),
                  std::to_string(partitions)};
  instruction.source_partitions = static_cast<std::uint8_t>(partitions);
}

void LineBuilder::end_source0(const char* at) {
  set_source_partitions(at, end_tile(at, instruction.source0, instruction.source0_dtype));
}

void LineBuilder::end_source1(const char* at) {
  set_source_partitions(at, end_tile(at, instruction.source1, instruction.source1_dtype));
}

void LineBuilder::add_wait(const char* at) {
  if (waits_ == instruction.waits.size()) throw Mistake{at, "at most 2 waits", "a third"};
  instruction.waits[waits_++] = wait;
}

// ---- Descriptors

void LineBuilder::begin_descriptor(bool empty) {
  line_ = Line::descriptor;
  descriptor = {};
  descriptor.empty = empty;
}

memory::AccessPattern LineBuilder::end_side(const char* at, numeric::DType& dtype) const {
  dtype = side.dtype;
  const auto element = side.element != 0 ? side.element : static_cast<std::uint32_t>(numeric::size_bytes(side.dtype));
  if (const auto problem = memory::AccessPattern::problem(side.address, element, side.loops))
    throw Mistake{at, "", "", *problem};
  return {side.address, element, side.loops};
}

void LineBuilder::end_destination_side(const char* at) {
  descriptor.destination = end_side(at, descriptor.destination_dtype);
}

void LineBuilder::end_source_side(const char* at) { descriptor.source = end_side(at, descriptor.source_dtype); }

// ---- Bytes

void LineBuilder::begin_record(const char* at) {
  if (section_ == Section::none) throw Mistake{at, ".engine or .ring before a record"};
  line_ = Line::record;
  record_.clear();
}

void LineBuilder::end_record(const char* at) {
  const std::size_t size = section_ == Section::stream ? neuroncore::instruction_bytes : dma::descriptor_bytes;
  if (record_.size() != size)
    throw Mistake{at, std::to_string(size) + " bytes as " + std::to_string(2 * size) + " hexadecimal digits",
                  std::to_string(record_.size()) + " bytes"};
}

void LineBuilder::begin_data(std::uint64_t address) {
  const auto& blocks = listing_.data;
  if (blocks.empty() || blocks.back().address + blocks.back().bytes.size() != address)
    listing_.data.push_back({address, {}});
}

void LineBuilder::append_bytes(const char* at, const std::byte* bytes, std::size_t size) {
  data_bytes_ += static_cast<std::uint64_t>(repeat) * size;
  if (data_bytes_ > max_data_bytes)
    throw Mistake{at, "at most " + std::to_string(max_data_bytes) + " bytes of .data in a file (larger: --load)",
                  std::to_string(data_bytes_)};
  auto& block = listing_.data.back();
  const std::uint64_t after = block.bytes.size() + static_cast<std::uint64_t>(repeat) * size;
  if (after - 1 > UINT64_MAX - block.address)
    throw Mistake{at, "addresses of 64 bits", std::to_string(after) + " bytes from " + std::to_string(block.address)};
  for (Wide i = 0; i < repeat; ++i) block.bytes.insert(block.bytes.end(), bytes, bytes + size);
}

void LineBuilder::add_float(const char* at, float value) {
  std::byte bytes[4];
  numeric::store_element(data_dtype, value, bytes);
  append_bytes(at, bytes, numeric::size_bytes(data_dtype));
}

void LineBuilder::add_integer(const char* at, Wide value) {
  const std::size_t size = numeric::size_bytes(data_dtype);
  const bool is_signed = data_dtype != numeric::DType::uint8;
  const Wide high = (Wide{1} << (8 * size - (is_signed ? 1 : 0))) - 1;
  const Wide low = is_signed ? -high - 1 : 0;
  if (value < low || value > high)
    throw Mistake{at, "a value from " + number_text(low) + " to " + number_text(high), number_text(value)};
  std::byte bytes[4];
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
  append_bytes(at, bytes, size);
}

}  // namespace tilevp::neuron::assembler
