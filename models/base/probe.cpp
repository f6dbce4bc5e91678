#include "tilevp/base/probe.hpp"

#include <algorithm>
#include <utility>

namespace tilevp {

Probe::Probe(ProbeRegistry& registry, std::string name, unsigned bits, std::string meaning,
             std::vector<ValueName> names)
    : name_(std::move(name)), bits_(bits), meaning_(std::move(meaning)), names_(std::move(names)) {
  registry.add(*this);
}

std::vector<Probe*> ProbeRegistry::all() const {
  std::vector<Probe*> probes = probes_;
  std::sort(probes.begin(), probes.end(), [](const Probe* a, const Probe* b) { return a->name() < b->name(); });
  return probes;
}

}  // namespace tilevp
