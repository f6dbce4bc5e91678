#include "tilevp/cube/bundle_window.hpp"

namespace tilevp::cube {

void BundleFlight::complete() { window->ended(*this); }

BundleWindow::BundleWindow(Simulation& simulation, std::uint32_t depth, BundleSink& sink)
    : simulation_(simulation), sink_(sink) {
  for (std::uint32_t i = 0; i < depth; ++i) {
    flights_.push_back(std::make_unique<BundleFlight>());
    flights_.back()->window = this;
  }
}

BundleFlight& BundleWindow::push() {
  BundleFlight& flight = *flights_[(first_ + count_++) % flights_.size()];
  flight.ended = false;
  flight.fault.reset();
  flight.destinations.clear();
  ++pushed_;
  return flight;
}

void BundleWindow::end_at(BundleFlight& flight, std::uint64_t end_ps, unsigned rank) {
  ++at_work_;
  simulation_.completions().complete_at(end_ps, rank, flight);
}

void BundleWindow::await_change() {
  someone_waits_ = true;
  sc_core::wait(changed_);
  someone_waits_ = false;
}

void BundleWindow::notify() {
  if (someone_waits_) changed_.notify(sc_core::SC_ZERO_TIME);
}

void BundleWindow::drop() {
  pushed_ -= count_;
  count_ = 0;
  dropped_ = at_work_;
  notify();
}

void BundleWindow::ended(BundleFlight& flight) {
  --at_work_;
  if (dropped_ > 0) {
    if (--dropped_ == 0) notify();
    return;
  }
  sink_.ended(flight);
  flight.ended = true;
  retire();
}

void BundleWindow::retire() {
  bool left = false;
  while (count_ > 0 && flights_[first_]->ended) {
    const BundleFlight& oldest = *flights_[first_];
    if (oldest.fault) {
      sink_.failed(oldest);
      drop();
      return;
    }
    sink_.commit(oldest);
    first_ = (first_ + 1) % flights_.size();
    --count_;
    left = true;
  }
  if (left) notify();
}

}  // namespace tilevp::cube
