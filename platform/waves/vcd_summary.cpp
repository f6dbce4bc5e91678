#include "tilevp/platform/waves/vcd_summary.hpp"

#include <utility>

#include "tilevp/platform/waves/vcd_parser.hpp"

namespace tilevp::platform {
namespace {

class Summariser final : public VcdVisitor {
 public:
  void timescale(unsigned count, int exponent) override {
    summary_.tick_count = count;
    summary_.tick_exponent = exponent;
  }

  void variable(const VcdVariable& variable) override {
    summary_.signals.push_back({.name = variable.name, .bits = variable.bits});
    owner_.push_back(variable.id);
    if (variable.id == states_.size()) states_.push_back({.counted = {.bits = variable.bits}});
  }

  void time(std::uint64_t ticks) override {
    if (!std::exchange(timed_, true)) summary_.begin = ticks;
    summary_.end = ticks;
  }

  void value(std::size_t id, std::string_view text) override {
    timed_ = true;  // values before the first time are of tick 0
    State& state = states_[id];
    if (state.value == text) return;
    SignalSummary& counted = state.counted;
    const bool was_high = is_high(state);
    if (!state.value.empty()) {
      if (counted.changes++ == 0) counted.first = summary_.end;
      counted.last = summary_.end;
    }
    state.value.assign(text);
    if (is_high(state)) {
      state.since = summary_.end;
      ++counted.pulses;
    } else if (was_high) {
      counted.high += summary_.end - state.since;
    }
  }

  VcdSummary finish() {
    for (State& state : states_)
      if (is_high(state)) state.counted.high += summary_.end - state.since;
    for (std::size_t i = 0; i < owner_.size(); ++i) {
      auto counted = states_[owner_[i]].counted;
      counted.name = std::move(summary_.signals[i].name);
      summary_.signals[i] = std::move(counted);
    }
    return std::move(summary_);
  }

 private:
  struct State {
    SignalSummary counted{};
    std::string value{};  // empty: none yet
    std::uint64_t since = 0;
  };
  static bool is_high(const State& state) { return state.counted.bits == 1 && state.value == "1"; }

  VcdSummary summary_;
  std::vector<std::size_t> owner_;  // of each name, the signal
  std::vector<State> states_;       // of each signal
  bool timed_ = false;
};

}  // namespace

VcdSummary summarise_vcd(std::istream& stream, const std::string& name) {
  Summariser summariser;
  parse_vcd(stream, name, summariser);
  return summariser.finish();
}

}  // namespace tilevp::platform
