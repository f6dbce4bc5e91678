#pragma once
// What the command and its reports call themselves.
#include <string_view>

namespace tilevp::platform {

inline constexpr std::string_view tool_name = "tilevp 0.1.0";

}  // namespace tilevp::platform
