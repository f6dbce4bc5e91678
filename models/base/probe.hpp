#pragma once
// Probes: the values a wave viewer can show. A probe that nobody selected costs one pointer test.
#include <cstdint>
#include <string>
#include <vector>

namespace tilevp {

// Takes the changes of selected probes.
class ProbeSink {
 public:
  virtual ~ProbeSink() = default;
  // `time_ps` >= the present time; calls come in any time order, for one instant the last call wins.
  virtual void record(unsigned id, std::uint64_t time_ps, std::uint64_t value) = 0;
};

class ProbeRegistry;

// What one value of a probe stands for: 16 is "matmul".
struct ValueName {
  std::uint64_t value;
  const char* name;
};

class Probe {
 public:
  // `name` is hierarchical ("core0.pe.busy"), `bits` 1 to 64, `meaning` one line for `tilevp list probes`. `names`,
  // where the values are codes and no numbers: viewers show them in place of the values.
  Probe(ProbeRegistry& registry, std::string name, unsigned bits, std::string meaning,
        std::vector<ValueName> names = {});
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  void set(std::uint64_t time_ps, std::uint64_t value) {
    if (sink_ != nullptr) sink_->record(id_, time_ps, value);
  }
  bool selected() const { return sink_ != nullptr; }

  const std::string& name() const { return name_; }
  unsigned bits() const { return bits_; }
  const std::string& meaning() const { return meaning_; }
  const std::vector<ValueName>& names() const { return names_; }

  void attach(ProbeSink& sink, unsigned id) {
    sink_ = &sink;
    id_ = id;
  }

 private:
  std::string name_;
  unsigned bits_;
  std::string meaning_;
  std::vector<ValueName> names_;
  ProbeSink* sink_ = nullptr;
  unsigned id_ = 0;
};

// All probes of a platform. Probes outlive every use of the registry.
class ProbeRegistry {
 public:
  void add(Probe& probe) { probes_.push_back(&probe); }
  // Ordered by name, whatever the construction order.
  std::vector<Probe*> all() const;

 private:
  std::vector<Probe*> probes_;
};

}  // namespace tilevp
