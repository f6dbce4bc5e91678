// Instruction records: whatever decodes can be checked, shown, and encoded to a record that decodes to the same.
#include <algorithm>
#include <array>
#include <span>

#include "fuzz/target.hpp"
#include "tilevp/neuroncore/isa.hpp"
#include "tilevp/neuroncore/legality.hpp"

namespace {

using namespace tilevp;
using namespace tilevp::neuroncore;

using Record = std::array<std::byte, instruction_bytes>;

void check_on_every_engine(const Instruction& instruction) {
  for (unsigned engine = 0; engine < engines; ++engine)
    for (const std::uint32_t generation : {2U, 4U}) {
      try {
        check(instruction, static_cast<Engine>(engine), {generation, 180'224}, 7);
      } catch (const Fault& fault) {
        fuzz::require_words(fault);
      }
    }
}

void one_record(const Record& record) {
  Instruction instruction;
  try {
    instruction = decode(record, "pe #7");
  } catch (const Fault& fault) {
    fuzz::require_words(fault);
    return;
  }
  check_on_every_engine(instruction);
  const std::string text = disassemble(instruction);
  fuzz::require(!text.empty() && text.find('\n') == std::string::npos, "an instruction is shown in one line");
  // Records are compared, not instructions: a NaN is not equal to itself.
  const Record again = encode(instruction);
  fuzz::require(encode(decode(again, "again")) == again, "a record that was encoded decodes to itself");
  fuzz::require(again == record, "a record that decodes is the one its instruction encodes to");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  for (std::size_t at = 0; at + instruction_bytes <= size; at += instruction_bytes) {
    Record record;
    std::ranges::copy(bytes.subspan(at, instruction_bytes), record.begin());
    one_record(record);
  }
  return 0;
}
