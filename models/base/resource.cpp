#include "tilevp/base/resource.hpp"

#include <algorithm>

#include "tilevp/base/errors.hpp"

namespace tilevp {

void Resource::add_requester(unsigned port) {
  if (std::find(ports_.begin(), ports_.end(), port) == ports_.end()) ports_.push_back(port);
}

void Resource::require_port(unsigned port) const {
  if (ports_.size() == 1 && ports_.front() != port)
    throw Defect(name_ + ": declared for port " + std::to_string(ports_.front()) + " alone, asked by port " +
                 std::to_string(port));
}

}  // namespace tilevp
