#pragma once
// The header of a bundle: what its commands latched, and the faults that a command raises by itself (PTO-ISA/pto-spec,
// asl/block/model/dispatch/commands.asl, asl/block/attributes, asl/block/operands).
//
// A command that faults latches nothing. What the bundle does is decided when it closes: preflight.hpp.
#include <array>
#include <boost/container/static_vector.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tilevp/cube/isa.hpp"
#include "tilevp/cube/parameters.hpp"

namespace tilevp::cube {

// Why a command or a bundle is refused. `rule` is an id of rules.hpp; ids of the close carry its step.
struct BundleFault {
  FaultCode code = FaultCode::none;
  const char* rule = "";
  std::string text;
  unsigned step = 0;  // of the close that found it: 2-15 of a matrix bundle, 1-4 of a transfer; 0: a command alone
};
using MaybeFault = std::optional<BundleFault>;

using Gprs = std::array<std::uint64_t, gprs>;  // [0] reads as zero: the core never writes it

inline constexpr unsigned max_tile_bindings = 16;  // the executable model's array; the prose says four
inline constexpr unsigned max_shared_bindings = 4;

// An effective B.IOT: its mask is not zero.
struct TileBinding {
  BIot fields{};
  PeMask mask = 0;
  bool has_destination() const { return fields.size_code != 0; }
  bool operator==(const TileBinding&) const = default;
};
struct SharedBinding {
  BIos fields{};
  PeMask mask = 0;
  bool operator==(const SharedBinding&) const = default;
};

struct Header {
  bool active = false;
  std::uint64_t pc = 0;  // of its BSTART
  BStart start{};
  std::optional<BDatr> datr{};
  std::optional<BFpatr> fpatr{};
  std::optional<BCatr> catr{};
  std::optional<BIor> ior{};
  std::array<std::optional<std::uint16_t>, 3> dimension{};  // LB0, LB1, LB2
  boost::container::static_vector<TileBinding, max_tile_bindings> tiles{};
  boost::container::static_vector<SharedBinding, max_shared_bindings> shared{};
  bool zero_participation = false;  // a B.IOT or B.IOS of mask zero was seen

  // Of B: B.DATR's, else A's.
  DataType b_type() const;
  bool operator==(const Header&) const = default;
};

// Each latches one command into the header, or returns the fault it raises and leaves the header as it is.

// Opens a bundle. The one before has been closed: throws Defect where one is open.
MaybeFault open(Header& header, const BStart& command, std::uint64_t pc);
MaybeFault latch(Header& header, const BDatr& command);
MaybeFault latch(Header& header, const BFpatr& command, IsaRevision revision);
MaybeFault latch(Header& header, const BDim& command, const Gprs& gpr);
MaybeFault latch(Header& header, const BIot& command);
MaybeFault latch(Header& header, const BIor& command);
MaybeFault latch(Header& header, const BIos& command);
MaybeFault latch(Header& header, const BCatr& command);
// A scalar instruction: legal only while no bundle is open.
MaybeFault admits_scalar(const Header& header);

// What closing asks before it looks at the operation: a bundle is open, the next PC is even, and B.CATR.DR is not set.
MaybeFault check_close(const Header& header, std::uint64_t next_pc);
// What follows a commit: B.CATR.trap raises BundlePostCommit with the header already cleared.
MaybeFault check_committed(const Header& committed);

}  // namespace tilevp::cube
