// The NeuronCore as the machine of a platform: one core with its DMA engines.
#include <algorithm>
#include <numeric>
#include <sstream>
#include <utility>

#include "tilevp/described/nearest.hpp"
#include "tilevp/described/path.hpp"
#include "tilevp/described/text.hpp"
#include "tilevp/dma/dma_engine.hpp"
#include "tilevp/neuroncore/neuroncore.hpp"
#include "tilevp/neuroncore/registers.hpp"
#include "tilevp/platform/description.hpp"
#include "tilevp/platform/host_agent.hpp"
#include "tilevp/platform/key_checks.hpp"
#include "tilevp/platform/machine.hpp"
#include "tilevp/platform/neuron_state.hpp"
#include "tilevp/platform/race_watch.hpp"

namespace tilevp::platform {
namespace {

using described::path_to_key;
namespace core_map = neuroncore::registers;

// Numbers in same-instant arbitration, fixed by role. Sequencers have those of neuroncore.hpp (from 0x1000).
constexpr unsigned dma_port_base = 0x100;

// Outputs of the router.
enum Output : unsigned { to_sbuf = first_machine_output, to_psum, to_control, to_dma };

// The DMA engines of a core as its sequencers and counters see them.
class DmaGroup final : public neuroncore::DmaTrigger {
 public:
  explicit DmaGroup(const std::vector<std::unique_ptr<dma::DmaEngine>>& engines) : engines_(engines) {}
  void trigger(unsigned queue, std::uint32_t descriptors, std::uint64_t cause) override {
    for (const auto& engine : engines_) engine->trigger(queue, descriptors, cause);
  }
  std::uint64_t bytes_written(unsigned queue) const override {
    std::uint64_t total = 0;
    for (const auto& engine : engines_) total += engine->queue_bytes(queue);
    return total;
  }

 private:
  const std::vector<std::unique_ptr<dma::DmaEngine>>& engines_;
};

// The semaphores of a core as its DMA engines see them.
class CoreSemaphores final : public dma::SemaphoreSink {
 public:
  explicit CoreSemaphores(neuroncore::NeuronCore& core) : core_(core) {}
  void add(unsigned semaphore, std::int32_t amount, std::uint64_t cause) override {
    core_.semaphores().add(semaphore, amount, cause);
  }

 private:
  neuroncore::NeuronCore& core_;
};

neuroncore::Parameters core_of(const Description& d) { return d.core.value_or(neuroncore::Parameters{}); }
dma::Parameters dma_of(const Description& d) { return d.dma.value_or(dma::Parameters{}); }

class NeuronMachine final : public Machine {
 public:
  explicit NeuronMachine(MachineSurroundings surroundings)
      : around_(std::move(surroundings)),
        core_parameters_(core_of(around_.description)),
        dma_parameters_(dma_of(around_.description)),
        engines_(dma_parameters_.engines) {}

  Steps construction() override {
    Steps steps{
        [this] { core_ = std::make_unique<neuroncore::NeuronCore>("core0", around_.simulation, core_parameters_); }};
    for (unsigned e = 0; e < engines_.size(); ++e)
      steps.push_back([this, e] {
        engines_[e] = std::make_unique<dma::DmaEngine>(("dma" + std::to_string(e)).c_str(), around_.simulation,
                                                       dma_parameters_, dma_port_base + e);
      });
    return steps;
  }

  Steps bindings(Wiring& wiring, interconnect::Router& router) override {
    Steps steps{[&] { wiring.connect(router.out(to_sbuf), core_->sbuf_window()); },
                [&] { wiring.connect(router.out(to_psum), core_->psum_window()); },
                [&] { wiring.connect(router.out(to_control), core_->control_window()); }};
    for (unsigned s = 0; s < neuroncore::engines; ++s)
      steps.push_back([&, s] { wiring.connect(core_->fetch_socket(s), router.in); });
    for (unsigned e = 0; e < engines_.size(); ++e) {
      steps.push_back([&, e] { wiring.connect(engines_[e]->memory().socket, router.in); });
      steps.push_back([&, e] { wiring.connect(router.out(to_dma + e), engines_[e]->registers().socket); });
    }
    return steps;
  }

  void connect(HostAgent& host) override {
    group_ = std::make_unique<DmaGroup>(engines_);
    semaphores_ = std::make_unique<CoreSemaphores>(*core_);
    core_->connect_dma(*group_, dma_parameters_.engines, dma::registers::queues);
    core_->on_interrupt([&host](bool level) { host.set_interrupt(0, level); });
    for (const auto& engine : engines_) {
      engine->connect_semaphores(*semaphores_);
      engine->connect_sbuf(around_.description.map.core0_base + core_map::sbuf_window,
                           core_map::psum_window - core_map::sbuf_window);
      engine->on_interrupt([this, &host](bool level) { dma_interrupt(host, level); });
    }
    if (around_.description.checks.races) watch_races(host);
  }

  std::vector<RegisterWindow> register_windows() const override {
    return {{"NeuronCore, control window", core_->control().table_text()},
            {"DMA engine", engines_[0]->registers().table_text()}};
  }

  std::vector<Occupancy> occupancy() const override {
    const auto& psum = core_->psum();
    Occupancy banks{psum.name(), psum.written_bytes(0, neuroncore::psum_banks * neuroncore::psum_bank_bytes), {}};
    for (unsigned b = 0; b < neuroncore::psum_banks; ++b) {
      const auto rows = psum.written_bytes(b * neuroncore::psum_bank_bytes, neuroncore::psum_bank_bytes);
      banks.by_bank.push_back(std::accumulate(rows.begin(), rows.end(), std::uint64_t{0}));
    }
    const auto& sbuf = core_->sbuf();
    return {{sbuf.name(), sbuf.written_bytes(0, sbuf.usable_bytes()), {}}, std::move(banks)};
  }

  void break_at(std::string_view option, const std::string& unit, std::uint64_t number) override {
    std::vector<std::string> names;
    for (unsigned e = 0; e < neuroncore::engines; ++e) {
      const auto engine = static_cast<neuroncore::Engine>(e);
      const std::string short_name = neuroncore::name(engine);
      const std::string long_name = std::string(core_->name()) + "." + short_name;
      if (unit == short_name || unit == long_name) return core_->sequencer(engine).break_at(number);
      names.push_back(short_name);
      names.push_back(long_name);
    }
    for (const auto& engine : engines_)
      for (unsigned q = 0; q < dma::registers::queues; ++q) {
        names.push_back(std::string(engine->name()) + ".q" + std::to_string(q));
        if (unit == names.back()) return engine->break_at(q, number);
      }
    const std::string known = "expected pe, scalar, gpsimd, vector, sync or a queue like dma0.q3, found '" + unit + "'";
    throw UserError(option, known + described::nearest_hint(unit, names));
  }

  std::string stopped_text(const BreakReached& where) const override { return neuron_stopped_text(parts(), where); }
  std::string state_text(const BreakReached& where) const override { return neuron_state_text(parts(), where); }

 private:
  void watch_races(HostAgent& host) {
    races_ = std::make_unique<RaceWatch>(neuroncore::RaceSetup{.core = core_->name(),
                                                               .core_base = around_.description.map.core0_base,
                                                               .dma_engines = static_cast<unsigned>(engines_.size()),
                                                               .engine_port_base = core_->agent_port(0),
                                                               .dma_port_base = dma_port_base},
                                         engines_);
    core_->watch(races_->detector());
    host.observe(*races_);
  }

  // The engines share one line.
  void dma_interrupt(HostAgent& host, bool level) {
    engines_interrupting_ += level ? 1 : -1;
    host.set_interrupt(dma::registers::interrupt_line, engines_interrupting_ > 0);
  }

  NeuronParts parts() const {
    const Description& d = around_.description;
    return {*core_, engines_, around_.hbm(), d.map.hbm_base, d.hbm.size_bytes, d.map.core0_base, around_.read};
  }

  MachineSurroundings around_;
  neuroncore::Parameters core_parameters_;
  dma::Parameters dma_parameters_;
  std::unique_ptr<neuroncore::NeuronCore> core_;
  std::vector<std::unique_ptr<dma::DmaEngine>> engines_;
  std::unique_ptr<DmaGroup> group_;
  std::unique_ptr<CoreSemaphores> semaphores_;
  std::unique_ptr<RaceWatch> races_;
  int engines_interrupting_ = 0;
};

void check_engine(const neuroncore::EngineParameters& engine, const std::string& path) {
  require_range(engine.clock_hz, min_hz, max_hz, path, "clock_hz");
  require_range(engine.min_interval_cycles, 1, max_cycles, path, "min_interval_cycles");
  require_range(engine.latency_cycles, 0, max_cycles, path, "latency_cycles");
}

// Partition p of SBUF stands at p << 18, so a partition holds at most 256 KiB.
constexpr std::uint32_t max_partition_bytes = 1u << 18;

void check_core(const neuroncore::Parameters& core, const std::string& path) {
  require_range(core.generation, 2, 4, path, "generation");
  require_range(core.sbuf_partition_bytes, 1, max_partition_bytes, path, "sbuf_partition_bytes");
  if (core.sbuf_reserved_bytes >= core.sbuf_partition_bytes)
    throw described::KeyError(path_to_key(path, "sbuf_reserved_bytes"),
                              "expected less than sbuf_partition_bytes (" + std::to_string(core.sbuf_partition_bytes) +
                                  "), found " + std::to_string(core.sbuf_reserved_bytes));
  const auto pe = path_to_key(path, "pe");
  require_range(core.pe.clock_hz, min_hz, max_hz, pe, "clock_hz");
  require_range(core.pe.fill_cycles, 0, max_cycles, pe, "fill_cycles");
  require_range(core.pe.min_interval_cycles, 1, max_cycles, pe, "min_interval_cycles");
  require_range(core.pe.weight_load_columns_per_cycle, 1, 128, pe, "weight_load_columns_per_cycle");
  require_range(core.pe.fp32_passes, 1, 1024, pe, "fp32_passes");
  check_engine(core.vector, path_to_key(path, "vector"));
  check_engine(core.scalar, path_to_key(path, "scalar"));
  check_engine(core.gpsimd, path_to_key(path, "gpsimd"));
  check_engine(core.sync, path_to_key(path, "sync"));
  const auto sequencer = path_to_key(path, "sequencer");
  require_range(core.sequencer.issue_cycles, 0, max_cycles, sequencer, "issue_cycles");
  require_range(core.sequencer.fetch_instructions, 1, 65'536, sequencer, "fetch_instructions");
}

void check_dma(const dma::Parameters& dma, const std::string& path) {
  require_range(dma.engines, 1, 16, path, "engines");
  require_range(dma.clock_hz, min_hz, max_hz, path, "clock_hz");
  require_positive(dma.bytes_per_ns, path, "bytes_per_ns");
  require_latency(dma.start_latency_ns, path, "start_latency_ns");
  require_range(dma.transpose_percent_from_hbm, 0, 100, path, "transpose_percent_from_hbm");
  require_range(dma.transpose_percent_from_sbuf, 0, 100, path, "transpose_percent_from_sbuf");
  require_range(dma.packet_bytes, 1, 1u << 30, path, "packet_bytes");
  require_range(dma.packet_runs, 1, 1u << 30, path, "packet_runs");
  require_range(dma.outstanding_packets, 1, 65'536, path, "outstanding_packets");
  require_range(dma.prefetch_descriptors, 1, 65'536, path, "prefetch_descriptors");
  check_by_model([&] { const dma::EngineTime checked(dma, path); });
}

std::string kib_text(std::uint64_t bytes) { return described::number_text(static_cast<double>(bytes) / 1024) + " KiB"; }

class NeuronKind final : public MachineKind {
 public:
  std::string_view name() const override { return "neuroncore"; }
  std::uint64_t window_bytes() const override { return core_map::window_bytes; }

  std::vector<interconnect::Region> regions(const Description& d) const override {
    const std::uint64_t core = d.map.core0_base;
    std::vector<interconnect::Region> regions{
        {"core0.sbuf", core + core_map::sbuf_window, core_map::psum_window - core_map::sbuf_window, to_sbuf, 0},
        {"core0.psum", core + core_map::psum_window, std::uint64_t{1} << 22, to_psum, 0},
        {"core0.control", core + core_map::control_window, core_map::control_bytes, to_control, 0}};
    for (unsigned e = 0; e < dma_of(d).engines; ++e)
      regions.push_back({"dma" + std::to_string(e), core + core_map::dma_window + e * dma::registers::window_bytes,
                         dma::registers::window_bytes, to_dma + e, 0});
    return regions;
  }

  std::vector<MemoryRegion> memories(const Description& d) const override {
    const std::uint64_t core = d.map.core0_base;
    const auto sbuf_partition = std::uint64_t{1} << neuroncore::sbuf_partition_shift;
    const auto psum_partition = std::uint64_t{1} << neuroncore::psum_partition_shift;
    return {{"core0.sbuf", core + core_map::sbuf_window, neuroncore::max_partitions * sbuf_partition, sbuf_partition,
             neuroncore::usable_sbuf_bytes(core_of(d))},
            {"core0.psum", core + core_map::psum_window, neuroncore::max_partitions * psum_partition, psum_partition,
             neuroncore::psum_banks * neuroncore::psum_bank_bytes}};
  }

  std::vector<ClockDomain> clocks(const Description& d) const override {
    const auto core = core_of(d);
    return {ClockDomain("pe", core.pe.clock_hz),         ClockDomain("vector", core.vector.clock_hz),
            ClockDomain("scalar", core.scalar.clock_hz), ClockDomain("gpsimd", core.gpsimd.clock_hz),
            ClockDomain("sync", core.sync.clock_hz),     ClockDomain("dma", dma_of(d).clock_hz)};
  }

  void check(const Description& d, const std::string& path) const override {
    check_core(core_of(d), path_to_key(path, "core"));
    check_dma(dma_of(d), path_to_key(path, "dma"));
  }

  std::string text(const Description& d) const override {
    const auto core = core_of(d);
    const auto dma = dma_of(d);
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out << "  core      NC-v" << core.generation << ", 128 partitions of " << kib_text(core.sbuf_partition_bytes)
        << " (" << core.sbuf_reserved_bytes << " bytes reserved)\n"
        << "  dma       " << dma.engines << " engines of " << described::number_text(dma.bytes_per_ns)
        << " bytes/ns, start " << described::number_text(dma.start_latency_ns) << " ns, run at least "
        << described::number_text(dma.run_floor_ns) << " ns\n";
    return out.str();
  }

  std::unique_ptr<Machine> make(MachineSurroundings surroundings) const override {
    return std::make_unique<NeuronMachine>(std::move(surroundings));
  }
};

}  // namespace

const MachineKind& neuron_machine() {
  static const NeuronKind kind;
  return kind;
}

}  // namespace tilevp::platform
