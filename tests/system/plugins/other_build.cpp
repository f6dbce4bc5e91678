// Built for this version with another compiler.
#include "system/plugins/plain_plugin.hpp"

extern "C" {
extern const PlainPlugin tilevp_plugin;
const PlainPlugin tilevp_plugin{plain_magic, 2, "tilevp 0.1.0", "gcc 99, Boost 9_99, SystemC 9.9.9", nullptr};
}
