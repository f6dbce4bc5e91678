// What must not depend on how a run is made: other memories behind the sockets, arithmetic off, the quantum. And how
// streams wait, end and are seen from the host.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "core_bench.hpp"
#include "support/in_child.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/registers.hpp"
#include "tilevp/neuroncore/tile_geometry.hpp"

namespace {

using namespace tilevp::neuroncore;
using namespace tilevp::neuroncore::test;
using tilevp::numeric::DType;
using tilevp::test::in_child;

constexpr unsigned whole_group = matmul_start | matmul_stop;
constexpr std::uint32_t result_at = 32'768;

using Words = std::vector<std::uint64_t>;

// ---- A program that uses every engine, with semaphores where it must.

void put_program(CoreBench& bench) {
  const auto bf16_in = [](Instruction i) { return with_dtypes(i, DType::fp32, DType::bf16, DType::bf16); };
  Instruction strided = matmul(32, 24, 100, 0, 4096, 1, whole_group);
  strided.destination.dims = {Dim{0, 1}, Dim{100, 2}, Dim{2, 50}};
  bench.program(Engine::pe, {matmul(32, 24, 100, 0, 4096, 0, matmul_start),
                             updating(matmul(32, 24, 100, 0, 4096 + 128, 0, matmul_accumulate | matmul_stop), 1),
                             updating(strided, 1), wait_for(2, 1),
                             updating(matmul(32, 24, 100, 0, 4096, 0, whole_group | matmul_reuse), 1)});
  bench.program(
      Engine::vector,
      {wait_for(1, 2),
       tensor_tensor(sbuf_tile(0, result_at, 100), psum_tile(0, 0, 100), AluOp::add, sbuf_tile(0, 8192, 100), 24),
       updating(
           tensor_scalar(sbuf_tile(0, result_at + 512, 100), sbuf_tile(0, result_at, 100), 24, AluOp::multiply, 0.25F),
           2)});
  bench.program(Engine::scalar,
                {wait_for(1, 3), activation(sbuf_tile(0, result_at + 1024, 50), psum_tile(0, 1, 50, 0, 2), 24,
                                            Function::relu, 0.5F, 1.0F)});
  bench.program(Engine::gpsimd,
                {memset(sbuf_tile(0, result_at + 2048, 40, 2), 32, 3.5F, DType::bf16),
                 bf16_in(tensor_copy(sbuf_tile(0, result_at + 2304, 40), sbuf_tile(0, result_at + 2048, 40, 2), 32))});
}

float input(unsigned partition, unsigned column) {
  return static_cast<float>(static_cast<int>((partition * 37 + column * 11) % 23) - 11) / 4.0F;
}

// Calls fn(partition, offset, values, dtype) for what the program reads.
template <class Fn>
void for_each_input(Fn&& fn) {
  std::vector<float> row(200);
  for (unsigned p = 0; p < 32; ++p) {
    for (unsigned c = 0; c < row.size(); ++c) row[c] = input(p, c);
    fn(p, 0U, row, DType::bf16);
    fn(p, 4096U, row, DType::bf16);
    fn(p, 8192U, row, DType::fp32);
  }
}

Words words_of(const std::vector<std::byte>& bytes) {
  Words words;
  for (const std::byte b : bytes) words.push_back(std::to_integer<std::uint64_t>(b));
  return words;
}

void append(Words& words, const std::vector<std::byte>& bytes) {
  const Words more = words_of(bytes);
  words.insert(words.end(), more.begin(), more.end());
}

// Results of the program: PSUM bank 0 and three tiles of SBUF.
struct ResultTile {
  Space space;
  std::uint32_t offset;
  std::uint32_t bytes;
  unsigned partitions;
};
constexpr ResultTile results[] = {{Space::psum, 0, 400, 24},
                                  {Space::sbuf, result_at, 912, 24},
                                  {Space::sbuf, result_at + 1024, 200, 24},
                                  {Space::sbuf, result_at + 2304, 160, 32}};

Words times_of(const CoreBench& bench) {
  Words words;
  for (const Engine engine : {Engine::pe, Engine::scalar, Engine::gpsimd, Engine::vector})
    for (const auto& r : bench.of(engine))
      for (const std::uint64_t t : {r.requested_ps, r.begin_ps, r.end_ps, r.complete_ps}) words.push_back(t);
  return words;
}

enum class What { bytes, times };

Words run_direct(What what, const tilevp::SimulationOptions& options = {}) {
  CoreBench bench({.simulation = options});
  bench.before = [&] {
    for_each_input([&](unsigned p, std::uint32_t at, const std::vector<float>& row, DType dtype) {
      bench.write_floats(Space::sbuf, p, at, row, dtype);
    });
  };
  put_program(bench);
  Words bytes;
  bench.after = [&] {
    for (const ResultTile& tile : results)
      for (unsigned p = 0; p < tile.partitions; ++p) {
        if (tile.offset == result_at) {  // a gap of 112 bytes nobody wrote between the two rows
          append(bytes, bench.read(tile.space, p, tile.offset, 400));
          append(bytes, bench.read(tile.space, p, tile.offset + 512, 400));
        } else {
          append(bytes, bench.read(tile.space, p, tile.offset, tile.bytes));
        }
      }
  };
  bench.run();
  return what == What::bytes ? bytes : times_of(bench);
}

// ---- Memories of the test's own, which are not direct.

class RecordingMemory : public sc_core::sc_module {
 public:
  tlm_utils::multi_passthrough_target_socket<RecordingMemory, 32, TileProtocol> tiles{"tiles"};

  explicit RecordingMemory(sc_core::sc_module_name name) : sc_module(name), bytes_(128 * row_bytes) {
    tiles.register_b_transport(this, &RecordingMemory::b_transport);
  }
  std::byte* at(unsigned partition, std::uint32_t offset) { return bytes_.data() + partition * row_bytes + offset; }
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;

 private:
  static constexpr std::size_t row_bytes = 65'536;

  void b_transport(int, TileAccess& access, sc_core::sc_time&) {
    if (access.command == TileAccess::Command::query) return;
    const std::size_t size = tilevp::numeric::size_bytes(access.dtype);
    ASSERT_EQ(access.data.size(), access.operand.elements() * size * access.partitions);
    (access.command == TileAccess::Command::read ? bytes_read : bytes_written) += access.data.size();
    std::byte* packed = access.data.data();
    const auto& [outer, middle, inner] = access.operand.dims;
    for (unsigned p = 0; p < access.partitions; ++p)
      for (int i = 0; i < outer.num; ++i)
        for (int j = 0; j < middle.num; ++j)
          for (int k = 0; k < inner.num; ++k, packed += size) {
            const int element = i * outer.step + j * middle.step + k * inner.step;
            std::byte* cell =
                at(access.operand.partition + p, access.operand.offset) + element * static_cast<int>(size);
            move(access, packed, cell, size);
          }
  }
  static void move(const TileAccess& access, std::byte* packed, std::byte* cell, std::size_t size) {
    if (access.command == TileAccess::Command::read) {
      std::memcpy(packed, cell, size);
    } else if (access.writer == Writer::matmul_accumulate) {
      float sum;
      float product;
      std::memcpy(&sum, cell, 4);
      std::memcpy(&product, packed, 4);
      sum = sum + product;
      std::memcpy(cell, &sum, 4);
    } else {
      std::memcpy(cell, packed, size);
    }
  }

  std::vector<std::byte> bytes_;
};

Words run_on_recorders(Words& traffic) {
  CoreBench bench({.memories = NeuronCore::Memories::open});
  RecordingMemory sbuf("sbuf_recorder");
  RecordingMemory psum("psum_recorder");
  bench.core.pe().sbuf.socket.bind(sbuf.tiles);
  bench.core.pe().psum.socket.bind(psum.tiles);
  for (const Engine engine : {Engine::scalar, Engine::gpsimd, Engine::vector}) {
    bench.core.tile_engine(engine).sbuf.socket.bind(sbuf.tiles);
    if (engine != Engine::gpsimd) bench.core.tile_engine(engine).psum->socket.bind(psum.tiles);
  }
  for_each_input([&](unsigned p, std::uint32_t at, const std::vector<float>& row, DType dtype) {
    tilevp::numeric::store_from_fp32(dtype, row.data(), row.size(), sbuf.at(p, at), 1);
  });
  put_program(bench);
  bench.run();
  traffic = {sbuf.bytes_read, sbuf.bytes_written, psum.bytes_read, psum.bytes_written};
  Words bytes;
  const auto take = [&](const ResultTile& tile, unsigned p, std::uint32_t offset, std::uint32_t count) {
    const std::byte* from = (tile.space == Space::sbuf ? sbuf : psum).at(p, offset);
    append(bytes, {from, from + count});
  };
  for (const ResultTile& tile : results)
    for (unsigned p = 0; p < tile.partitions; ++p) {
      if (tile.offset == result_at) {
        take(tile, p, result_at, 400);
        take(tile, p, result_at + 512, 400);
      } else {
        take(tile, p, tile.offset, tile.bytes);
      }
    }
  return bytes;
}

TEST(OtherMemories, RecordersSeeEveryByteAndGiveTheSameBits) {
  const Words direct = in_child([] { return run_direct(What::bytes); });
  Words traffic;
  const Words recorded = run_on_recorders(traffic);
  ASSERT_EQ(direct.size(), 24U * 400 + 24U * 800 + 24U * 200 + 32U * 160);
  EXPECT_EQ(recorded, direct);
  // By hand. SBUF reads: 3 loads of 32x24 bf16 (the last matmul reuses), 4 moving tiles of 32x100 bf16, two 24x100 fp32
  // (vector), 32x40 bf16 (gpsimd).
  EXPECT_EQ(traffic[0], 3U * 32 * 24 * 2 + 4U * 32 * 100 * 2 + 2U * 24 * 100 * 4 + 32U * 40 * 2);
  // Writes: two 24x100 fp32 (vector), 24x50 fp32 (scalar), 32x40 bf16 and 32x40 fp32 (gpsimd).
  EXPECT_EQ(traffic[1], 2U * 24 * 100 * 4 + 24U * 50 * 4 + 32U * 40 * 2 + 32U * 40 * 4);
  EXPECT_EQ(traffic[2], 24U * 100 * 4 + 24U * 50 * 4);
  EXPECT_EQ(traffic[3], 4U * 24 * 100 * 4);
}

TEST(Times, AreTheSameWithArithmeticOffAndAtEveryQuantum) {
  const Words reference = in_child([] { return run_direct(What::times); });
  ASSERT_EQ(reference.size(), 4U * (4 + 1 + 2 + 2));
  EXPECT_EQ(in_child([] { return run_direct(What::times, {.arithmetic = false}); }), reference);
  for (const std::uint64_t quantum_ps : {1'000'000ULL, 100'000'000ULL})
    EXPECT_EQ(in_child([=] { return run_direct(What::times, {.quantum_ps = quantum_ps}); }), reference) << quantum_ps;
}

TEST(Bytes, AreTheSameAtEveryQuantum) {
  const Words reference = in_child([] { return run_direct(What::bytes); });
  EXPECT_EQ(in_child([] { return run_direct(What::bytes, {.quantum_ps = 100'000'000}); }), reference);
}

// ---- Streams.

TEST(Streams, AWaitNobodyAnswersEndsTheRunWithTheWaiterNamed) {
  CoreBench bench;
  bench.program(Engine::vector, {memset(sbuf_tile(0, 0, 8), 8, 1), add_to(7, 3), wait_for(7, 5)});
  try {
    bench.run();
    FAIL() << "the run ended well";
  } catch (const tilevp::NoEnd& end) {
    ASSERT_EQ(end.waiting().size(), 1U);
    const auto& waiting = end.waiting()[0];
    EXPECT_EQ(waiting.who, "core0.vector #2 semaphore");
    EXPECT_EQ(waiting.what, "semaphore 7 of core0");
    EXPECT_EQ(waiting.has, "3");
    EXPECT_EQ(waiting.wants, ">= 5");
  }
}

TEST(Streams, AReleasedInstructionNamesItsCause) {
  CoreBench bench;
  bench.program(Engine::vector, {updating(memset(sbuf_tile(0, 0, 8), 8, 1), 4)});
  bench.program(Engine::gpsimd, {wait_for(4, 1), memset(sbuf_tile(0, 64, 8), 8, 1)});
  bench.run();
  const auto producer = bench.of(Engine::vector).at(0);
  const auto consumer = bench.of(Engine::gpsimd).at(0);
  EXPECT_EQ(consumer.cause, producer.id);
  EXPECT_EQ(producer.cause, 0U);
  EXPECT_GE(consumer.begin_ps, producer.complete_ps);
  EXPECT_EQ(bench.statistic("gpsimd", "stalled_semaphore_ps") > 0, true);
}

// Between engines there is no interlock: without the semaphore the reader takes what is there.
TEST(Streams, WithoutASemaphoreTheReaderIsTooEarly) {
  CoreBench bench;
  bench.program(Engine::vector, {memset(sbuf_tile(0, 0, 4096), 8, 1)});
  bench.program(Engine::scalar, {activation(sbuf_tile(0, 32'768, 8), sbuf_tile(0, 0, 8), 8, Function::copy)});
  try {
    bench.run();
    FAIL() << "nothing was raised";
  } catch (const tilevp::Fault& fault) {
    EXPECT_EQ(fault.rule(), "sbuf.undefined_read");
  }
}

TEST(Streams, HostSeesIdentityStatusAndCounts) {
  CoreBench bench;
  bench.program(Engine::vector, {memset(sbuf_tile(0, 0, 8), 8, 1), add_to(7, 3), control(Opcode::drain)});
  const std::uint64_t vector = registers::sequencer(static_cast<unsigned>(Engine::vector));
  Words before;
  const auto sample = [&] {
    return Words{bench.register_value(vector + registers::status, 4),
                 bench.register_value(vector + registers::executed, 4),
                 bench.register_value(registers::semaphore(7), 4)};
  };
  bench.before = [&] { before = sample(); };
  Words after;
  Words identity;
  bench.after = [&] {
    after = sample();
    for (const auto offset : {registers::generation, registers::partitions, registers::sbuf_partition_bytes,
                              registers::psum_bank_count, registers::interrupt})
      identity.push_back(bench.register_value(offset, 4));
  };
  bench.run();
  EXPECT_EQ(before, (Words{0, 0, 0}));
  EXPECT_EQ(after, (Words{2, 4, 3}));
  EXPECT_EQ(identity, (Words{2, 128, 180'224, 8, 0}));
}

class Doorbells : public DmaTrigger {
 public:
  Words rung;
  void trigger(unsigned queue, std::uint32_t descriptors, std::uint64_t cause) override {
    rung.insert(rung.end(), {queue, descriptors, cause != 0 ? 1U : 0U, sc_core::sc_time_stamp().value()});
  }
  std::uint64_t bytes_written(unsigned queue) const override { return 1000 + queue; }
};

TEST(Streams, ATriggerWaitsThenRingsItsQueue) {
  CoreBench bench;
  Doorbells doorbells;
  bench.core.connect_dma(doorbells, 16, 16);
  Instruction trigger = control(Opcode::dma_trigger);
  trigger.queue = 5;
  trigger.descriptors = 2;
  trigger.waits[1] = {Condition::ge, 1, 1};
  bench.program(Engine::sync, {trigger});
  bench.program(Engine::vector, {updating(memset(sbuf_tile(0, 0, 8), 8, 1), 1)});
  Words seen;
  bench.after = [&] {
    seen = {bench.register_value(registers::dma_engines, 4),
            bench.register_value(registers::counter_queue_bytes(5), 8)};
  };
  bench.run();
  ASSERT_EQ(doorbells.rung.size(), 4U);
  EXPECT_EQ(doorbells.rung[0], 5U);
  EXPECT_EQ(doorbells.rung[1], 2U);
  EXPECT_EQ(doorbells.rung[2], 1U);
  EXPECT_EQ(doorbells.rung[3], bench.of(Engine::vector).at(0).complete_ps);
  EXPECT_EQ(seen, (Words{16, 1005}));
}

// The window of 64 instructions: matmuls of one column are a cycle apart, their results 400 cycles away.
TEST(Streams, AFullWindowWaitsForItsOldest) {
  CoreBench bench;
  bench.before = [&] { bench.write_floats(Space::sbuf, 0, 0, std::vector<float>(32, 1.0F)); };
  std::vector<Instruction> stream;
  for (unsigned i = 0; i < 66; ++i) stream.push_back(matmul(1, 1, 1, 0, 64, i % 8, whole_group));
  bench.program(Engine::pe, stream);
  bench.run();
  const auto records = bench.of(Engine::pe);
  EXPECT_GE(records[64].begin_ps, records[0].complete_ps);
  EXPECT_LT(records[63].begin_ps, records[0].complete_ps);
}

}  // namespace
