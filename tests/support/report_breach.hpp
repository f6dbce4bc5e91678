#pragma once
// A breach of the base protocol is a failure of the test, wherever a checker stands.
#include <gtest/gtest.h>

#include "tilevp/memory/protocol_checker.hpp"

namespace tilevp::test {

inline void report_breach(const memory::ProtocolBreach& breach) { ADD_FAILURE() << breach.rule << " " << breach.text; }

}  // namespace tilevp::test
