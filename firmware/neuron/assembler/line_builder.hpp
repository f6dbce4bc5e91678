#pragma once
// What the grammar calls while it reads a line: the parts of one instruction or descriptor, the section, constants.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/assembly/mistake.hpp"
#include "tilevp/neuron/assembler/listing.hpp"

namespace tilevp::neuron::assembler {

using assembly::largest_number;
using assembly::Mistake;
using assembly::number_text;
using assembly::Wide;

class LineBuilder {
 public:
  explicit LineBuilder(const Bases& bases);

  // ---- A line
  void begin_line(const char* at);
  // Puts what the line said into the listing.
  void end_line();
  bool is_empty_line() const { return line_ == Line::nothing; }
  const Listing& listing() const { return listing_; }

  // ---- Constants and labels
  void define(const char* at, const std::string& name, Wide value);
  void label(const char* at, const std::string& name);
  std::optional<Wide> constant(const std::string& name) const;
  // The arguments of sbuf(partition, byte) and psum(partition, bank, byte), and the address they make.
  void push_argument(Wide value) { arguments_.push_back(value); }
  Wide take_sbuf_address();
  Wide take_psum_address();
  // How deep parentheses may stand: the parser is recursive.
  void enter(const char* at);
  void leave() { --depth_; }
  std::string new_name;  // that is being defined
  Wide new_value = 0;

  // ---- Sections
  void open_engine(neuroncore::Engine engine);
  void open_ring();  // of `queue` and `dma_engine`
  void require_stream(const char* at) const;
  void require_ring(const char* at) const;
  void end_directive() { line_ = Line::directive; }
  std::uint8_t queue = 0;
  std::uint8_t dma_engine = 0;

  // ---- Instructions: the fields, and the tile that is being read
  void begin_instruction(neuroncore::Opcode opcode);
  void begin_tile() { tile = Tile{}; }
  void first_partition(Wide value) { tile.first = tile.last = value; }
  void add_dim_count(Wide count) { tile.counts.push_back(count); }
  void add_dim_step(Wide step) { tile.steps.push_back(step); }
  void end_destination(const char* at);
  void end_source0(const char* at);
  void end_source1(const char* at);
  void add_wait(const char* at);  // `wait`
  neuroncore::Instruction instruction;
  neuroncore::Wait wait;
  bool source_partitions_given = false;

  struct Tile {
    neuroncore::Space space = neuroncore::Space::sbuf;
    Wide first = 0;
    Wide last = 0;
    Wide bank = 0;
    Wide byte = 0;
    std::vector<Wide> counts;
    std::vector<Wide> steps;
    numeric::DType dtype = numeric::DType::fp32;
  };
  Tile tile;

  // ---- Descriptors
  struct Side {
    std::uint64_t address = 0;
    std::vector<memory::Loop> loops;
    numeric::DType dtype = numeric::DType::uint8;
    std::uint32_t element = 0;  // 0: that of the type
  };
  void begin_descriptor(bool empty);
  void begin_side() { side = Side{}; }
  void add_loop(Wide size) { side.loops.push_back({static_cast<std::uint64_t>(size), 0}); }
  void end_destination_side(const char* at);
  void end_source_side(const char* at);
  dma::Descriptor descriptor;
  Side side;

  // ---- Bytes
  void begin_record(const char* at);
  void add_record_byte(unsigned value) { record_.push_back(static_cast<std::byte>(value)); }
  void end_record(const char* at);
  void begin_data(std::uint64_t address);
  bool data_is_float() const { return numeric::is_float(data_dtype); }
  // `repeat` times.
  void add_float(const char* at, float value);
  void add_integer(const char* at, Wide value);
  numeric::DType data_dtype = numeric::DType::uint8;
  Wide repeat = 1;

 private:
  enum class Section { none, stream, ring };
  enum class Line { nothing, instruction, descriptor, record, directive };
  unsigned end_tile(const char* at, neuroncore::Operand& operand, numeric::DType& dtype) const;
  void set_source_partitions(const char* at, unsigned partitions);
  memory::AccessPattern end_side(const char* at, numeric::DType& dtype) const;
  void append_bytes(const char* at, const std::byte* bytes, std::size_t size);

  Bases bases_;
  Listing listing_;
  std::map<std::string, Wide, std::less<>> constants_;
  Section section_ = Section::none;
  neuroncore::Engine engine_ = neuroncore::Engine::pe;
  RingId ring_{};
  Line line_ = Line::nothing;
  const char* line_at_ = nullptr;
  unsigned depth_ = 0;
  unsigned waits_ = 0;
  unsigned sources_ = 0;
  Wide take_argument();
  std::vector<Wide> arguments_;
  std::vector<std::byte> record_;
  std::uint64_t data_bytes_ = 0;
};

// Reads labels and one statement from `at` on, as far as they are any, and moves it behind them. Throws Mistake.
void parse_statement(LineBuilder& lines, const char*& at, const char* end);

}  // namespace tilevp::neuron::assembler
