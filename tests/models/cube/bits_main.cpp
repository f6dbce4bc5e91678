// Prints the hash of bits_report.hpp. Linked with the numerics' sources at one optimisation level.
#include <cstdio>

#include "models/cube/bits_report.hpp"

int main() { std::fputs(tilevp::cube::testing::bits_line().c_str(), stdout); }
