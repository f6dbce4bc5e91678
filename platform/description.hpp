#pragma once
// What a platform is made of: one JSON file, read into typed structs. Every figure that is not a choice of ours has its
// source in `sources`, keyed by its path.
#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/base/clock_domain.hpp"
#include "tilevp/cube/parameters.hpp"
#include "tilevp/described/document.hpp"
#include "tilevp/dma/parameters.hpp"
#include "tilevp/memory/parameters.hpp"
#include "tilevp/neuroncore/parameters.hpp"
#include "tilevp/platform/memory_models.hpp"

namespace tilevp::platform {

class MachineKind;

// What one access of the host costs, beside the time its target takes.
struct HostParameters {
  double write_latency_ns = 200;
  double read_latency_ns = 1000;
  double bytes_per_ns = 16;
  // Longer accesses are cut into pieces of this size: the grain in which the host shares a memory with others.
  std::uint32_t access_bytes = 65'536;

  void check(const std::string& path) const;
};
BOOST_DESCRIBE_STRUCT(HostParameters, (), (write_latency_ns, read_latency_ns, bytes_per_ns, access_bytes))

// Where the parts stand in the addresses that the host and the DMA engines use.
struct AddressMap {
  std::uint64_t hbm_base = 0;
  std::uint64_t core0_base = 0x1000'0000'0000;
};
BOOST_DESCRIBE_STRUCT(AddressMap, (), (hbm_base, core0_base))

// What the report of a run shows beside its totals.
struct ReportParameters {
  // A time ("10us", "1500cycles@pe"): the report has a row of busy times and bytes for each such period. Empty: none.
  std::string period{};
};
BOOST_DESCRIBE_STRUCT(ReportParameters, (), (period))

// The memory, or another one in its place.
struct HbmParameters : memory::MemoryParameters {
  // Of the built-in memory, or of a plug-in's (docs/plugins.md).
  std::string model = builtin_memory;
  // The model's own keys.
  boost::json::object options{};

  // What `model` names, found when the description is loaded; null: the built-in memory. Not part of the description.
  std::shared_ptr<const MemoryModel> implementation{};
};
BOOST_DESCRIBE_STRUCT(HbmParameters, (memory::MemoryParameters), (model, options))
// What a run watches itself for, beside the machine's rules; costs time.
struct Checks {
  // On a NeuronCore: two accesses to the same bytes that no semaphore orders end the run as a fault (docs/races.md).
  bool races = true;
  // The TLM-2.0 base protocol on every memory-mapped connection: a breach ends the run as a fault.
  bool protocol = false;
};
BOOST_DESCRIBE_STRUCT(Checks, (), (races, protocol))

struct Description {
  std::string name = "custom";
  std::string summary{};
  // What the real machine has and this model of it has not, one item each.
  std::vector<std::string> not_modelled{};
  // Path of a figure ("dma.bytes_per_ns"), or of the part that holds it ("host"), to where it comes from.
  std::map<std::string, std::string> sources{};
  HbmParameters hbm{};
  // The machine: a NeuronCore (`core`, `dma`; what is left out has its defaults) or a CUBE core (`cube`).
  std::optional<neuroncore::Parameters> core{};
  std::optional<dma::Parameters> dma{};
  std::optional<cube::Parameters> cube{};
  HostParameters host{};
  AddressMap map{};
  ReportParameters report{};
  Checks checks{};

  // Rates and clocks positive, sizes that the machine can hold, ranges that do not overlap, sources of paths that
  // exist.
  void check(const std::string& path) const;
};
BOOST_DESCRIBE_STRUCT(Description, (),
                      (name, summary, not_modelled, sources, hbm, core, dma, cube, host, map, report, checks))

// A description with where it came from.
struct LoadedDescription {
  Description description{};
  std::string sha256{};                  // of the file's text
  std::vector<std::string> overrides{};  // as given
};

// Names of the descriptions that are part of the program: pto-cube, trn1, trn2, trn3.
std::vector<std::string> shipped_descriptions();
// The text of one of them; empty where there is none of that name.
std::string_view shipped_description(std::string_view name);

// `name_or_file`: a shipped name, else a file (anything with a dot or a slash). `overrides` are the `-c PATH=VALUE` in
// their order. `models`: what `hbm.model` may name beside the built-in memory. UserError with file and line, or the
// override, for anything wrong.
LoadedDescription load_description(const std::string& name_or_file, const std::vector<std::string>& overrides,
                                   const MemoryModels& models = {});

// The shipped description of a kind of machine (MachineKind::name) where none was asked for; trn1 for an empty name.
std::string default_description(std::string_view machine);

// What kind of machine it describes.
const MachineKind& machine_of(const Description& description);

// The clock domains that times may be given in: of a NeuronCore pe, vector, scalar, gpsimd, sync, dma.
std::vector<ClockDomain> clock_domains(const Description& description);

// A person's view: what it is, what it holds, where each figure comes from, what it does not model.
std::string description_text(const Description& description);

}  // namespace tilevp::platform
