#pragma once
// What the grammar calls while it reads a statement: the fields of one instruction, or raw words.
#include <cstdint>
#include <string>

#include "tilevp/assembly/mistake.hpp"
#include "tilevp/cube/isa.hpp"
#include "tilevp/pto/assembler/text.hpp"

namespace tilevp::pto::assembler {

using assembly::Mistake;
using assembly::Wide;

class Statement {
 public:
  // Puts what the statement said behind the words so far.
  void end();
  // Whether anything was said.
  bool is_empty() const { return kind_ == Kind::nothing; }
  void begin() { kind_ = Kind::nothing; }
  Words take() { return std::move(words_); }

  template <class Command>
  void start(const Command& command) {
    command_ = command;
    kind_ = Kind::command;
    sources = 0;
    positions = 0;
  }
  template <class Command>
  Command& as() {
    return std::get<Command>(command_);
  }
  // A word of `bytes` bytes as it is.
  void raw(unsigned bytes, Wide value);

  void set_mask(const char* at, const std::string& digits);
  // A capacity in bytes, or without a unit its code. `largest`: the greatest code.
  std::uint8_t size_code(const char* at, Wide value, unsigned unit, unsigned largest) const;
  void add_fpatr_number(const char* at, Wide value);
  void set_group_columns(const char* at, Wide columns);
  // Of a B.IOR: `gpr`.
  void add_scalar_source(const char* at);
  void set_layout(const char* at, Wide code);
  // A B.IOT without sources has a destination.
  void check_iot(const char* at) const;
  void set_prequant(const char* at, Wide code);

  unsigned gpr = 0;
  unsigned sources = 0;    // GPRs of a B.IOR so far
  unsigned positions = 0;  // operands of a B.FPATR behind the first two so far
  const char* size_at = nullptr;
  Wide size_value = 0;
  unsigned size_unit = 0;  // 0: a code

 private:
  enum class Kind { nothing, command, raw };
  void append(std::uint64_t word, unsigned bytes);

  Kind kind_ = Kind::nothing;
  cube::Command command_;
  cube::Encoded raw_;
  Words words_;
};

// Reads one statement from `at` on, as far as it is any, and moves `at` behind it. Throws Mistake.
void parse_statement(Statement& statement, const char*& at, const char* end);

}  // namespace tilevp::pto::assembler
