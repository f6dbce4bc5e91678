#pragma once
// Memories of somebody else in the place of HBM: what a description names with `hbm.model` and configures with
// `hbm.options`.
//
// A model is an sc_module with a public TLM-2.0 target socket called `socket` (base protocol, 32 bits wide, blocking
// transport at least) and a described struct of options:
//
//   struct Options { double latency_ns = 10; };
//   BOOST_DESCRIBE_STRUCT(Options, (), (latency_ns))
//   class MyMemory : public sc_core::sc_module {
//     MyMemory(sc_core::sc_module_name name, const platform::MemoryContext& context, const Options& options);
//   };
//   models.add<MyMemory, Options>("mine/memory", "one line of what it is");
//
// Calls come when they happen: the delay is zero on entry and requests arrive in the order of simulated time
// (docs/protocols.md).
#include <boost/json/object.hpp>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "tilevp/base/simulation.hpp"
#include "tilevp/described/describe.hpp"
#include "tilevp/described/reader.hpp"
#include "tilevp/described/writer.hpp"
#include "tilevp/memory/memory.hpp"
#include "tilevp/platform/memory_models.hpp"

namespace tilevp::platform {

// What a model gets beside its options.
struct MemoryContext {
  Simulation& simulation;  // statistics, probes, faults
  // The keys of the description's `hbm` that every memory has. Addresses run from 0 to size_bytes - 1.
  const memory::MemoryParameters& parameters;
};

using MemorySocket = tlm::tlm_base_target_socket_b<32>;

struct BuiltMemory {
  std::unique_ptr<sc_core::sc_module> module;
  MemorySocket* socket = nullptr;  // of the module
};

template <class Module, described::DescribedStruct Options>
class DescribedMemoryModel final : public MemoryModel {
 public:
  explicit DescribedMemoryModel(std::string summary) : summary_(std::move(summary)) {}
  std::string summary() const override { return summary_; }
  std::vector<described::Field> fields() const override { return described::describe_fields<Options>(); }
  boost::json::object read(const boost::json::object& options, const std::string& path) const override {
    Options read{};
    described::read(read, options, path);
    described::check_all(read, path);
    return described::to_json(read).as_object();
  }
  BuiltMemory make(const char* name, const MemoryContext& context, const boost::json::object& options) const override {
    Options read{};
    described::read(read, options, "");
    auto module = std::make_unique<Module>(name, context, read);
    MemorySocket& socket = module->socket;
    return {std::move(module), &socket};
  }

 private:
  std::string summary_;
};

template <class Module, described::DescribedStruct Options>
void MemoryModels::add(const std::string& name, std::string summary) {
  add(name, std::make_shared<DescribedMemoryModel<Module, Options>>(std::move(summary)));
}

}  // namespace tilevp::platform
