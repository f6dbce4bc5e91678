#pragma once
// The bundles in flight, oldest first: they end when they end, and commit in program order.
//
// A bundle whose transfer failed stops the window when it has become the oldest: nothing after it commits.
#include <cstdint>
#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "tilevp/base/simulation.hpp"
#include "tilevp/cube/bundle.hpp"
#include "tilevp/cube/bundle_observer.hpp"
#include "tilevp/cube/matrix_timing.hpp"
#include "tilevp/cube/preflight.hpp"
#include "tilevp/memory/initiator_port.hpp"

namespace tilevp::cube {

class BundleWindow;

// What one matrix unit does for a bundle.
struct UnitTimes {
  MatrixTimes cycles;
  std::uint64_t begin_ps = 0;
  std::uint64_t free_ps = 0;
  std::uint64_t end_ps = 0;
};

struct BundleFlight final : Completion {
  enum class Kind : std::uint8_t { nothing, matrix, transfer };

  BundleWindow* window = nullptr;
  Kind kind = Kind::nothing;
  BundleRecord record;
  Slots destinations;
  MatrixOperation matrix;
  MatrixWork work;                     // of one PE
  std::array<UnitTimes, pes> times{};  // of the units that work on it
  TransferOperation transfer;
  std::vector<memory::AccessGrant> reads;  // what its transfer was granted: of TSTORE, where bytes are kept in part
  std::vector<memory::AccessGrant> writes;
  std::uint64_t transfer_cycles = 0;  // of the transfer unit
  std::uint64_t transfer_ps = 0;
  bool moved = false;                // memory has or gave the bytes already: it has no direct access
  std::optional<BundleFault> fault;  // its transfer failed
  bool ended = false;

  // To go on from here after a late fault: what was latched when it closed, by which instruction.
  Header header;
  Gprs gpr{};
  std::uint64_t closer_pc = 0;
  Command closer;

  void complete() override;
};

// What happens to bundles as they leave the window.
class BundleSink {
 public:
  // At the end of a bundle's work, whatever is in flight before it. Sets `fault` where it failed.
  virtual void ended(BundleFlight& flight) = 0;
  // In program order.
  virtual void commit(const BundleFlight& flight) = 0;
  // The oldest has failed: it and all after it are dropped when this returns, and those still at work later.
  virtual void failed(const BundleFlight& flight) = 0;

 protected:
  ~BundleSink() = default;
};

class BundleWindow {
 public:
  BundleWindow(Simulation& simulation, std::uint32_t depth, BundleSink& sink);

  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == flights_.size(); }
  // Whether work of dropped bundles has still to end.
  bool dropping() const { return dropped_ > 0; }
  std::size_t size() const { return count_; }
  const BundleFlight& flight(std::size_t position) const { return *flights_[(first_ + position) % flights_.size()]; }

  // A place at the end; only while not full and not dropping. Nothing in it is reset but `ended`, `fault` and the
  // destinations.
  BundleFlight& push();
  // After push: the flight's work ends at `end_ps`, for agent `rank`. May come later than the push.
  void end_at(BundleFlight& flight, std::uint64_t end_ps, unsigned rank);
  // Drops all bundles; what is at work ends without effect.
  void drop();

  // On a thread: until bundles have left, or dropped ones have ended.
  void await_change();
  // Bundles pushed so far, without dropped ones.
  std::uint64_t pushed() const { return pushed_; }

 private:
  friend struct BundleFlight;
  void ended(BundleFlight& flight);
  void retire();
  void notify();

  Simulation& simulation_;
  BundleSink& sink_;
  std::vector<std::unique_ptr<BundleFlight>> flights_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::size_t at_work_ = 0;  // flights with an end that has not come
  std::size_t dropped_ = 0;  // of these, dropped ones
  std::uint64_t pushed_ = 0;
  bool someone_waits_ = false;
  sc_core::sc_event changed_;
};

}  // namespace tilevp::cube
