#pragma once
// SHA-256 (FIPS 180-4) of a text: which description a report was made with.
#include <string>
#include <string_view>

namespace tilevp::platform {

// 64 lower-case hexadecimal digits.
std::string sha256(std::string_view text);

}  // namespace tilevp::platform
