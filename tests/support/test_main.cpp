// main() of every test program.
//
// SystemC allows one elaboration a process, so each test gets a process of its own: ctest starts the program once a
// test, and when a person starts it for several tests at once it starts itself again for each of them.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <systemc>
#include <vector>

extern "C" {
// Coroutine stacks are not known to ASan: fake stacks make it crash, and locals of threads that never end look like
// leaks.
const char* __asan_default_options() { return "detect_stack_use_after_return=0"; }
const char* __lsan_default_options() { return "print_suppressions=0"; }
const char* __lsan_default_suppressions() { return "leak:sc_core::sc_thread_cor_fn\n"; }
}

namespace {

std::vector<std::string> selected_tests() {
  std::vector<std::string> names;
  const auto& unit = *testing::UnitTest::GetInstance();
  for (int s = 0; s < unit.total_test_suite_count(); ++s) {
    const auto& suite = *unit.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t)
      names.push_back(std::string(suite.name()) + "." + suite.GetTestInfo(t)->name());
  }
  return names;
}

int run_each_in_its_own_process() {
  int failed = 0;
  for (const auto& name : selected_tests()) {
    const std::string filter = "--gtest_filter=" + name;
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", "/proc/self/exe", filter.c_str(), "--gtest_brief=1", nullptr);
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) {
      std::printf("FAILED %s (status %d)\n", name.c_str(), status);
      ++failed;
    }
  }
  std::printf("%d failed\n", failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int sc_main(int, char**) {
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING);
  // A warning of SystemC is a failure of the test.
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
  return RUN_ALL_TESTS();
}

int main(int argc, char** argv) {
  setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
  testing::InitGoogleTest(&argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  if (testing::GTEST_FLAG(filter) == "*") return run_each_in_its_own_process();
  return sc_core::sc_elab_and_sim(argc, argv);
}
