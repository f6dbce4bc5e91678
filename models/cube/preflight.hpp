#pragma once
// The close of a bundle: every check of its operation in the order of the specification, then the allocation of its
// destinations (PTO-ISA/pto-spec, asl/block/model/dispatch/cube-tmatmul.asl, cube-destination.asl,
// tlsu-layout-conversion.asl; asl/tile/model/legality).
//
// Nothing is allocated, read or written before every check has passed, and a bundle of mask zero passes before them
// all.
//
// Bundles judge and fault in program order. While older bundles are in flight the verdict can be to wait:
// for the producer of a source, or, where the bundle would fault, for all of them, because one of them may fault first
// or free what is missing. The caller waits for that commit and asks again.
#include <boost/container/static_vector.hpp>
#include <optional>
#include <variant>

#include "tilevp/cube/bundle.hpp"
#include "tilevp/cube/matrix_operation.hpp"
#include "tilevp/cube/tile_registers.hpp"
#include "tilevp/cube/transfer_operation.hpp"

namespace tilevp::cube {

struct NoOperation {};  // mask zero
struct Wait {
  std::optional<TileSlot> producer{};  // of this tile; nothing: for every bundle in flight
};
using Verdict = std::variant<NoOperation, Wait, BundleFault, MatrixOperation, TransferOperation>;

// `header` is active and check_close has passed. With a MatrixOperation or TransferOperation its destinations are
// allocated and not published. Reads payloads only of vector parameters (quantisation and slope words).
// `older_in_flight`: bundles before this one have not committed yet. Tiles in flight say so by themselves; a TSTORE in
// flight has none and can still fault.
Verdict preflight(const Header& header, const Gprs& gpr, const Parameters& parameters, TileRegisters& tiles,
                  bool older_in_flight = false);

// What an operation defines, in the order of its bindings, and what it reads.
using Slots = boost::container::static_vector<TileSlot, 16>;
Slots destinations(const MatrixOperation& operation);
Slots destinations(const TransferOperation& operation);
Slots sources(const MatrixOperation& operation);
Slots sources(const TransferOperation& operation);
// Commit: TileRegisters::publish(destinations(operation)); a late fault: TileRegisters::release(...).

}  // namespace tilevp::cube
