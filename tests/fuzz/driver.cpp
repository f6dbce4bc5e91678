// Runs a fuzz target without libFuzzer: over a corpus, then over mutations of it that are the same on every host.
//
//   TARGET PATH... [-dict=FILE] [-mutations=N] [-write=K]    PATH: a file or a folder of files
//
// A crash names the number of its input; -write=K puts input K into the file crash-input and runs nothing.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/mutator.hpp"
#include "fuzz/target.hpp"
#include "tilevp/base/random.hpp"

namespace {

namespace fs = std::filesystem;

std::array<char, 64> running{};  // what the handler of a crash prints

void name_input(int signal) {
  // The process ends; nothing can be done about a stderr that cannot be written.
  if (write(STDERR_FILENO, running.data(), std::strlen(running.data())) < 0) _exit(1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> inputs_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {bytes_of(path)};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<std::string> inputs;
  for (const auto& file : files) inputs.push_back(bytes_of(file));
  return inputs;
}

// Lines of the form "word", as libFuzzer's dictionaries have them; escapes are not used in ours.
std::vector<std::string> words_of(const fs::path& file) {
  std::vector<std::string> words;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (line.size() > 2 && line.front() == '"' && line.back() == '"') words.push_back(line.substr(1, line.size() - 2));
  return words;
}

struct Order {
  std::vector<std::string> inputs;
  std::vector<std::string> words;
  std::size_t mutations = 0;
  std::optional<std::size_t> write;
};

Order order_of(int argc, char** argv) {
  Order order;
  const auto number = [](std::string_view text) {
    std::size_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  for (const std::string& word : std::vector<std::string>(argv + 1, argv + argc)) {
    const std::string value = word.substr(std::min(word.find('='), word.size() - 1) + 1);
    if (word.starts_with("-dict=")) {
      order.words = words_of(value);
    } else if (word.starts_with("-mutations=")) {
      order.mutations = number(value);
    } else if (word.starts_with("-write=")) {
      order.write = number(value);
    } else {
      for (auto& input : inputs_of(word)) order.inputs.push_back(std::move(input));
    }
  }
  return order;
}

void run(std::size_t number, const std::string& input) {
  std::snprintf(running.data(), running.size(), "input %zu\n", number);
  // A block of its own size, so that ASan sees a read behind its end.
  const std::vector<std::uint8_t> data(input.begin(), input.end());
  LLVMFuzzerTestOneInput(data.data(), data.size());
}

}  // namespace

int main(int argc, char** argv) {
  const Order order = order_of(argc, argv);
  if (order.inputs.empty()) {
    std::fprintf(stderr, "no inputs\n");
    return 2;
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) std::signal(signal, name_input);
  auto generator = tilevp::generator_for(1, "mutations");
  const std::size_t corpus = order.inputs.size();
  for (std::size_t number = 0; number < corpus + order.mutations; ++number) {
    std::string input = order.inputs[number % corpus];
    if (number >= corpus) {
      const auto& other = order.inputs[generator() % corpus];
      input = tilevp::fuzz::mutated(std::move(input), other, order.words, generator);
    }
    if (!order.write) {
      run(number, input);
    } else if (*order.write == number) {
      std::ofstream("crash-input", std::ios::binary) << input;
      return 0;
    }
  }
  std::printf("%zu inputs, %zu mutations of them\n", corpus, order.mutations);
}

// The SystemC library calls it from a main of its own, which is not used; no simulation runs in a fuzz test.
extern "C" int sc_main(int argc, char* argv[]);
extern "C" int sc_main(int /*argc*/, char* /*argv*/[]) { return 0; }
