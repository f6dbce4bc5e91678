// A library whose symbol of that name is something else.
#include <cstdint>

extern "C" {
extern const std::uint64_t tilevp_plugin[5];
const std::uint64_t tilevp_plugin[5] = {0x1234};
}
