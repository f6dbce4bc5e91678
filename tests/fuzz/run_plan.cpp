// A command line of `tilevp run`, one word a line, up to the plan of the run: nothing is built or written.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/target.hpp"
#include "tilevp/sc_main/run_plan.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilevp;
  std::vector<std::string> words(1);
  for (const char c : fuzz::as_text(data, size)) {
    if (c == '\n')
      words.emplace_back();
    else if (c != '\0')  // no argument of a process holds one
      words.back() += c;
  }
  fuzz::accepted([&] { command::plan_run(words); });
  return 0;
}
