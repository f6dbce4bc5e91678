// Programs and memories that throw, one memory that looks for the extension of transactions, one for non-blocking calls
// alone.
#include <tlm_utils/simple_target_socket.h>

#include <stdexcept>

#include "models/memory/disordered_memory.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/memory/memory_access.hpp"
#include "tilevp/platform/plugin.hpp"

namespace {

using tilevp::runtime::Host;
using tilevp::runtime::ProgramResult;

class Thrower final : public tilevp::runtime::Program {
 public:
  Thrower(std::string name, void (*body)(Host&)) : name_(std::move(name)), body_(body) {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return "a test"; }
  std::vector<tilevp::runtime::OptionDescription> options() const override { return {}; }
  void prepare(const tilevp::runtime::RunRequest&) override {}
  ProgramResult run(Host& host) override {
    body_(host);
    return {};
  }
  std::string describe(Host&) override { throw std::logic_error("cannot describe"); }

 private:
  std::string name_;
  void (*body_)(Host&);
};

void throw_logic_error(Host&) { throw std::logic_error("a slip"); }
void throw_number(Host&) { throw 42; }
void throw_user_error(Host&) { throw tilevp::UserError("--x", "expected 1, found 2"); }
void throw_fault(Host&) { throw tilevp::Fault("plugin.rule", "9 exceeds 8"); }

// 64 bytes to HBM and back.
void touch(Host& host) {
  const std::uint64_t base = host.region("hbm").base;
  host.write_value<std::uint64_t>(base + 64, 0x0123'4567'89ab'cdef);
  if (host.read_value<std::uint64_t>(base + 64) != 0x0123'4567'89ab'cdef) throw std::logic_error("other bytes");
}

struct NoOptions {};
BOOST_DESCRIBE_STRUCT(NoOptions, (), ())

class TestMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<TestMemory> socket{"socket"};
  TestMemory(sc_core::sc_module_name name, const tilevp::platform::MemoryContext&, const NoOptions&) : sc_module(name) {
    socket.register_b_transport(this, &TestMemory::b_transport);
  }

 protected:
  virtual void serve(tlm::tlm_generic_payload& payload) = 0;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) { serve(payload); }
};

class ThrowingMemory : public TestMemory {
 public:
  using TestMemory::TestMemory;

 private:
  void serve(tlm::tlm_generic_payload&) override { throw std::out_of_range("no such bank"); }
};

class UnbuildableMemory : public ThrowingMemory {
 public:
  UnbuildableMemory(sc_core::sc_module_name name, const tilevp::platform::MemoryContext& context,
                    const NoOptions& options)
      : ThrowingMemory(name, context, options) {
    throw std::length_error("too large for me");
  }
};

// Holds 8 bytes. Throws a fault where a transaction has no extension, or one that does not agree with it: its id, its
// type and its layout are then not those of the command.
class ExtensionMemory : public TestMemory {
 public:
  using TestMemory::TestMemory;

 private:
  void serve(tlm::tlm_generic_payload& payload) override {
    const auto* access = payload.get_extension<tilevp::memory::MemoryAccess>();
    if (access == nullptr) throw tilevp::Fault("plugin.extension", "no extension");
    if (access->pattern.start() != payload.get_address() || access->pattern.bytes() != payload.get_data_length())
      throw tilevp::Fault("plugin.extension", "another pattern");
    if (payload.is_write())
      std::memcpy(bytes_, payload.get_data_ptr(), sizeof bytes_);
    else
      std::memcpy(payload.get_data_ptr(), bytes_, sizeof bytes_);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  unsigned char bytes_[8] = {};
};

// Throws at one access of many.
struct LateOptions {
  std::uint64_t access = 0;
};
BOOST_DESCRIBE_STRUCT(LateOptions, (), (access))

class LateMemory : public TestMemory {
 public:
  LateMemory(sc_core::sc_module_name name, const tilevp::platform::MemoryContext& context, const LateOptions& options)
      : TestMemory(name, context, {}), bytes_(context.parameters.size_bytes), left_(options.access) {}

 private:
  void serve(tlm::tlm_generic_payload& payload) override {
    if (--left_ == 0) throw std::out_of_range("no such bank");
    unsigned char* const at = bytes_.data() + payload.get_address();
    if (payload.is_write())
      std::memcpy(at, payload.get_data_ptr(), payload.get_data_length());
    else
      std::memcpy(payload.get_data_ptr(), at, payload.get_data_length());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  std::vector<unsigned char> bytes_;
  std::uint64_t left_;
};

// nb_transport alone, and answers out of order.
class NonBlockingMemory : public tilevp::memory::testing::DisorderedMemory {
 public:
  NonBlockingMemory(sc_core::sc_module_name name, const tilevp::platform::MemoryContext& context, const NoOptions&)
      : DisorderedMemory(name, context.parameters.size_bytes) {}
};

void add(tilevp::platform::PluginRegistry& registry) {
  const std::pair<const char*, void (*)(Host&)> programs[] = {{"plugin/logic-error", throw_logic_error},
                                                              {"plugin/number", throw_number},
                                                              {"plugin/user-error", throw_user_error},
                                                              {"plugin/fault", throw_fault},
                                                              {"plugin/touch", touch}};
  for (const auto& [name, body] : programs)
    registry.programs.add(name,
                          [name = std::string(name), body = body] { return std::make_unique<Thrower>(name, body); });
  registry.memories.add<ThrowingMemory, NoOptions>("plugin/throwing", "a test");
  registry.memories.add<UnbuildableMemory, NoOptions>("plugin/unbuildable", "a test");
  registry.memories.add<ExtensionMemory, NoOptions>("plugin/extension", "a test");
  registry.memories.add<LateMemory, LateOptions>("plugin/late", "a test");
  registry.memories.add<NonBlockingMemory, NoOptions>("plugin/nonblocking", "a test");
}

}  // namespace

const tilevp::platform::Plugin tilevp_plugin = tilevp::platform::make_plugin(add);
