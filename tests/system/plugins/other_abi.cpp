// Built for a version that does not exist.
#include "system/plugins/plain_plugin.hpp"

extern "C" {
extern const PlainPlugin tilevp_plugin;
const PlainPlugin tilevp_plugin{plain_magic, 4711, "tilevp 9.8.7", "gcc 99, Boost 9_99, SystemC 9.9.9", nullptr};
}
