#include "tilevp/platform/plugin_guard.hpp"

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "tilevp/base/nonblocking_bridge.hpp"

namespace tilevp::platform {
namespace {

// Hands on every function of a program, those with a default too.
class GuardedProgram final : public runtime::Program {
 public:
  GuardedProgram(std::string who, std::unique_ptr<runtime::Program> program)
      : who_(std::move(who)), program_(std::move(program)) {}

  std::string_view name() const override {
    return guarded(who_, [&] { return program_->name(); });
  }
  std::string_view summary() const override {
    return guarded(who_, [&] { return program_->summary(); });
  }
  std::vector<runtime::OptionDescription> options() const override {
    return guarded(who_, [&] { return program_->options(); });
  }
  std::string_view positional() const override {
    return guarded(who_, [&] { return program_->positional(); });
  }
  void prepare(const runtime::RunRequest& request) override {
    guarded(who_, [&] { program_->prepare(request); });
  }
  runtime::ProgramResult run(runtime::Host& host) override {
    return guarded(who_, [&] { return program_->run(host); });
  }
  std::string describe(runtime::Host& host) override {
    return guarded(who_, [&] { return program_->describe(host); });
  }
  void write_outputs() override {
    guarded(who_, [&] { program_->write_outputs(); });
  }

 private:
  std::string who_;
  std::unique_ptr<runtime::Program> program_;
};

// The model behind a socket that knows whose exceptions come out of it. Non-blocking requests reach it as such where
// the description says that it is `at`; otherwise as b_transport, several at a time, each in a thread of the guard.
class GuardedMemory final : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<GuardedMemory> socket{"socket"};

  GuardedMemory(sc_core::sc_module_name name, std::string who, const MemoryContext& context, BuiltMemory memory)
      : sc_module(name),
        who_(std::move(who)),
        memory_(std::move(memory)),
        nonblocking_(context.parameters.coding_style == memory::CodingStyle::at),
        bridge_(
            context.simulation, this->name(), context.parameters.request_queue,
            [this](int, auto& payload, auto& delay) { b_transport(payload, delay); },
            [this](int, auto& payload, auto& phase, auto& delay) {
              return socket->nb_transport_bw(payload, phase, delay);
            }) {
    socket.register_b_transport(this, &GuardedMemory::b_transport);
    socket.register_nb_transport_fw(this, &GuardedMemory::nb_transport_fw);
    socket.register_transport_dbg(this, &GuardedMemory::transport_dbg);
    socket.register_get_direct_mem_ptr(this, &GuardedMemory::get_direct_mem_ptr);
    to_model_.register_nb_transport_bw(this, &GuardedMemory::nb_transport_bw);
    to_model_.register_invalidate_direct_mem_ptr(this, &GuardedMemory::invalidate_direct_mem_ptr);
    to_model_.bind(*memory_.socket);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    guarded(who_, [&] { to_model_->b_transport(payload, delay); });
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    if (!nonblocking_) return bridge_.forward(0, payload, phase, delay);
    return guarded(who_, [&] { return to_model_->nb_transport_fw(payload, phase, delay); });
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    return socket->nb_transport_bw(payload, phase, delay);
  }
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload) {
    return guarded(who_, [&] { return to_model_->transport_dbg(payload); });
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    return guarded(who_, [&] { return to_model_->get_direct_mem_ptr(payload, dmi); });
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) {
    socket->invalidate_direct_mem_ptr(start, end);
  }

  std::string who_;
  BuiltMemory memory_;
  bool nonblocking_;
  NonBlockingBridge bridge_;
  tlm_utils::simple_initiator_socket<GuardedMemory> to_model_{"to_model"};
};

class GuardedModel final : public MemoryModel {
 public:
  GuardedModel(std::string who, std::shared_ptr<const MemoryModel> model)
      : who_(std::move(who)), model_(std::move(model)) {}

  std::string summary() const override {
    return guarded(who_, [&] { return model_->summary(); });
  }
  std::vector<described::Field> fields() const override {
    return guarded(who_, [&] { return model_->fields(); });
  }
  boost::json::object read(const boost::json::object& options, const std::string& path) const override {
    return guarded(who_, [&] { return model_->read(options, path); });
  }
  BuiltMemory make(const char* name, const MemoryContext& context, const boost::json::object& options) const override {
    BuiltMemory model = guarded(who_, [&] { return model_->make(name, context, options); });
    auto guard =
        std::make_unique<GuardedMemory>((std::string(name) + "_guard").c_str(), who_, context, std::move(model));
    MemorySocket& socket = guard->socket;
    return {std::move(guard), &socket};
  }

 private:
  std::string who_;
  std::shared_ptr<const MemoryModel> model_;
};

}  // namespace

std::unique_ptr<runtime::Program> guard_program(const std::string& plugin, const std::string& name,
                                                const runtime::ProgramRegistry& programs) {
  const std::string who = plugin + ": program '" + name + "'";
  return std::make_unique<GuardedProgram>(who, guarded(who, [&] { return programs.make(name); }));
}

std::shared_ptr<const MemoryModel> guard_memory(const std::string& plugin, const std::string& name,
                                                std::shared_ptr<const MemoryModel> model) {
  return std::make_shared<GuardedModel>(plugin + ": memory model '" + name + "'", std::move(model));
}

}  // namespace tilevp::platform
