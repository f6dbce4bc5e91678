#pragma once
// The order people expect of numbered names: dma2 before dma10.
#include <string_view>

namespace tilevp::platform {

// Whether `a` comes before `b`: runs of digits compare as numbers, everything else by character. Names that differ in
// leading zeros only are equal.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace tilevp::platform
