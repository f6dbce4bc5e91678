#include "tilevp/base/resource.hpp"

#include <algorithm>

#include "tilevp/base/errors.hpp"

namespace tilevp {

void Resource::add_requester(unsigned port, int priority) {
  const auto same = [port](const Requester& requester) { return requester.port == port; };
  if (std::any_of(requesters_.begin(), requesters_.end(), same)) return;
  requesters_.push_back({port, priority});
  std::sort(requesters_.begin(), requesters_.end(), [](const Requester& a, const Requester& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.port < b.port;
  });
}

int Resource::priority(unsigned port) const {
  for (const Requester& requester : requesters_)
    if (requester.port == port) return requester.priority;
  return 0;
}

void Resource::require_port(unsigned port) const {
  if (requesters_.size() == 1 && requesters_.front().port != port)
    throw Defect(name_ + ": declared for port " + std::to_string(requesters_.front().port) + " alone, asked by port " +
                 std::to_string(port));
}

}  // namespace tilevp
