#pragma once
// Schedules without a machine: who touches which bytes, what can happen without whom, and what the detector of races
// says of one order of events or another. Nothing here knows of time.
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tilevp/neuron/scheduler.hpp"

namespace tilevp::test {

// The bytes of one operation, walked element by element from the fields of its record or descriptor.
struct ByteRun {
  std::uint64_t begin = 0;  // address in the core's map; PSUM and HBM are other ranges of it
  std::uint64_t end = 0;
};
struct TouchedBytes {
  std::vector<ByteRun> runs;  // ascending, disjoint
  bool write = false;
};
std::vector<TouchedBytes> bytes_of(const neuroncore::Instruction& instruction);
std::vector<TouchedBytes> bytes_of(const dma::Descriptor& descriptor);

// Record `index` of a stream, or descriptor of a ring.
struct StudyOperation {
  std::optional<neuroncore::Engine> engine;
  std::size_t queue = 0;
  std::size_t dma_engine = 0;
  std::size_t index = 0;
  std::string text() const;
};

// A schedule taken apart once, for many changes to its waits, which leave its operations as they are.
class RaceStudy {
 public:
  RaceStudy(const neuron::Schedule& schedule, const neuron::Machine& machine);

  std::size_t operations() const { return operations_.size(); }
  std::size_t conflicting_pairs() const { return conflicts_.size(); }
  // By brute force: everything that can happen happens, but that one operation never ends.
  struct Verdict {
    std::string unordered{};  // a pair that conflicts and of which each can begin though the other never ends
    std::string ambiguous{};  // a record with a wait: what it cannot do without does not add up to its count
    std::string unended{};    // writes outside the core and may be under way when all streams have halted
    bool clean() const { return unordered.empty() && ambiguous.empty(); }
  };
  Verdict verdict(const neuron::Schedule& schedule) const;

  // How the order of events is chosen among those that are possible.
  enum class Pace { eager, lazy, random };
  // What the detector says of one run of the schedule: the rule it raises, or nothing.
  std::string detected(const neuron::Schedule& schedule, Pace pace, std::uint64_t seed) const;

 private:
  class Run;
  using Raise = std::pair<std::size_t, std::int64_t>;                                  // an operation, and by how much
  std::vector<std::vector<Raise>> updates_of(const neuron::Schedule& schedule) const;  // by semaphore
  // By operation: whether it can begin though `blocked` never ends.
  std::vector<bool> begins_without(const neuron::Schedule& schedule, std::size_t blocked) const;
  bool halts(const std::vector<bool>& begun) const;

  neuron::Machine machine_;
  std::vector<StudyOperation> operations_;
  std::vector<std::vector<std::size_t>> of_stream_;             // [engine][record]
  std::vector<std::vector<std::vector<std::size_t>>> of_ring_;  // [queue][DMA engine][descriptor]
  std::vector<std::pair<std::size_t, std::size_t>> conflicts_;  // of different agents
  std::vector<std::size_t> outputs_;                            // write outside the core
};

}  // namespace tilevp::test
