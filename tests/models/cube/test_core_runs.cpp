// What must not depend on how a run is made, what a bundle leaves alone, and resets.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>

#include "cube_bench.hpp"
#include "support/in_child.hpp"
#include "tilevp/base/errors.hpp"

namespace tilevp::cube::test {
namespace {

using tilevp::test::in_child;
using Numbers = std::vector<std::uint64_t>;

constexpr std::uint64_t out_at = data_address + 0x8000;
constexpr unsigned t1 = 0, u1 = 16, m1 = 32;

std::vector<std::uint16_t> small_halves(std::size_t count) {  // 1 to 8 in FP16, by turns
  constexpr std::array<std::uint16_t, 8> values{0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800};
  std::vector<std::uint16_t> halves;
  for (std::size_t i = 0; i < count; ++i) halves.push_back(values[i * 5 % 8]);
  return halves;
}

// Loads, products of one PE and of all, sums that start from a tile before, stores: every unit works beside the others.
Words mixed_program(unsigned rounds) {
  Words words;
  words.load(data_address, nd2m16, DataType::fp16, 1, 32, 4, Hand::t);
  for (unsigned i = 0; i < rounds; ++i) {
    words.load(data_address + 64 * (i % 4), nd2n8, DataType::fp16, 32, 8, 3, Hand::u);
    words.command(BStart{Operation::tgemv, DataType::fp16}).command(BFpatr{});
    words.command(BDim{.dimension = 1, .immediate = 8}).command(BDim{.dimension = 2, .immediate = 32});
    words.command(
        BIot{.sources = 2, .source = {t1, u1}, .last = true, .size_code = 3, .destination = Hand::m, .pe_mode = 7});
    // Closes the bundle before.
    words.command(BStart{Operation::tgemv_acc, DataType::fp16}).command(BFpatr{});
    words.command(BDim{.dimension = 1, .immediate = 8}).command(BDim{.dimension = 2, .immediate = 32});
    words.command(BIot{.sources = 2, .source = {m1, t1}, .pe_mode = 2});
    words.command(
        BIot{.sources = 1, .source = {u1, 0}, .last = true, .size_code = 3, .destination = Hand::n, .pe_mode = 2});
    words.command(BStop{});
    words.store(out_at + 32 * i, m162nd, DataType::fp32, 1, 8, m1);
  }
  return words;
}

void add_records(const std::vector<BundleRecord>& records, Numbers& to) {
  for (const BundleRecord& is : records)
    for (const std::uint64_t number : {is.index, is.pc, is.id, is.fetch, is.requested_ps, is.ready_ps, is.begin_ps,
                                       is.end_ps, is.commit_ps, std::uint64_t{is.mask}})
      to.push_back(number);
}

// Times and bytes of the whole run.
Numbers run_mixed(const BenchOptions& options) {
  constexpr unsigned rounds = 20;
  CubeBench bench(options);
  bench.data(data_address, bytes_of(small_halves(1024)));
  bench.program(mixed_program(rounds));
  Numbers result;
  bench.after = [&] {
    const Bytes out = bench.read(out_at, 32 * rounds);
    const auto* const raw = reinterpret_cast<const unsigned char*>(out.data());
    result.assign(raw, raw + out.size());
  };
  bench.run();
  add_records(bench.records, result);
  result.push_back(sc_core::sc_time_stamp().value());
  return result;
}

BenchOptions slow_memory() {
  BenchOptions options;
  options.memory.latency_ns = 37.3;
  return options;
}

TEST(CubeRuns, SameTimesAndBytesAtAnyQuantumAndConstructionOrder) {
  const Numbers reference = in_child([] { return run_mixed(slow_memory()); });
  ASSERT_GT(reference.size(), 800u);
  for (const std::uint64_t quantum_ps : {0ULL, 1'000'000ULL, 100'000'000ULL})
    for (const bool host_first : {true, false})
      EXPECT_EQ(in_child([=] {
                  BenchOptions options = slow_memory();
                  options.simulation.quantum_ps = quantum_ps;
                  options.host_first = host_first;
                  return run_mixed(options);
                }),
                reference)
          << quantum_ps << " ps, host first " << host_first;
}

TEST(CubeRuns, SumsOfTheMixedProgram) {
  // Row k of B is A's element pattern shifted; recomputed here element by element.
  const std::vector<std::uint16_t> halves = small_halves(1024);
  const auto value = [&](std::size_t i) { return static_cast<float>(1 + i * 5 % 8); };
  CubeBench bench;
  bench.data(data_address, bytes_of(halves));
  bench.program(mixed_program(3));
  bench.after = [&] {
    for (unsigned i = 0; i < 3; ++i) {
      std::vector<float> expected(8);
      for (unsigned n = 0; n < 8; ++n)
        for (unsigned k = 0; k < 32; ++k) expected[n] += value(k) * value(32 * i + std::size_t{k} * 8 + n);
      EXPECT_EQ(bench.read(out_at + 32 * i, 32), bytes_of(expected)) << i;
    }
  };
  bench.run();
}

// 2-, 4- and 6-byte instructions across the borders of blocks.
TEST(CubeRuns, InstructionsMayLieAcrossBlocks) {
  for (const std::uint32_t fetch_bytes : {8U, 10U, 14U}) {
    const Numbers bytes = in_child([fetch_bytes] {
      BenchOptions options = slow_memory();
      options.parameters.sequencer.fetch_bytes = fetch_bytes;
      CubeBench bench(options);
      bench.data(data_address, bytes_of(std::vector<std::uint16_t>(128, 0x3c00)));
      Words words;
      words.load(data_address, nd2m16, DataType::fp16, 1, 9, 3, Hand::t);
      words.load(data_address, nd2n8, DataType::fp16, 9, 10, 4, Hand::u);
      words.words({0x21031181, 0x00002023}).half(0x42bc).half(0x827c).words({0x400a4f13}).half(0);  // C.BSTOP
      words.store(out_at, m162nd, DataType::fp32, 1, 10, m1);
      bench.program(words);
      Numbers result;
      bench.after = [&] {
        for (const std::byte byte : bench.read(out_at, 40)) result.push_back(std::to_integer<std::uint64_t>(byte));
      };
      bench.run();
      return result;
    });
    const Bytes nines = bytes_of(std::vector<float>(10, 9.0F));
    ASSERT_EQ(bytes.size(), nines.size()) << fetch_bytes;
    for (std::size_t i = 0; i < nines.size(); ++i)
      EXPECT_EQ(bytes[i], std::to_integer<std::uint64_t>(nines[i])) << fetch_bytes << " byte " << i;
  }
}

TEST(CubeRuns, ArithmeticOffChangesNoTime) {
  const auto times = [](bool arithmetic) {
    return in_child([=] {
      BenchOptions options = slow_memory();
      options.simulation.arithmetic = arithmetic;
      CubeBench bench(options);
      bench.data(data_address, bytes_of(small_halves(1024)));
      bench.program(mixed_program(5));
      bench.run();
      Numbers numbers;
      add_records(bench.records, numbers);
      return numbers;
    });
  };
  EXPECT_EQ(times(false), times(true));
}

TEST(CubeRuns, PesOutsideTheMaskKeepTheirBytes) {
  CubeBench bench;
  bench.data(data_address, bytes_of(small_halves(64)));
  Words words;
  constexpr unsigned pe1 = 2, all = 7;
  words.load(data_address, nd2m16, DataType::fp16, 1, 4, 1, Hand::t, all);
  words.load(data_address, nd2n8, DataType::fp16, 4, 4, 1, Hand::u, all);
  // A tile of PE1 alone in M#1, over whose slot nothing in another PE may change.
  words.command(BStart{Operation::tgemv, DataType::fp16}).command(BFpatr{});
  words.command(BDim{.dimension = 1, .immediate = 4}).command(BDim{.dimension = 2, .immediate = 4});
  words.command(
      BIot{.sources = 2, .source = {t1, u1}, .last = true, .size_code = 2, .destination = Hand::m, .pe_mode = pe1});
  words.command(BStop{});
  bench.program(words);
  bench.after = [&] {
    for (unsigned pe = 0; pe < pes; ++pe) EXPECT_EQ(bench.tile(t1, pe, 128), bench.tile(t1, 0, 128)) << pe;
    EXPECT_EQ(bench.get(registers::tile_info(m1) + registers::tile_mask), 0b0100u);
    EXPECT_NE(bench.tile(m1, 1, 4), Bytes(4));
    EXPECT_THROW(bench.tile(m1, 0, 4), Fault);
  };
  bench.run();
}

TEST(CubeRuns, MaskZeroDoesNothingWhateverElseTheBundleSays) {
  CubeBench bench;
  Words words;
  words.words({0xc1031181, 0x00001013 | 0x00004013, 0x00000001});  // no B.FPATR, garbage operands, PEMode 0
  bench.program(words);
  bench.after = [&] {
    EXPECT_EQ(bench.get(registers::counter_bundles, 8), 1u);
    EXPECT_EQ(bench.get(registers::counter_macs, 8), 0u);
    EXPECT_EQ(bench.get(registers::status), static_cast<std::uint64_t>(registers::Status::halted));
  };
  bench.run();
}

TEST(CubeRuns, CountersSayWhatWasPaddingAndWhatWasNot) {
  CubeBench bench;
  bench.data(data_address, bytes_of(small_halves(256)));
  Words words;
  words.load(data_address, nd2m16, DataType::fp16, 1, 9, 3, Hand::t, 1);
  words.load(data_address, nd2n8, DataType::fp16, 9, 10, 4, Hand::u, 1);
  words.command(BStart{Operation::tgemv, DataType::fp16}).command(BFpatr{});
  words.command(BDim{.dimension = 1, .immediate = 10}).command(BDim{.dimension = 2, .immediate = 9});
  words.command(
      BIot{.sources = 2, .source = {t1, u1}, .last = true, .size_code = 4, .destination = Hand::m, .pe_mode = 1});
  words.command(BStop{});
  bench.program(words);
  bench.after = [&] {
    EXPECT_EQ(bench.get(registers::counter_macs, 8), 90u);
    EXPECT_EQ(bench.get(registers::counter_issued_macs, 8), 4096u);  // one step of 16 x 16 x 16
    EXPECT_EQ(bench.get(registers::counter_loads, 8), 2u);
  };
  bench.run();
  EXPECT_EQ(bench.statistic("", "row_padding_macs"), 15u * 90);
  EXPECT_EQ(bench.statistic("", "step_padding_macs"), 4096u - 16 * 90);
  // 6 cycles from idle, and 4 of reading 896 bytes for one step: 9 in which 4096 could have been done.
  EXPECT_EQ(bench.statistic("", "waiting_macs"), 9u * 4096);
}

// ---- A memory that only records, in the place of the one behind TLOAD and TSTORE.

struct Recorder : sc_core::sc_module {
  tlm_utils::simple_target_socket<Recorder> socket{"socket"};
  std::vector<std::uint64_t> addresses;
  explicit Recorder(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &Recorder::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    addresses.push_back(payload.get_address());
    delay += sc_core::sc_time(10, sc_core::SC_NS);
    if (payload.is_read()) std::memset(payload.get_data_ptr(), 0, payload.get_data_length());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

TEST(CubeRuns, AGemvTouchesNoMemory) {
  BenchOptions options;
  options.bind_transfers = false;
  CubeBench bench(options);
  Recorder recorder("recorder");
  bench.core->memory_socket().bind(recorder.socket);
  Words words;
  words.load(data_address, nd2m16, DataType::fp16, 1, 4, 1, Hand::t);
  words.load(data_address + 0x100, nd2n8, DataType::fp16, 4, 2, 1, Hand::u);
  words.words({0x21031181, 0x00002023, 0x00201043, 0x00402043, 0x4008cf13, 0x00000001});
  bench.program(words);
  bench.run();
  EXPECT_EQ(recorder.addresses, (Numbers{data_address, data_address + 0x100}));  // A, B
  EXPECT_EQ(bench.records.size(), 3u);
}

// ---- A memory with direct access whose bytes lie backwards on the host: only it knows where.

struct Backwards : sc_core::sc_module, private memory::DirectMemory {
  tlm_utils::simple_target_socket<Backwards> socket{"socket"};
  Bytes reversed;
  unsigned gathered = 0;
  unsigned scattered = 0;

  Backwards(const sc_core::sc_module_name& name, std::size_t size) : sc_module(name), reversed(size) {
    socket.register_b_transport(this, &Backwards::b_transport);
    socket.register_transport_dbg(this, &Backwards::transport_dbg);
  }
  std::byte& at(std::uint64_t address) { return reversed[reversed.size() - 1 - (address - data_address)]; }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    auto& access = *payload.get_extension<memory::MemoryAccess>();
    access.served = true;
    access.begin_ps = now_ps();
    access.end_ps = now_ps() + 1000;
    answer(access);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    if (auto* const access = payload.get_extension<memory::MemoryAccess>()) answer(*access);
    return 0;
  }
  void answer(memory::MemoryAccess& access) {
    access.direct = this;
    access.direct_pattern = access.pattern;
  }
  void gather(const memory::AccessPattern& pattern, std::byte* out) const override {
    const_cast<Backwards*>(this)->gathered += 1;
    pattern.for_each_run([&](std::uint64_t address, std::uint64_t bytes) {
      for (std::uint64_t i = 0; i < bytes; ++i) *out++ = const_cast<Backwards*>(this)->at(address + i);
    });
  }
  void scatter(const memory::AccessPattern& pattern, const std::byte* in) override {
    scattered += 1;
    pattern.for_each_run([&](std::uint64_t address, std::uint64_t bytes) {
      for (std::uint64_t i = 0; i < bytes; ++i) at(address + i) = *in++;
    });
  }
  HostRange extent(const memory::AccessPattern&) const override { return HostRange::everything(); }
  void commit_read(const memory::AccessPattern&, const std::string&) override {}
  void commit_write(const memory::AccessPattern&) override {}
};

TEST(CubeRuns, MemoryWithoutARangeOfTheHostIsGathered) {
  const Numbers expected = in_child([] { return run_mixed({}); });  // first: SystemC elaborates once
  BenchOptions options;
  options.bind_transfers = false;
  CubeBench bench(options);
  Backwards memory("backwards", 0x1'0000);
  bench.core->memory_socket().bind(memory.socket);
  const Bytes data = bytes_of(small_halves(1024));
  for (std::size_t i = 0; i < data.size(); ++i) memory.at(data_address + i) = data[i];
  constexpr unsigned rounds = 3;
  bench.program(mixed_program(rounds));
  bench.run();
  Bytes out(32 * rounds);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = memory.at(out_at + i);
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(std::to_integer<std::uint64_t>(out[i]), expected[i]) << i;
  EXPECT_GE(memory.gathered, 1 + rounds);
  EXPECT_EQ(memory.scattered, rounds);
}

// ---- Reset.

TEST(CubeRuns, ResetInFlightThenTheProgramAgain) {
  CubeBench bench(slow_memory());
  bench.data(data_address, bytes_of(small_halves(1024)));
  bench.program(mixed_program(10));
  bench.host = [&] {
    bench.start();
    sc_core::wait(sc_core::sc_time(700, sc_core::SC_NS));
    EXPECT_EQ(bench.get(registers::status), static_cast<std::uint64_t>(registers::Status::running));
    bench.set(registers::reset, 4, 1);
    while (bench.get(registers::reset) != 0) sc_core::wait(sc_core::sc_time(50, sc_core::SC_NS));
    EXPECT_EQ(bench.get(registers::status), static_cast<std::uint64_t>(registers::Status::idle));
    EXPECT_EQ(bench.get(registers::gpr(2), 8), 0u);
    EXPECT_EQ(bench.get(registers::tile_info(t1) + registers::tile_capacity), 0u);
    const std::uint64_t before = bench.get(registers::counter_bundles, 8);
    bench.run_program();
    EXPECT_EQ(bench.get(registers::counter_bundles, 8) - before, 41u);
  };
  bench.run();
}

TEST(CubeRuns, ResetOfACoreThatWaitsForACloser) {
  CubeBench bench;
  Words words;
  words.words({0x21031181, 0x00002023});
  bench.program(words);
  bench.host = [&] {
    bench.start();
    sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
    EXPECT_NE(bench.get(registers::bundle_pc, 8), 0u);
    bench.set(registers::reset, 4, 1);
    while (bench.get(registers::reset) != 0) sc_core::wait(sc_core::sc_time(50, sc_core::SC_NS));
    EXPECT_EQ(bench.get(registers::bundle_pc, 8), 0u);
  };
  bench.run();
}

}  // namespace
}  // namespace tilevp::cube::test
