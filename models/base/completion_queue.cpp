#include "tilevp/base/completion_queue.hpp"

#include <tuple>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/simulation.hpp"

namespace tilevp {

bool CompletionQueue::Entry::operator>(const Entry& other) const {
  return std::tie(end_ps, rank, sequence) > std::tie(other.end_ps, other.rank, other.sequence);
}

CompletionQueue::CompletionQueue(sc_core::sc_module_name name, Simulation& simulation)
    : sc_module(name), simulation_(simulation) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&due_);
  sc_core::sc_spawn([this, module = std::string(this->name())] { simulation_.guarded(module, [this] { run_due(); }); },
                    "run_due", &options);
}

void CompletionQueue::complete_at(std::uint64_t end_ps, unsigned rank, Completion& operation) {
  const std::uint64_t now = now_ps();
  if (end_ps < now)
    throw Defect("an operation of agent " + std::to_string(rank) + " ends at " + std::to_string(end_ps) +
                 " ps, before the present " + std::to_string(now) + " ps");
  entries_.push({end_ps, rank, next_sequence_++, &operation});
  if (entries_.top().operation == &operation) due_.notify(from_ps(end_ps - now));  // else one stands already
}

void CompletionQueue::run_due() {
  const std::uint64_t now = now_ps();
  while (!entries_.empty() && entries_.top().end_ps <= now) {
    Completion& operation = *entries_.top().operation;
    entries_.pop();
    operation.complete();
  }
  if (!entries_.empty()) due_.notify(from_ps(entries_.top().end_ps - now));
}

}  // namespace tilevp
