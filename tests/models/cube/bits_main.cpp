// Prints the hash of bits_report.hpp. Linked with the numerics' sources at one optimisation level.
#include <cstdio>

#include "models/cube/bits_report.hpp"

// Nobody calls it: with sanitizers, symbols of SystemC stay referenced, and its library wants one.
extern "C" int sc_main(int, char**);
int sc_main(int, char**) { return 0; }

int main() { std::fputs(tilevp::cube::testing::bits_line().c_str(), stdout); }
