#pragma once
// Operations commit at their end: sources are sampled, destinations written, semaphores raised, in the order (end,
// rank, sequence).
#include <cstdint>
#include <queue>
#include <systemc>
#include <vector>

namespace tilevp {

class Simulation;

// An operation in flight. Its owner keeps it alive until complete() has run.
class Completion {
 public:
  // Called once, at the operation's end, outside any SC_THREAD: it must not wait.
  virtual void complete() = 0;

 protected:
  ~Completion() = default;
};

class CompletionQueue : public sc_core::sc_module {
 public:
  CompletionQueue(sc_core::sc_module_name name, Simulation& simulation);

  // `end_ps` >= now. `rank` orders operations of different agents that end in the same instant (the agent's port
  // number); operations of one agent complete in the order of these calls.
  void complete_at(std::uint64_t end_ps, unsigned rank, Completion& operation);

 private:
  struct Entry {
    std::uint64_t end_ps;
    unsigned rank;
    std::uint64_t sequence;
    Completion* operation;
    bool operator>(const Entry& other) const;
  };
  void run_due();

  Simulation& simulation_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> entries_;
  std::uint64_t next_sequence_ = 0;
  sc_core::sc_event due_;
};

}  // namespace tilevp
