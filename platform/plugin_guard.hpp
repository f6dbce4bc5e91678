#pragma once
// What leaves a plug-in by an exception. Errors of ours keep their meaning; anything else is the plug-in's defect and
// names it.
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <systemc>

#include "tilevp/base/errors.hpp"
#include "tilevp/platform/interrupted.hpp"
#include "tilevp/platform/memory_model.hpp"
#include "tilevp/runtime/program.hpp"

namespace tilevp::platform {

// Exit code 5, but no defect of ours.
class PluginFailure : public Error {
 public:
  explicit PluginFailure(const std::string& message) : Error(Outcome::defect, message) {}
};

// `who`: "plug-in ./mine.so: program 'mine/program'".
template <class Work>
decltype(auto) guarded(const std::string& who, Work&& work) {
  try {
    return work();
  } catch (const sc_core::sc_unwind_exception&) {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw PluginFailure(who + ": " + error.what());
  } catch (...) {
    throw PluginFailure(who + ": an exception of a type that is no std::exception");
  }
}

// `plugin`: "plug-in ./mine.so".
std::unique_ptr<runtime::Program> guard_program(const std::string& plugin, const std::string& name,
                                                const runtime::ProgramRegistry& programs);
std::shared_ptr<const MemoryModel> guard_memory(const std::string& plugin, const std::string& name,
                                                std::shared_ptr<const MemoryModel> model);

}  // namespace tilevp::platform
