#include "tilevp/platform/memory_models.hpp"

#include "tilevp/base/errors.hpp"

namespace tilevp::platform {

void MemoryModels::add(const std::string& name, std::shared_ptr<const MemoryModel> model) {
  if (!models_.emplace(name, std::move(model)).second) throw Defect("memory model '" + name + "' is registered twice");
}

std::shared_ptr<const MemoryModel> MemoryModels::find(std::string_view name) const {
  const auto found = models_.find(name);
  return found == models_.end() ? nullptr : found->second;
}

std::vector<std::string> MemoryModels::names() const {
  std::vector<std::string> list;
  for (const auto& [name, model] : models_) list.push_back(name);
  return list;
}

}  // namespace tilevp::platform
