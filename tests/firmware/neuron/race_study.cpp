#include "firmware/neuron/race_study.hpp"

#include <algorithm>
#include <deque>
#include <functional>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/transaction_observer.hpp"
#include "tilevp/neuroncore/race_detector.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace tilevp::test {
namespace {

using neuroncore::Engine;
using neuroncore::Instruction;
using neuroncore::Opcode;

constexpr std::size_t none = SIZE_MAX;
constexpr unsigned engine_ports = 0x1000;
constexpr unsigned dma_ports = 0x100;
constexpr std::uint64_t core_base = std::uint64_t{1} << 44;

bool is_data(const Instruction& instruction) { return instruction.opcode >= Opcode::matmul; }

std::vector<ByteRun> merged(std::vector<ByteRun> runs) {
  std::ranges::sort(runs, {}, &ByteRun::begin);
  std::vector<ByteRun> out;
  for (const ByteRun& run : runs) {
    if (!out.empty() && run.begin <= out.back().end)
      out.back().end = std::max(out.back().end, run.end);
    else
      out.push_back(run);
  }
  return out;
}

TouchedBytes tile(const neuroncore::Operand& operand, unsigned partitions, numeric::DType dtype, bool write) {
  const bool sbuf = operand.space == neuroncore::Space::sbuf;
  const auto size = static_cast<std::int64_t>(numeric::size_bytes(dtype));
  std::vector<ByteRun> row;
  for (std::int64_t i = 0; i < operand.dims[0].num; ++i)
    for (std::int64_t j = 0; j < operand.dims[1].num; ++j)
      for (std::int64_t k = 0; k < operand.dims[2].num; ++k) {
        const std::int64_t element = i * operand.dims[0].step + j * operand.dims[1].step + k * operand.dims[2].step;
        const auto begin = static_cast<std::uint64_t>(std::int64_t{operand.offset} + element * size);
        row.push_back({begin, begin + static_cast<std::uint64_t>(size)});
      }
  row = merged(std::move(row));
  TouchedBytes touched{{}, write};
  for (unsigned p = 0; p < partitions; ++p) {
    const std::uint64_t base = core_base + (sbuf ? 0 : neuroncore::registers::psum_window) +
                               (std::uint64_t{operand.partition} + p) * (sbuf ? 0x40000u : 0x8000u);
    for (const ByteRun& run : row) touched.runs.push_back({base + run.begin, base + run.end});
  }
  return touched;
}

TouchedBytes walked(const memory::AccessPattern& pattern, bool write) {
  std::vector<ByteRun> runs;
  const auto loops = pattern.loops();
  const std::function<void(std::size_t, std::uint64_t)> walk = [&](std::size_t level, std::uint64_t at) {
    if (level == loops.size()) {
      runs.push_back({at, at + pattern.element_bytes()});
      return;
    }
    for (std::uint64_t i = 0; i < loops[level].size; ++i)
      walk(level + 1, at + i * static_cast<std::uint64_t>(loops[level].stride));
  };
  walk(0, pattern.start());
  return {merged(std::move(runs)), write};
}

bool share(const TouchedBytes& a, const TouchedBytes& b) {
  if (!a.write && !b.write) return false;
  for (std::size_t i = 0, j = 0; i < a.runs.size() && j < b.runs.size();) {
    if (a.runs[i].begin < b.runs[j].end && b.runs[j].begin < a.runs[i].end) return true;
    (a.runs[i].end <= b.runs[j].end ? i : j) += 1;
  }
  return false;
}

bool conflict(const std::vector<TouchedBytes>& a, const std::vector<TouchedBytes>& b) {
  return std::ranges::any_of(
      a, [&](const auto& x) { return std::ranges::any_of(b, [&](const auto& y) { return share(x, y); }); });
}

}  // namespace

std::vector<TouchedBytes> bytes_of(const Instruction& i) {
  std::vector<TouchedBytes> all{tile(i.destination, i.partitions, i.dtype, true)};
  if (i.opcode != Opcode::memset) all.push_back(tile(i.source0, i.source_partitions, i.source0_dtype, false));
  if (i.opcode == Opcode::tensor_tensor || (i.opcode == Opcode::matmul && (i.flags & neuroncore::matmul_reuse) == 0))
    all.push_back(tile(i.source1, i.source_partitions, i.source1_dtype, false));
  return all;
}

std::vector<TouchedBytes> bytes_of(const dma::Descriptor& descriptor) {
  if (descriptor.empty) return {};
  return {walked(descriptor.source, false), walked(descriptor.destination, true)};
}

std::string StudyOperation::text() const {
  if (engine) return std::string(neuroncore::name(*engine)) + "@" + std::to_string(index);
  return "dma" + std::to_string(dma_engine) + " queue " + std::to_string(queue) + " descriptor " +
         std::to_string(index);
}

RaceStudy::RaceStudy(const neuron::Schedule& schedule, const neuron::Machine& machine)
    : machine_(machine), of_stream_(neuroncore::engines), of_ring_(schedule.rings.size()) {
  std::vector<std::vector<TouchedBytes>> bytes;
  std::vector<std::size_t> agent;
  const auto add = [&](const StudyOperation& operation, std::size_t who, std::vector<TouchedBytes> touched) {
    operations_.push_back(operation);
    agent.push_back(who);
    bytes.push_back(std::move(touched));
    return operations_.size() - 1;
  };
  for (std::size_t e = 0; e < schedule.streams.size(); ++e)
    for (std::size_t i = 0; i < schedule.streams[e].size(); ++i) {
      const Instruction& instruction = schedule.streams[e][i];
      of_stream_[e].push_back(add({static_cast<Engine>(e), 0, 0, i}, e,
                                  is_data(instruction) ? bytes_of(instruction) : std::vector<TouchedBytes>{}));
    }
  for (std::size_t q = 0; q < schedule.rings.size(); ++q)
    for (std::size_t d = 0; d < schedule.rings[q].size(); ++d) {
      of_ring_[q].emplace_back();
      for (std::size_t i = 0; i < schedule.rings[q][d].size(); ++i)
        of_ring_[q][d].push_back(
            add({std::nullopt, q, d, i}, 5 + q * machine.dma_engines + d, bytes_of(schedule.rings[q][d][i])));
    }
  for (std::size_t a = 0; a < operations_.size(); ++a)
    if (std::ranges::any_of(
            bytes[a], [](const auto& touched) { return touched.write && touched.runs.front().begin < core_base; }))
      outputs_.push_back(a);
  for (std::size_t a = 0; a < operations_.size(); ++a)
    for (std::size_t b = a + 1; b < operations_.size(); ++b)
      if (agent[a] != agent[b] && conflict(bytes[a], bytes[b])) conflicts_.emplace_back(a, b);
}

// One run of a schedule, event by event. An event is: a sequencer takes its next record, a unit ends its oldest
// instruction, a DMA engine ends the oldest descriptor of a queue.
class RaceStudy::Run {
 public:
  Run(const RaceStudy& study, const neuron::Schedule& schedule)
      : study_(study),
        schedule_(schedule),
        in_flight_(neuroncore::engines),
        next_(neuroncore::engines, 0),
        rung_(schedule.rings.size() * study.machine_.dma_engines, 0),
        ended_(rung_.size(), 0) {}

  std::size_t blocked = none;
  neuroncore::RaceDetector* detector = nullptr;
  std::vector<bool> begun;

  std::size_t events() const { return 2 * std::size_t{neuroncore::engines} + rung_.size(); }
  bool possible(std::size_t event) const {
    if (event < neuroncore::engines) return can_take(event);
    if (event < 2 * neuroncore::engines) {
      const auto& flights = in_flight_[event - neuroncore::engines];
      return !flights.empty() && study_.of_stream_[event - neuroncore::engines][flights.front()] != blocked;
    }
    const std::size_t queue = event - 2 * neuroncore::engines;
    return ended_[queue] < rung_[queue] && descriptor_of(queue, ended_[queue]) != blocked;
  }
  void happen(std::size_t event) {
    if (event < neuroncore::engines)
      take(event);
    else if (event < 2 * neuroncore::engines)
      complete(event - neuroncore::engines);
    else
      end_descriptor(event - 2 * neuroncore::engines);
  }
  bool finished() const {
    for (std::size_t e = 0; e < neuroncore::engines; ++e)
      if (next_[e] < schedule_.streams[e].size()) return false;
    return true;
  }

 private:
  std::size_t descriptor_of(std::size_t queue, std::size_t index) const {
    const std::size_t engines = study_.machine_.dma_engines;
    return study_.of_ring_[queue / engines][queue % engines][index];
  }
  bool can_take(std::size_t e) const {
    if (next_[e] == schedule_.streams[e].size()) return false;
    const Instruction& record = schedule_.streams[e][next_[e]];
    if (!is_data(record) && study_.of_stream_[e][next_[e]] == blocked) return false;
    if (record.opcode == Opcode::drain || record.opcode == Opcode::halt) return in_flight_[e].empty();
    if (is_data(record)) return true;
    return std::ranges::all_of(record.waits, [&](const auto& wait) {
      return wait.condition == neuroncore::Condition::none || semaphores_[wait.semaphore] >= wait.value;
    });
  }
  void update(unsigned semaphore, std::int64_t by, unsigned port) {
    const std::int64_t before = semaphores_[semaphore];
    semaphores_[semaphore] += by;
    if (detector != nullptr) detector->semaphore_changed(semaphore, before, before + by, false, id_of(port, 1));
  }
  void apply(const neuroncore::Update& change, std::size_t e) {
    if (change.kind == neuroncore::UpdateKind::add)
      update(change.semaphore, change.value, engine_ports + static_cast<unsigned>(e));
  }
  void begin(std::size_t operation) {
    if (!begun.empty()) begun[operation] = true;
  }
  void take(std::size_t e) {
    const std::size_t index = next_[e]++;
    const Instruction& record = schedule_.streams[e][index];
    const auto engine = static_cast<Engine>(e);
    begin(study_.of_stream_[e][index]);
    if (is_data(record)) {
      in_flight_[e].push_back(index);
      if (detector != nullptr) detector->issued(engine, index, record);
      return;
    }
    if (detector != nullptr) detector->passed(engine, index, record);
    if (record.opcode == Opcode::dma_trigger) ring(e, record);
    apply(record.update, e);
    if (record.opcode == Opcode::halt && detector != nullptr) detector->ended(engine);
  }
  void ring(std::size_t e, const Instruction& record) {
    const std::size_t engines = study_.machine_.dma_engines;
    for (std::size_t d = 0; d < engines; ++d) {
      const std::size_t queue = record.queue * engines + d;
      rung_[queue] += record.descriptors;
      if (detector != nullptr)
        detector->rang(static_cast<unsigned>(d), record.queue, record.descriptors,
                       id_of(engine_ports + static_cast<unsigned>(e), 1));
      begin_next(queue);
    }
  }
  void begin_next(std::size_t queue) {
    if (ended_[queue] < rung_[queue]) begin(descriptor_of(queue, ended_[queue]));
  }
  void complete(std::size_t e) {
    const std::size_t index = in_flight_[e].front();
    in_flight_[e].pop_front();
    const Instruction& i = schedule_.streams[e][index];
    const auto engine = static_cast<Engine>(e);
    if (detector != nullptr) {
      detector->commits(engine);
      const auto touches = [&](const neuroncore::Operand& tile, unsigned partitions, numeric::DType dtype, bool write) {
        detector->touches(tile, partitions, static_cast<std::uint32_t>(numeric::size_bytes(dtype)), write);
      };
      if (i.opcode == Opcode::tensor_tensor ||
          (i.opcode == Opcode::matmul && (i.flags & neuroncore::matmul_reuse) == 0))
        touches(i.source1, i.source_partitions, i.source1_dtype, false);
      if (i.opcode != Opcode::memset) touches(i.source0, i.source_partitions, i.source0_dtype, false);
      touches(i.destination, i.partitions, i.dtype, true);
    }
    apply(i.update, e);
    if (detector != nullptr) detector->completed(engine);
  }
  void end_descriptor(std::size_t queue) {
    const std::size_t engines = study_.machine_.dma_engines;
    const std::size_t number = ended_[queue]++;
    const auto& descriptor = schedule_.rings[queue / engines][queue % engines][number];
    const auto d = static_cast<unsigned>(queue % engines);
    const auto q = static_cast<unsigned>(queue / engines);
    if (detector != nullptr) {
      if (!descriptor.empty) {
        detector->descriptor_touches(d, q, number, descriptor.source, false);
        detector->descriptor_touches(d, q, number, descriptor.destination, true);
      }
      detector->descriptor_ended(d, q, number, false);
    }
    if (descriptor.signals) update(descriptor.semaphore, descriptor.increment, dma_ports + d);
    begin_next(queue);
  }

  const RaceStudy& study_;
  const neuron::Schedule& schedule_;
  std::vector<std::deque<std::size_t>> in_flight_;
  std::vector<std::size_t> next_;
  std::vector<std::size_t> rung_, ended_;  // [queue * DMA engines + DMA engine]
  std::array<std::int64_t, 256> semaphores_{};
};

// Semaphores only rise and waits are for at least a count, so whatever is possible stays so: one run reaches all.
std::vector<bool> RaceStudy::begins_without(const neuron::Schedule& schedule, std::size_t blocked) const {
  Run run(*this, schedule);
  run.blocked = blocked;
  run.begun.assign(operations_.size(), false);
  for (bool any = true; any;) {
    any = false;
    for (std::size_t event = 0; event < run.events(); ++event)
      while (run.possible(event)) {
        run.happen(event);
        any = true;
      }
  }
  return run.begun;
}

RaceStudy::Verdict RaceStudy::verdict(const neuron::Schedule& schedule) const {
  std::vector<std::vector<bool>> without(operations_.size());
  const auto begins = [&](std::size_t operation, std::size_t blocked) {
    if (without[blocked].empty()) without[blocked] = begins_without(schedule, blocked);
    return static_cast<bool>(without[blocked][operation]);
  };
  Verdict verdict;
  for (const auto& [a, b] : conflicts_)
    if (verdict.unordered.empty() && begins(b, a) && begins(a, b))
      verdict.unordered = operations_[a].text() + " and " + operations_[b].text();
  for (const std::size_t output : outputs_) {
    if (without[output].empty()) without[output] = begins_without(schedule, output);
    if (halts(without[output])) verdict.unended = operations_[output].text();
  }
  const auto updates = updates_of(schedule);
  for (std::size_t e = 0; e < schedule.streams.size(); ++e)
    for (std::size_t i = 0; i < schedule.streams[e].size(); ++i)
      for (const auto& wait : schedule.streams[e][i].waits) {
        if (wait.condition == neuroncore::Condition::none) continue;
        std::int64_t needed = 0;
        for (const auto& [operation, amount] : updates[wait.semaphore])
          if (!begins(of_stream_[e][i], operation)) needed += amount;
        if (needed < wait.value) verdict.ambiguous = operations_[of_stream_[e][i]].text();
      }
  return verdict;
}

// Whether every stream has come to its last record.
bool RaceStudy::halts(const std::vector<bool>& begun) const {
  return std::ranges::all_of(of_stream_, [&](const auto& stream) { return stream.empty() || begun[stream.back()]; });
}

std::vector<std::vector<RaceStudy::Raise>> RaceStudy::updates_of(const neuron::Schedule& schedule) const {
  std::vector<std::vector<Raise>> updates(256);
  for (std::size_t e = 0; e < schedule.streams.size(); ++e)
    for (std::size_t i = 0; i < schedule.streams[e].size(); ++i) {
      const auto& update = schedule.streams[e][i].update;
      if (update.kind == neuroncore::UpdateKind::add)
        updates[update.semaphore].emplace_back(of_stream_[e][i], update.value);
    }
  for (std::size_t q = 0; q < schedule.rings.size(); ++q)
    for (std::size_t d = 0; d < schedule.rings[q].size(); ++d)
      for (std::size_t i = 0; i < schedule.rings[q][d].size(); ++i) {
        const auto& descriptor = schedule.rings[q][d][i];
        if (descriptor.signals) updates[descriptor.semaphore].emplace_back(of_ring_[q][d][i], descriptor.increment);
      }
  return updates;
}

std::string RaceStudy::detected(const neuron::Schedule& schedule, Pace pace, std::uint64_t seed) const {
  neuroncore::RaceDetector detector({.core = "core0",
                                     .core_base = core_base,
                                     .dma_engines = machine_.dma_engines,
                                     .engine_port_base = engine_ports,
                                     .dma_port_base = dma_ports});
  Run run(*this, schedule);
  run.detector = &detector;
  for (std::size_t e = 0; e < neuroncore::engines; ++e)
    if (!schedule.streams[e].empty()) detector.started(static_cast<Engine>(e));
  std::mt19937_64 random(seed);
  std::vector<std::size_t> possible;
  try {
    for (;;) {
      possible.clear();
      for (std::size_t event = 0; event < run.events(); ++event)
        if (run.possible(event)) possible.push_back(event);
      if (possible.empty()) break;
      // Sequencers come first in the list of events, DMA engines last.
      const std::size_t chosen = pace == Pace::eager  ? possible.size() - 1
                                 : pace == Pace::lazy ? 0
                                                      : static_cast<std::size_t>(random() % possible.size());
      run.happen(possible[chosen]);
    }
  } catch (const Fault& fault) {
    return fault.rule();
  }
  return run.finished() ? "" : "stuck";
}

}  // namespace tilevp::test
