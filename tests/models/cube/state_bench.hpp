#pragma once
// The state of a CUBE core without time: commands go in one by one, bundles close at BSTOP and at the next BSTART, and
// a bundle that may run gets its results from a rule of thumb (bytes that depend on nothing but the destination), for
// what counts here is which bytes are touched.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilevp/cube/preflight.hpp"

namespace tilevp::cube::testing {

inline constexpr std::uint8_t all_pes = 7;  // PEMode

// Source codes.
constexpr std::uint8_t code(Hand hand, unsigned number) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(hand) * 16 + number - 1);
}
inline constexpr Hand T = Hand::t, U = Hand::u, M = Hand::m, N = Hand::n;

// Everything that a fault must leave alone.
struct Snapshot {
  std::map<unsigned, TileDescriptor> tiles{};
  std::map<unsigned, bool> defined{};
  std::map<std::pair<unsigned, unsigned>, std::vector<std::byte>> payloads{};  // of (slot, PE)
  std::vector<std::optional<TileSlot>> names{};                                // of the 64 source codes
  std::array<std::uint64_t, pes> used{};
  std::uint8_t flags = 0;
  bool operator==(const Snapshot&) const = default;
};

// A bundle before it is turned into commands.
struct Plan {
  BStart start{};
  std::optional<BDatr> datr{};
  std::optional<BFpatr> fpatr = BFpatr{};
  std::vector<BDim> dimensions{};
  std::optional<BIor> ior{};
  std::vector<BIos> shared{};
  std::vector<BIot> tiles{};
  std::vector<Command> commands() const;  // without the closer
};

class Machine {
 public:
  explicit Machine(const Parameters& p = {})
      : parameters(p), tiles(p.tile_selectors, p.capacity, p.tile_capacity_bytes) {}

  // Executes one command; a fault changes nothing. Waiting verdicts do not come up: nothing stays in flight.
  MaybeFault execute(const Command& command);
  // All of them, up to the first fault.
  MaybeFault run(const std::vector<Command>& commands);
  // The plan's commands and BSTOP.
  MaybeFault run(const Plan& plan);

  // A published tile with bytes that depend on `seed`.
  TileSlot cells(Hand hand, Layout layout, DataType type, std::uint32_t rows, std::uint32_t columns,
                 std::uint32_t capacity, PeMask mask = 0xf, unsigned seed = 1);
  TileSlot row_major(Hand hand, DataType type, std::uint32_t rows, std::uint32_t columns, std::uint32_t capacity,
                     PeMask mask = 0xf);
  // The same with every 64-bit element `word`.
  TileSlot words(Hand hand, std::uint32_t columns, std::uint64_t word);
  TileSlot add(Hand hand, const TileDescriptor& tile, unsigned seed);

  Snapshot snapshot() const;

  Parameters parameters;
  TileRegisters tiles;
  Gprs gpr{};
  Header header{};
  std::uint8_t flags = 0;
  unsigned committed = 0;
  std::optional<MatrixOperation> last_matrix{};
  std::optional<TransferOperation> last_transfer{};

 private:
  MaybeFault close();
};

BDim dimension(unsigned which, std::uint32_t value);
BIot sources(std::uint8_t a, std::uint8_t b, bool last = false, std::uint8_t pe_mode = all_pes);
BIot source(std::uint8_t a, bool last = false, std::uint8_t pe_mode = all_pes);
BIot destination(Hand hand, unsigned size_code, bool last = false, std::uint8_t pe_mode = all_pes);

// TGEMV of FP16: A = T#1 [1, 4], B = U#1 [4, 8], D in hand M. legal(machine) defines A and B.
Plan gemv();
void define_gemv(Machine& machine);

}  // namespace tilevp::cube::testing
