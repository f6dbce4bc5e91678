#include "contention_reference.hpp"

#include <algorithm>
#include <deque>

namespace reference {
namespace {

__extension__ typedef unsigned __int128 Wide;

struct Waiting {
  unsigned requester;
  std::uint64_t arrival_ps;
  std::uint64_t work16;
  unsigned mask;
};

class Stepper {
 public:
  explicit Stepper(const Case& c)
      : case_(c), result_(c.pieces.size()), arrival_(c.pieces.size()), next_(c.pieces.size(), 0) {
    for (std::size_t r = 0; r < c.pieces.size(); ++r)
      if (!c.pieces[r].empty()) arrival_[r] = c.origin_ps + c.pieces[r][0].gap_ps;
  }

  std::vector<std::vector<Interval>> run() {
    // Time in sixteenths of a cycle; start well before the origin.
    const Wide cycles =
        static_cast<Wide>(case_.origin_ps) * case_.hz_numerator / (Wide{1'000'000'000'000} * case_.hz_denominator);
    for (tick_ = static_cast<std::uint64_t>(cycles) * 16; left() != 0; ++tick_) step();
    return result_;
  }

 private:
  std::size_t left() const {
    std::size_t pieces = 0;
    for (std::size_t r = 0; r < next_.size(); ++r) pieces += case_.pieces[r].size() - next_[r];
    return pieces + queue_.size() + running_.size();
  }
  std::uint64_t ps(std::uint64_t tick) const {
    return static_cast<std::uint64_t>(Wide{tick} * 1'000'000'000'000 * case_.hz_denominator /
                                      (Wide{case_.hz_numerator} * 16));
  }

  void step() {
    retire();
    if (tick_ % 16 == 0) collect();
    start();
  }

  // Those whose work ends at this tick: their next piece arrives after its gap.
  void retire() {
    for (std::size_t i = 0; i < running_.size();) {
      if (running_[i].end_tick != tick_) {
        ++i;
        continue;
      }
      const unsigned r = running_[i].requester;
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      if (next_[r] < case_.pieces[r].size()) arrival_[r] = ps(tick_) + case_.pieces[r][next_[r]].gap_ps;
    }
  }

  // At a clock edge: all that arrived since the edge before, in arrival order; ties by the rule of the kind of
  // resource.
  void collect() {
    std::vector<Waiting> arrived;
    for (unsigned r = 0; r < next_.size(); ++r) {
      const bool in_flight =
          std::any_of(running_.begin(), running_.end(), [&](const auto& w) { return w.requester == r; }) ||
          std::any_of(queue_.begin(), queue_.end(), [&](const auto& w) { return w.requester == r; });
      if (in_flight || next_[r] >= case_.pieces[r].size() || arrival_[r] > ps(tick_)) continue;
      const Piece& piece = case_.pieces[r][next_[r]++];
      arrived.push_back({r, arrival_[r], piece.work16, piece.mask});
    }
    while (!arrived.empty()) {
      const auto first = std::min_element(arrived.begin(), arrived.end(),
                                          [&](const Waiting& a, const Waiting& b) { return before(a, b); });
      turn_[resource_of(*first)] = first->requester + 1;
      queue_.push_back(*first);
      arrived.erase(first);
    }
  }
  unsigned resource_of(const Waiting& w) const {
    unsigned index = 0;
    while ((w.mask >> index & 1U) == 0) ++index;
    return index;
  }
  bool before(const Waiting& a, const Waiting& b) const {
    if (a.arrival_ps != b.arrival_ps) return a.arrival_ps < b.arrival_ps;
    if (case_.priorities[a.requester] != case_.priorities[b.requester])
      return case_.priorities[a.requester] > case_.priorities[b.requester];
    if (case_.exclusive) return a.requester < b.requester;
    // Round robin counts on its own resource; the order between different resources does not matter.
    const unsigned da = a.requester - turn_[resource_of(a)];
    const unsigned db = b.requester - turn_[resource_of(b)];
    return da != db ? da < db : a.requester < b.requester;
  }

  // Starts whatever is at the head of the queues of all its resources while those are idle. Exclusive work begins at an
  // edge; rate work at an edge or right behind the work before it.
  void start() {
    unsigned taken = 0;
    for (const auto& work : running_) taken |= work.mask;
    for (std::size_t i = 0; i < queue_.size();) {
      const Waiting& w = queue_[i];
      if ((w.mask & taken) == 0 && (tick_ % 16 == 0 || !case_.exclusive)) {
        taken |= w.mask;
        result_[w.requester].push_back({ps(tick_), ps(tick_ + w.work16)});
        running_.push_back({w.requester, tick_ + w.work16, w.mask});
        queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        taken |= w.mask;  // nobody behind may pass on these resources
        ++i;
      }
    }
  }

  struct Running {
    unsigned requester;
    std::uint64_t end_tick;
    unsigned mask;
  };
  const Case& case_;
  std::vector<std::vector<Interval>> result_;
  std::vector<std::uint64_t> arrival_;
  std::vector<std::size_t> next_;
  std::deque<Waiting> queue_;
  std::vector<Running> running_;
  unsigned turn_[8] = {};
  std::uint64_t tick_ = 0;
};

}  // namespace

std::vector<std::vector<Interval>> simulate(const Case& c) { return Stepper(c).run(); }

}  // namespace reference
