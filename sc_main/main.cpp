// The command `tilevp`.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <systemc>
#include <vector>

#include "tilevp/sc_main/command.hpp"

extern "C" {
// Read by ASan builds only. Coroutine stacks are not known to ASan: fake stacks make it crash, and locals of threads
// that never end look like leaks.
const char* __asan_default_options() { return "detect_stack_use_after_return=0"; }
const char* __lsan_default_options() { return "print_suppressions=0"; }
const char* __lsan_default_suppressions() { return "leak:sc_core::sc_thread_cor_fn\n"; }
}

int sc_main(int argc, char** argv) {
  return tilevp::command::main_command(std::vector<std::string>(argv + 1, argv + argc));
}

// A file that is opened while one of these is closed would get its number, and messages would be written into it.
static void hold_standard_files() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    // Opened for reading: what is written to a standard output that is closed still fails.
    if (fcntl(descriptor, F_GETFD) == -1) static_cast<void>(open("/dev/null", O_RDONLY));
}

int main(int argc, char** argv) {
  hold_standard_files();
  setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
