// 10,000 mutations of the shipped descriptions: each is accepted or refused in one line, and what is accepted can be
// built.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/json/value.hpp>
#include <optional>
#include <string>

#include "fuzz/mutator.hpp"
#include "tilevp/base/random.hpp"
#include "tilevp/described/text.hpp"
#include "tilevp/platform/builder.hpp"

namespace {

namespace json = boost::json;
using namespace tilevp;

constexpr int mutations = 10'000;
// An accepted description in so many is built, in a process of its own: SystemC elaborates once a process.
constexpr int build_every = 100;

class TreeMutation {
 public:
  explicit TreeMutation(std::mt19937_64& generator) : generator_(generator) {}

  // Changes one thing somewhere below `root`.
  void once(json::value& root) {
    json::value* at = &root;
    for (;;) {
      if (auto* object = at->if_object(); object != nullptr && !object->empty()) {
        auto& member = *(object->begin() + static_cast<std::ptrdiff_t>(below(object->size())));
        if (one_in(16)) return change_members(*object, std::string(member.key()));
        at = &member.value();
      } else if (auto* list = at->if_array(); list != nullptr && !list->empty()) {
        if (one_in(4)) return list->resize(below(4) * list->size());
        at = &(*list)[below(list->size())];
      } else {
        break;
      }
      if (one_in(12)) break;
    }
    *at = value();
  }

 private:
  std::size_t below(std::size_t end) {
    return static_cast<std::size_t>(uniform_int(generator_, 0, static_cast<std::int64_t>(end) - 1));
  }
  bool one_in(std::size_t n) { return below(n) == 0; }

  void change_members(json::object& object, const std::string& key) {
    const json::value kept = object[key];
    if (one_in(2)) object.erase(key);
    if (one_in(2)) object[key + (one_in(2) ? "s" : "")] = kept;
    if (one_in(4)) object[""] = value();
  }

  json::value value() {
    static constexpr std::array numbers{0.0, -0.0, -1.0, 0.5, 1e-300, 5e-324, 1e9, 1e15, 1e18, 1e300, -1e300};
    static constexpr std::array<std::uint64_t, 9> integers{
        0, 1, 127, 4096, 65'535, 0x7fff'ffff, 0xffff'ffff, 0x7fff'ffff'ffff'ffff, 0xffff'ffff'ffff'ffff};
    switch (below(8)) {
      case 0:
        return nullptr;
      case 1:
        return one_in(2);
      case 2:
        return json::string(below(3) * 40, 'x');
      case 3:
        return json::array{1, "a", nullptr};
      case 4:
        return json::object{{"a", 1}};
      case 5:
        return numbers[below(numbers.size())];
      default:
        return integers[below(integers.size())];
    }
  }

  std::mt19937_64& generator_;
};

// Empty: refused, in one line.
std::optional<platform::Description> read(const std::string& text, const std::string& what) {
  try {
    return described::Document::from_text("mutated.json", text).read<platform::Description>();
  } catch (const UserError& error) {
    const std::string line = error.what();
    EXPECT_TRUE(line.starts_with("mutated.json")) << what << ": " << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << what << ": " << line;
    EXPECT_LT(line.size(), 2000U) << what;
    return std::nullopt;
  }
}

// What the process that builds it exits with: 0, or 2 where a part refuses a parameter.
int build(const platform::Description& description) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      const platform::Platform platform(description, {});
      _exit(0);
    } catch (const UserError&) {
      _exit(2);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(MutatedDescriptions, AreAcceptedOrRefusedInOneLine) {
  auto generator = generator_for(7, "descriptions");
  const auto names = platform::shipped_descriptions();
  int accepted = 0;
  for (int i = 0; i < mutations; ++i) {
    const std::string original(platform::shipped_description(names[static_cast<std::size_t>(i) % names.size()]));
    const std::string what = "mutation " + std::to_string(i);
    std::string text;
    if (i % 2 == 0) {
      text = fuzz::mutated(original, original, {"{", "}", "[", "null", "\"dma\":", "//", "1e999"}, generator);
    } else {
      auto tree = described::parse("shipped", original, described::Comments::allowed).tree;
      for (auto left = uniform_int(generator, 1, 3); left > 0; --left) TreeMutation(generator).once(tree);
      text = described::compact(tree);
    }
    const auto description = read(text, what);
    if (!description) continue;
    if (accepted++ % build_every == 0) {
      EXPECT_EQ(build(*description), 0) << what << ":\n" << text;
    }
  }
  // Neither the reader nor the mutator is asleep.
  EXPECT_GT(accepted, mutations / 100);
  EXPECT_LT(accepted, mutations / 2);
}

}  // namespace
