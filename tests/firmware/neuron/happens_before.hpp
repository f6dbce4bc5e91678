#pragma once
// What a schedule orders, worked out from its streams alone and by closure over all pairs: the oracle for the
// scheduler.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tilevp/neuron/scheduler.hpp"

namespace tilevp::test {

class HappensBefore {
 public:
  // Reads the semaphores of the streams. The k-th data instruction or trigger of a stream is the k-th operation of that
  // engine in the trace.
  HappensBefore(const std::vector<neuron::Operation>& operations, const neuron::Schedule& schedule,
                unsigned dma_engines);

  // Whether operation a has ended before b starts, whatever the speed of the agents.
  bool ordered(std::size_t a, std::size_t b) const { return before_[b][a]; }
  // The first rule that does not hold, or nothing: two conflicting operations are ordered, as are any two with a
  // barrier between them; a queue has one copy at most outstanding; every copy has ended before the sync engine halts.
  std::string first_violation() const;

 private:
  struct Copies {
    std::vector<std::size_t> operations;  // of a queue, in order
  };
  std::vector<bool> ended_by(std::size_t operation) const;

  const std::vector<neuron::Operation>& operations_;
  std::vector<std::vector<bool>> before_;  // [b][a]
  std::vector<std::vector<std::size_t>> of_queue_;
  std::vector<bool> at_end_;  // ended when the sync engine halts
};

// Every wait of a schedule: where it stands, so that a test can drop one.
struct WaitPlace {
  std::size_t engine = 0;
  std::size_t instruction = 0;
  std::size_t slot = 0;
};
std::vector<WaitPlace> waits_of(const neuron::Schedule& schedule);
neuron::Schedule without(neuron::Schedule schedule, const WaitPlace& wait);

}  // namespace tilevp::test
