// A memory that somebody else wrote in the place of HBM: the machine works on it, and every byte goes through it.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <memory>

#include "models/memory/disordered_memory.hpp"
#include "support/report_breach.hpp"
#include "system/conv_kernel.hpp"
#include "system/npy_file.hpp"
#include "tilevp/described/parse.hpp"
#include "tilevp/dma/dma_engine.hpp"
#include "tilevp/interconnect/router.hpp"
#include "tilevp/memory/protocol_checker.hpp"
#include "tilevp/neuroncore/neuroncore.hpp"
#include "tilevp/neuroncore/registers.hpp"
#include "tilevp/platform/host_agent.hpp"

namespace tilevp::test {
namespace {

namespace core_map = neuroncore::registers;

constexpr std::uint64_t memory_bytes = 1 << 22;
constexpr std::uint64_t core_base = std::uint64_t{1} << 44;

// Written with the TLM-2.0 standard alone: no extension, no DMI, no debug access. Fresh bytes are NaNs.
class RecordingMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<RecordingMemory> socket{"socket"};

  RecordingMemory(sc_core::sc_module_name name, std::size_t size) : sc_module(name), bytes_(size, 0xff) {
    socket.register_b_transport(this, &RecordingMemory::b_transport);
  }

  struct Bytes {
    std::uint64_t read = 0;
    std::uint64_t written = 0;
    bool operator==(const Bytes&) const = default;
  };
  // Of the accesses that begin in [begin, end).
  Bytes within(std::uint64_t begin, std::uint64_t end) const {
    Bytes sum;
    for (const Access& access : accesses_)
      if (access.address >= begin && access.address < end) (access.read ? sum.read : sum.written) += access.bytes;
    return sum;
  }

 private:
  struct Access {
    bool read;
    std::uint64_t address;
    std::uint64_t bytes;
  };

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    const unsigned length = payload.get_data_length();
    if (address + length > bytes_.size()) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    if (payload.is_read())
      std::memcpy(payload.get_data_ptr(), bytes_.data() + address, length);
    else
      std::memcpy(bytes_.data() + address, payload.get_data_ptr(), length);
    accesses_.push_back({payload.is_read(), address, length});
    delay += sc_core::sc_time(50, sc_core::SC_NS);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  std::vector<unsigned char> bytes_;
  std::vector<Access> accesses_;
};

dma::Parameters engines_in(memory::CodingStyle style) {
  dma::Parameters parameters;
  parameters.coding_style = style;
  return parameters;
}

// NeuronCore, DMA engines, router and host of our making around a memory of somebody else, bound by hand, with a
// checker of the base protocol between each engine and the router and before the memory.
template <class ForeignMemory = RecordingMemory>
class ForeignPlatform final : private neuroncore::DmaTrigger, private dma::SemaphoreSink {
 public:
  explicit ForeignPlatform(memory::CodingStyle style = memory::CodingStyle::lt) : dma_(engines_in(style)) {
    for (unsigned e = 0; e < dma_.engines; ++e)
      engines_.push_back(
          std::make_unique<dma::DmaEngine>(("dma" + std::to_string(e)).c_str(), simulation_, dma_, 0x100 + e));
    router_ = std::make_unique<interconnect::Router>("router", regions());
    bind();
    core_.connect_dma(*this, dma_.engines, dma::registers::queues);
    core_.on_interrupt([this](bool level) { host_.set_interrupt(0, level); });
    for (const auto& engine : engines_) engine->connect_semaphores(*this);
  }

  ForeignMemory& memory() { return memory_; }
  void run(std::function<void(runtime::Host&)> program) {
    host_.run(std::move(program));
    simulation_.run();
  }

 private:
  enum Output : unsigned { to_hbm, to_sbuf, to_psum, to_control, to_dma };

  std::vector<interconnect::Region> regions() const {
    std::vector<interconnect::Region> all{
        {"hbm", 0, memory_bytes, to_hbm},
        {"sbuf", core_base + core_map::sbuf_window, core_map::psum_window - core_map::sbuf_window, to_sbuf},
        {"psum", core_base + core_map::psum_window, std::uint64_t{1} << 22, to_psum},
        {"control", core_base + core_map::control_window, core_map::control_bytes, to_control}};
    for (unsigned e = 0; e < dma_.engines; ++e)
      all.push_back({"dma" + std::to_string(e), core_base + core_map::dma_window + e * dma::registers::window_bytes,
                     dma::registers::window_bytes, to_dma + e});
    return all;
  }

  void bind() {
    host_.port().socket.bind(router_->in);
    connect(router_->out(to_hbm), memory_.socket);
    router_->out(to_sbuf).bind(core_.sbuf_window());
    router_->out(to_psum).bind(core_.psum_window());
    router_->out(to_control).bind(core_.control_window());
    for (unsigned s = 0; s < neuroncore::engines; ++s) core_.fetch_socket(s).bind(router_->in);
    for (unsigned e = 0; e < engines_.size(); ++e) {
      connect(engines_[e]->memory().socket, router_->in);
      router_->out(to_dma + e).bind(engines_[e]->registers().socket);
    }
  }

  template <class Initiator, class Target>
  void connect(Initiator& initiator, Target& target) {
    const std::string name = "checker" + std::to_string(checkers_.size());
    auto& checker = *checkers_.emplace_back(std::make_unique<memory::ProtocolChecker>(name.c_str(), report_breach));
    initiator.bind(checker.in);
    checker.out.bind(target);
  }

  void trigger(unsigned queue, std::uint32_t descriptors, std::uint64_t cause) override {
    for (const auto& engine : engines_) engine->trigger(queue, descriptors, cause);
  }
  std::uint64_t bytes_written(unsigned queue) const override {
    std::uint64_t total = 0;
    for (const auto& engine : engines_) total += engine->queue_bytes(queue);
    return total;
  }
  void add(unsigned semaphore, std::int32_t amount, std::uint64_t cause) override {
    core_.semaphores().add(semaphore, amount, cause);
  }

  dma::Parameters dma_;
  Simulation simulation_{"simulation"};
  ForeignMemory memory_{"memory", memory_bytes};
  std::vector<std::unique_ptr<memory::ProtocolChecker>> checkers_;
  neuroncore::NeuronCore core_{"core0", simulation_, neuroncore::Parameters{}};
  std::vector<std::unique_ptr<dma::DmaEngine>> engines_;
  std::unique_ptr<interconnect::Router> router_;
  platform::HostAgent host_{"host",
                            simulation_,
                            platform::HostParameters{},
                            {{"hbm", 0, memory_bytes}, {"core0", core_base, core_map::window_bytes}},
                            0};
};

// Padding on three sides and a crop on the fourth: copies of zeros, and copies within SBUF that HBM must not see.
ConvRun small_run() {
  ConvRun run;
  run.shape = {.N = 2, .C = 40, .H = 9, .W = 8, .O = 20, .Hf = 3, .Wf = 3, .pt = 1, .pb = 1, .pl = -1, .pr = 2};
  return run;
}

using Bytes = RecordingMemory::Bytes;

// Addresses of streams and rings, read back from the machine's registers.
struct Fetched {
  std::uint64_t first_stream = UINT64_MAX;
  std::uint64_t first_ring = UINT64_MAX;
};

Fetched fetched_from(runtime::Host& host, const neuron::Schedule& schedule) {
  Fetched fetched;
  for (unsigned e = 0; e < neuroncore::engines; ++e)
    if (!schedule.streams[e].empty())
      fetched.first_stream = std::min(fetched.first_stream,
                                      host.read_value<std::uint64_t>(core_base + core_map::control_window +
                                                                     core_map::sequencer(e) + core_map::stream_base));
  for (unsigned q = 0; q < schedule.rings.size(); ++q)
    if (!schedule.rings[q].empty() && !schedule.rings[q][0].empty())
      fetched.first_ring =
          std::min(fetched.first_ring,
                   host.read_value<std::uint64_t>(core_base + core_map::dma_window + dma::registers::queue_base(q) +
                                                  dma::registers::ring_base));
  return fetched;
}

TEST(ConvForeignMemory, SeesEveryByte) {
  const ConvRun run = small_run();
  ForeignPlatform<> machine;
  KernelOutcome outcome;
  Fetched fetched;
  machine.run([&](runtime::Host& host) {
    outcome = run_kernel(host, run);
    fetched = fetched_from(host, outcome.schedule);
  });
  const ConvValues values = values_of(run);
  EXPECT_EQ(outcome.output, expected_output(run, values));

  const auto& at = outcome.addresses;
  const std::uint64_t image = values.image.size() * 2, filter = values.filter.size() * 2;
  const std::uint64_t output = outcome.output.size() * 4;
  const auto halo = static_cast<std::uint64_t>(outcome.predicted.halo_bytes);
  EXPECT_GT(halo, 0u);
  const RecordingMemory& memory = machine.memory();
  EXPECT_EQ(memory.within(at.image, at.image + image), (Bytes{outcome.image_bytes - halo, image}));
  EXPECT_EQ(memory.within(at.zeros, at.zeros + outcome.zero_bytes), (Bytes{halo, outcome.zero_bytes}));
  EXPECT_EQ(memory.within(at.filter, at.filter + filter), (Bytes{outcome.filter_bytes, filter}));
  EXPECT_EQ(outcome.output_bytes, output);
  EXPECT_EQ(memory.within(at.output, at.output + output), (Bytes{output, outcome.output_bytes}));
  // Rings lie before streams. Each record is written once by the host and fetched once.
  const std::uint64_t rings = outcome.descriptors() * 128, streams = outcome.schedule.instructions() * 64;
  ASSERT_LT(fetched.first_ring, fetched.first_stream);
  EXPECT_EQ(memory.within(fetched.first_ring, fetched.first_stream), (Bytes{rings, rings}));
  EXPECT_EQ(memory.within(fetched.first_stream, memory_bytes), (Bytes{streams, streams}));
  // And that was all.
  EXPECT_EQ(memory.within(0, memory_bytes),
            (Bytes{outcome.image_bytes + outcome.filter_bytes + output + rings + streams,
                   image + filter + outcome.zero_bytes + outcome.output_bytes + rings + streams}));
}

TEST(ConvForeignMemory, SameBytesAsWithOurs) {
  const ConvRun run = small_run();
  const Folder folder;
  write_operands(run, values_of(run), folder);
  const auto result = tilevp(words_of(run, folder));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto report = described::parse("report.json", read_file(folder / "report.json")).tree;

  ForeignPlatform<> machine;
  KernelOutcome outcome;
  machine.run([&](runtime::Host& host) { outcome = run_kernel(host, run); });
  EXPECT_EQ(outcome.output, read_npy(folder / "y.npy").values);
  const Bytes seen = machine.memory().within(0, memory_bytes);
  for (const auto& entry : report.at("performance").at("memories").as_array()) {
    if (entry.at("path").as_string() != "hbm") continue;
    EXPECT_EQ(entry.at("bytes_read").to_number<std::uint64_t>(), seen.read);
    EXPECT_EQ(entry.at("bytes_written").to_number<std::uint64_t>(), seen.written);
    return;
  }
  FAIL() << "the report names no hbm";
}

// Engines that ask by nb_transport, of a memory that answers out of order and takes its time to accept a request.
TEST(ConvForeignMemory, SameBytesFromOneThatAnswersOutOfOrder) {
  const ConvRun run = small_run();
  ForeignPlatform<memory::testing::DisorderedMemory> machine(memory::CodingStyle::at);
  KernelOutcome outcome;
  machine.run([&](runtime::Host& host) { outcome = run_kernel(host, run); });
  EXPECT_EQ(outcome.output, expected_output(run, values_of(run)));
  EXPECT_GT(machine.memory().overtakings(), 100u);
  EXPECT_GE(machine.memory().most_in_flight(), 8u);
}

// The same engines and a memory with b_transport alone; the same memory and loosely timed engines.
TEST(ConvForeignMemory, SameBytesWhenOnlyOneSideIsApproximatelyTimed) {
  const ConvRun run = small_run();
  ForeignPlatform<> machine(memory::CodingStyle::at);
  KernelOutcome outcome;
  machine.run([&](runtime::Host& host) { outcome = run_kernel(host, run); });
  EXPECT_EQ(outcome.output, expected_output(run, values_of(run)));
}
TEST(ConvForeignMemory, SameBytesFromOneThatAnswersOutOfOrderToLooselyTimedEngines) {
  const ConvRun run = small_run();
  ForeignPlatform<memory::testing::DisorderedMemory> machine(memory::CodingStyle::lt);
  KernelOutcome outcome;
  machine.run([&](runtime::Host& host) { outcome = run_kernel(host, run); });
  EXPECT_EQ(outcome.output, expected_output(run, values_of(run)));
}

}  // namespace
}  // namespace tilevp::test
