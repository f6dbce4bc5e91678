#pragma once
// The subcommands of `tilevp`, one file each. Each takes the words after its name and returns the exit code, or throws
// what errors.hpp defines (docs/errors.md).
#include <span>
#include <string>

namespace tilevp::command {

using Words = std::span<const std::string>;

int run(Words words);
int list(Words words);
int describe(Words words);
int check(Words words);
int compare(Words words);
int waves(Words words);
int assemble(Words words);     // asm
int disassemble(Words words);  // disasm

// The whole command: picks the subcommand, turns failures into one line on stderr and an exit code.
int main_command(Words words);

}  // namespace tilevp::command
