#pragma once
// The memory models that a description can name: what they are called and which options they take. Making and writing
// one: memory_model.hpp. Nothing here needs SystemC, so reading a description does not either.
#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/described/describe.hpp"
#include "tilevp/described/traits.hpp"

namespace tilevp::platform {

// The name of the memory of models/memory.
inline constexpr const char* builtin_memory = "tilevp/memory";

struct MemoryContext;
struct BuiltMemory;

class MemoryModel {
 public:
  virtual ~MemoryModel() = default;
  virtual std::string summary() const = 0;
  // The options with types and defaults, for `tilevp describe options`.
  virtual std::vector<described::Field> fields() const = 0;
  // `options` checked and with the defaults of those left out. Throws KeyError below `path`.
  virtual boost::json::object read(const boost::json::object& options, const std::string& path) const = 0;
  // `options` as read() returned them. Called while the platform is being built.
  virtual BuiltMemory make(const char* name, const MemoryContext& context,
                           const boost::json::object& options) const = 0;
};

// By name.
class MemoryModels {
 public:
  template <class Module, described::DescribedStruct Options>
  void add(const std::string& name, std::string summary);  // memory_model.hpp
  // Defect where the name is taken.
  void add(const std::string& name, std::shared_ptr<const MemoryModel> model);
  // Null where there is none of that name.
  std::shared_ptr<const MemoryModel> find(std::string_view name) const;
  std::vector<std::string> names() const;

 private:
  std::map<std::string, std::shared_ptr<const MemoryModel>, std::less<>> models_;
};

}  // namespace tilevp::platform
