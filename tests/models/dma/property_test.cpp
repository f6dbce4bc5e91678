// Random strided copies against a plain oracle, through memories of ours and of others, at every quantum and
// construction order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "models/dma/bench.hpp"

namespace tilevp::dma::testing {
namespace {

// The oracle: a nest is a list of sizes and byte strides, outermost first. It shares nothing with the product.
struct Nest {
  std::uint64_t start = 0;
  std::uint32_t element = 1;
  std::vector<std::pair<std::uint64_t, std::int64_t>> loops;

  // Byte addresses in stream order.
  std::vector<std::uint64_t> addresses() const {
    std::vector<std::int64_t> elements{static_cast<std::int64_t>(start)};
    for (const auto& [size, stride] : loops) {
      std::vector<std::int64_t> next;
      for (const std::int64_t at : elements)
        for (std::uint64_t i = 0; i < size; ++i) next.push_back(at + static_cast<std::int64_t>(i) * stride);
      elements = std::move(next);
    }
    std::vector<std::uint64_t> bytes;
    for (const std::int64_t at : elements)
      for (std::uint32_t b = 0; b < element; ++b) bytes.push_back(static_cast<std::uint64_t>(at) + b);
    return bytes;
  }
  AccessPattern pattern() const {
    std::vector<memory::Loop> given;
    for (const auto& [size, stride] : loops) given.push_back({size, stride});
    return {start, element, given};
  }
};

// Sizes of up to `depth` loops whose product is `elements`.
std::vector<std::uint64_t> factor(std::mt19937_64& random, std::uint64_t elements, unsigned depth) {
  std::vector<std::uint64_t> sizes;
  while (sizes.size() + 1 < depth) {
    std::vector<std::uint64_t> divisors;
    for (std::uint64_t d = 1; d <= elements; ++d)
      if (elements % d == 0) divisors.push_back(d);
    sizes.push_back(divisors[random() % divisors.size()]);
    elements /= sizes.back();
  }
  sizes.push_back(elements);
  return sizes;
}

// A nest without overlap (so that the order of writes does not matter): strides of a dense array in a random axis
// order, with padding, some of them walked backwards.
Nest random_nest(std::mt19937_64& random, std::uint64_t base, std::uint32_t element, std::uint64_t elements) {
  const auto sizes = factor(random, elements, 1 + random() % 4);
  std::vector<std::size_t> order(sizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (random() % 2 == 0) std::shuffle(order.begin(), order.end(), random);
  Nest nest{base, element, {}};
  for (const std::uint64_t size : sizes) nest.loops.emplace_back(size, 0);
  std::int64_t pitch = static_cast<std::int64_t>(element);
  for (std::size_t i = order.size(); i-- > 0;) {
    nest.loops[order[i]].second = pitch;
    pitch *= static_cast<std::int64_t>(sizes[order[i]]);
    if (random() % 3 == 0) pitch += static_cast<std::int64_t>(element * (random() % 5));
  }
  for (auto& [size, stride] : nest.loops)
    if (random() % 5 == 0) {
      nest.start += static_cast<std::uint64_t>(stride) * (size - 1);
      stride = -stride;
    }
  return nest;
}

struct Case {
  Nest source;
  Nest target;
};

std::vector<Case> random_cases(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<Case> cases;
  constexpr std::uint64_t room = 0x8000;
  for (std::size_t i = 0; i < count; ++i) {
    constexpr std::uint32_t elements_of[] = {1, 2, 4, 8};
    const std::uint32_t element = elements_of[random() % 4];
    constexpr std::uint64_t counts[] = {1, 2, 7, 12, 60, 64, 105, 240, 256, 360, 512, 720};
    const std::uint64_t elements = counts[random() % 12];
    cases.push_back({random_nest(random, source_address + i * room, element, elements),
                     random_nest(random, target_address + i * room, element, elements)});
  }
  return cases;
}

struct Result {
  std::vector<std::byte> target;
  std::vector<Completed> completed;
};

constexpr std::size_t cases_a_run = 24;
constexpr std::size_t image_bytes = cases_a_run * 0x8000;

Result run_cases(const std::vector<Case>& cases, const BenchSetup& setup) {
  Bench bench(setup);
  Result result;
  bench.run([&] {
    if (bench.foreign_source)
      for (std::size_t i = 0; i < image_bytes; ++i)
        bench.foreign_source->bytes[i] = static_cast<unsigned char>(i % 251);
    else
      bench.preload(source_address, ramp(image_bytes));
    if (!bench.foreign_target) bench.preload(target_address, std::vector<std::byte>(image_bytes));
    // Copy i on engine i mod engines, there on one of three queues; all doorbells of an engine in one instant.
    const std::size_t engines = bench.engines.size();
    for (unsigned e = 0; e < engines; ++e) {
      std::array<std::vector<Descriptor>, 3> queues;
      for (std::size_t i = e; i < cases.size(); i += engines)
        queues[i / engines % 3].push_back(
            copy(cases[i].source.pattern(), cases[i].target.pattern(), static_cast<std::uint8_t>(i)));
      for (unsigned q = 0; q < 3; ++q) bench.program(q, queues[q], 64, e);
      for (unsigned q = 0; q < 3; ++q) bench.engines[e]->trigger(q, static_cast<std::uint32_t>(queues[q].size()), 1);
    }
    bench.wait_completions(cases.size());
    result.completed = bench.sink.completed;
    if (bench.foreign_target)
      for (std::size_t i = 0; i < image_bytes; ++i)
        result.target.push_back(static_cast<std::byte>(bench.foreign_target->bytes[i]));
    else
      result.target = bench.peek(target_address, image_bytes);
  });
  return result;
}

std::vector<std::byte> oracle(const std::vector<Case>& cases) {
  std::vector<std::byte> target(image_bytes);
  for (const Case& item : cases) {
    const auto from = item.source.addresses();
    const auto to = item.target.addresses();
    for (std::size_t i = 0; i < from.size(); ++i)
      target[to[i] - target_address] = static_cast<std::byte>((from[i] - source_address) % 251);
  }
  return target;
}

BenchSetup realistic() {
  BenchSetup setup;
  setup.engine = Parameters{};
  setup.engine.packet_bytes = 256;
  setup.engine.packet_runs = 16;
  setup.source = flat_memory(512, 64);
  setup.source.clock_hz = 1'400'000'000;
  setup.source.latency_ns = 120;
  setup.target = flat_memory(300, 32);
  return setup;
}

class RandomCopies : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomCopies, GiveTheOraclesBytes) {
  const auto cases = random_cases(GetParam(), cases_a_run);
  EXPECT_TRUE(run_cases(cases, realistic()).target == oracle(cases)) << "seed " << GetParam();
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomCopies, ::testing::Range<std::uint64_t>(1, 31));

class ForeignCopies : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(ForeignCopies, GiveTheSameBytesFromAForeignSource) {
  const auto cases = random_cases(GetParam(), cases_a_run);
  BenchSetup setup = realistic();
  setup.foreign_source = true;
  EXPECT_TRUE(run_cases(cases, setup).target == oracle(cases)) << "seed " << GetParam();
}
TEST_P(ForeignCopies, GiveTheSameBytesToAForeignTarget) {
  const auto cases = random_cases(GetParam(), cases_a_run);
  BenchSetup setup = realistic();
  setup.foreign_target = true;
  EXPECT_TRUE(run_cases(cases, setup).target == oracle(cases)) << "seed " << GetParam();
}
TEST_P(ForeignCopies, GiveTheSameBytesBetweenForeignMemories) {
  const auto cases = random_cases(GetParam(), cases_a_run);
  BenchSetup setup = realistic();
  setup.foreign_source = setup.foreign_target = true;
  EXPECT_TRUE(run_cases(cases, setup).target == oracle(cases)) << "seed " << GetParam();
}
INSTANTIATE_TEST_SUITE_P(Seeds, ForeignCopies, ::testing::Range<std::uint64_t>(100, 104));

// ---- Quantum and construction order change neither bytes nor times.

std::uint64_t digest(const Result& result) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  const auto add = [&hash](std::uint64_t value) {
    for (int i = 0; i < 8; ++i, value >>= 8) hash = (hash ^ (value & 0xff)) * 1099511628211u;
  };
  for (const Completed& item : result.completed) {
    add(item.semaphore);
    add(item.at_ps);
  }
  for (const std::byte byte : result.target) add(std::to_integer<std::uint64_t>(byte));
  return hash;
}

// One elaboration a process: each variant runs in a child.
std::uint64_t digest_in_child(std::uint64_t quantum_ps, bool reversed) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    BenchSetup setup = realistic();
    setup.engines = 3;
    setup.options.quantum_ps = quantum_ps;
    setup.reversed = reversed;
    const std::uint64_t hash = digest(run_cases(random_cases(7, cases_a_run), setup));
    _exit(write(ends[1], &hash, sizeof hash) == sizeof hash ? 0 : 1);
  }
  close(ends[1]);
  std::uint64_t hash = 0;
  const bool whole = read(ends[0], &hash, sizeof hash) == sizeof hash;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return whole && status == 0 ? hash : 0;
}

TEST(SameTimes, AtAnyQuantumAndConstructionOrder) {
  const std::uint64_t expected = digest_in_child(0, false);
  ASSERT_NE(expected, 0u);
  for (const std::uint64_t quantum_ps : {0u, 1'000'000u, 100'000'000u})
    for (const bool reversed : {false, true})
      EXPECT_EQ(digest_in_child(quantum_ps, reversed), expected) << quantum_ps << " ps, reversed " << reversed;
}

}  // namespace
}  // namespace tilevp::dma::testing
