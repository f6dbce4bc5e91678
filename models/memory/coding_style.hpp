#pragma once
// How a module speaks the TLM-2.0 base protocol where it has the choice.
#include <boost/describe.hpp>

namespace tilevp::memory {

enum class CodingStyle {
  lt,  // loosely timed: b_transport, one call an access
  at,  // approximately timed: nb_transport, four phases an access
};
BOOST_DESCRIBE_ENUM(CodingStyle, lt, at)

}  // namespace tilevp::memory
