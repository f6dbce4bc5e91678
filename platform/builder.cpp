#include "tilevp/platform/builder.hpp"

#include <algorithm>
#include <utility>

#include "tilevp/base/random.hpp"
#include "tilevp/described/nearest.hpp"
#include "tilevp/dma/dma_engine.hpp"
#include "tilevp/interconnect/router.hpp"
#include "tilevp/memory/memory.hpp"
#include "tilevp/neuroncore/neuroncore.hpp"
#include "tilevp/neuroncore/registers.hpp"
#include "tilevp/platform/machine_state.hpp"

namespace tilevp::platform {
namespace {

namespace core_map = neuroncore::registers;

// Numbers in same-instant arbitration, fixed by role. Sequencers have those of neuroncore.hpp (from 0x1000).
constexpr unsigned host_port = 0;
constexpr unsigned dma_port_base = 0x100;

// Outputs of the router.
enum Output : unsigned { to_hbm, to_sbuf, to_psum, to_control, to_dma };

std::vector<interconnect::Region> regions_of(const Description& d) {
  const std::uint64_t core = d.map.core0_base;
  std::vector<interconnect::Region> regions{
      {"hbm", d.map.hbm_base, d.hbm.size_bytes, to_hbm, 0},
      {"core0.sbuf", core + core_map::sbuf_window, core_map::psum_window - core_map::sbuf_window, to_sbuf, 0},
      {"core0.psum", core + core_map::psum_window, std::uint64_t{1} << 22, to_psum, 0},
      {"core0.control", core + core_map::control_window, core_map::control_bytes, to_control, 0}};
  for (unsigned e = 0; e < d.dma.engines; ++e)
    regions.push_back({"dma" + std::to_string(e), core + core_map::dma_window + e * dma::registers::window_bytes,
                       dma::registers::window_bytes, to_dma + e, 0});
  return regions;
}

// What programs know of the map: memories and whole cores.
std::vector<runtime::Region> host_map(const Description& d) {
  std::vector<runtime::Region> map{{"hbm", d.map.hbm_base, d.hbm.size_bytes},
                                   {"core0", d.map.core0_base, core_map::window_bytes}};
  if (map[1].base < map[0].base) std::swap(map[0], map[1]);
  return map;
}

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

// The memory, whoever made it.
struct Hbm {
  explicit Hbm(Simulation& simulation, const HbmParameters& parameters) {
    if (parameters.implementation == nullptr)
      own = std::make_unique<memory::Memory>("hbm", simulation, parameters, "hbm");
    else
      foreign = parameters.implementation->make("hbm", {simulation, parameters}, parameters.options);
  }
  template <class Output>
  void bind_to(Output& output) {
    if (own != nullptr)
      output.bind(own->socket);
    else
      output.bind(*foreign.socket);
  }

  std::unique_ptr<memory::Memory> own;
  BuiltMemory foreign;
};

using Steps = std::vector<std::function<void()>>;

// Runs the steps in their order, or in one drawn from the seed.
void run_steps(Steps steps, std::mt19937_64* shuffle) {
  if (shuffle != nullptr)
    for (std::size_t i = steps.size(); i > 1; --i)
      std::swap(steps[i - 1],
                steps[static_cast<std::size_t>(uniform_int(*shuffle, 0, static_cast<std::int64_t>(i) - 1))]);
  for (const auto& step : steps) step();
}

}  // namespace

std::vector<MemoryRegion> memory_map(const Description& d) {
  const std::uint64_t core = d.map.core0_base;
  const auto sbuf_partition = std::uint64_t{1} << neuroncore::sbuf_partition_shift;
  const auto psum_partition = std::uint64_t{1} << neuroncore::psum_partition_shift;
  std::vector<MemoryRegion> map{
      {"hbm", d.map.hbm_base, d.hbm.size_bytes, d.hbm.size_bytes, d.hbm.size_bytes},
      {"core0.sbuf", core + core_map::sbuf_window, neuroncore::max_partitions * sbuf_partition, sbuf_partition,
       neuroncore::usable_sbuf_bytes(d.core)},
      {"core0.psum", core + core_map::psum_window, neuroncore::max_partitions * psum_partition, psum_partition,
       neuroncore::psum_banks * neuroncore::psum_bank_bytes}};
  std::ranges::sort(map, {}, &MemoryRegion::base);
  return map;
}

struct Platform::Parts {
  Parts(const Description& d, const SimulationOptions& options, const BuildOptions& build)
      : description(d), simulation("simulation", options), engines(d.dma.engines) {
    auto generator = generator_for(build.construction_seed, "construction");
    auto* shuffle = build.construction_seed == 0 ? nullptr : &generator;
    run_steps(construction(), shuffle);
    run_steps(bindings(), shuffle);
    group = std::make_unique<DmaGroup>(engines);
    semaphores = std::make_unique<CoreSemaphores>(*core);
    core->connect_dma(*group, d.dma.engines, dma::registers::queues);
    core->on_interrupt([this](bool level) { host->set_interrupt(0, level); });
    for (const auto& engine : engines) {
      engine->connect_semaphores(*semaphores);
      engine->on_interrupt([this](bool level) { dma_interrupt(level); });
    }
  }

  // The engines share one line.
  void dma_interrupt(bool level) {
    engines_interrupting += level ? 1 : -1;
    host->set_interrupt(dma::registers::interrupt_line, engines_interrupting > 0);
  }

  MachineParts machine() {
    return {*core,
            engines,
            hbm->own.get(),
            description.map.hbm_base,
            description.hbm.size_bytes,
            description.map.core0_base,
            [this](std::uint64_t address, std::span<std::byte> bytes) {
              return host->port().debug(memory::Command::read, address, bytes) == bytes.size();
            }};
  }

  Steps construction() {
    const Description& d = description;
    Steps steps{[&] { hbm = std::make_unique<Hbm>(simulation, d.hbm); },
                [&] { router = std::make_unique<interconnect::Router>("router", regions_of(d), 0, "map"); },
                [&] { core = std::make_unique<neuroncore::NeuronCore>("core0", simulation, d.core); },
                [&] { host = std::make_unique<HostAgent>("host", simulation, d.host, host_map(d), host_port); }};
    for (unsigned e = 0; e < d.dma.engines; ++e)
      steps.push_back([this, &d, e] {
        engines[e] =
            std::make_unique<dma::DmaEngine>(("dma" + std::to_string(e)).c_str(), simulation, d.dma, dma_port_base + e);
      });
    return steps;
  }

  Steps bindings() {
    Steps steps{[&] { host->port().socket.bind(router->in); }, [&] { hbm->bind_to(router->out(to_hbm)); },
                [&] { router->out(to_sbuf).bind(core->sbuf_window()); },
                [&] { router->out(to_psum).bind(core->psum_window()); },
                [&] { router->out(to_control).bind(core->control_window()); }};
    for (unsigned s = 0; s < neuroncore::engines; ++s)
      steps.push_back([this, s] { core->fetch_socket(s).bind(router->in); });
    for (unsigned e = 0; e < engines.size(); ++e) {
      steps.push_back([this, e] { engines[e]->memory().socket.bind(router->in); });
      steps.push_back([this, e] { router->out(to_dma + e).bind(engines[e]->registers().socket); });
    }
    return steps;
  }

  Description description;
  Simulation simulation;
  std::unique_ptr<Hbm> hbm;
  std::unique_ptr<interconnect::Router> router;
  std::unique_ptr<neuroncore::NeuronCore> core;
  std::vector<std::unique_ptr<dma::DmaEngine>> engines;
  std::unique_ptr<HostAgent> host;
  std::unique_ptr<DmaGroup> group;
  std::unique_ptr<CoreSemaphores> semaphores;
  int engines_interrupting = 0;
};

Platform::Platform(const Description& description, const SimulationOptions& options, const BuildOptions& build)
    : parts_(std::make_unique<Parts>(description, options, build)) {}

Platform::~Platform() = default;

Simulation& Platform::simulation() { return parts_->simulation; }
HostAgent& Platform::host() { return *parts_->host; }
const Description& Platform::description() const { return parts_->description; }
std::string Platform::map_text() const { return parts_->router->map_text(); }

bool Platform::debug_write(std::uint64_t address, std::span<const std::byte> bytes) {
  // The port's buffers serve both directions; a write does not change them.
  const std::span data(const_cast<std::byte*>(bytes.data()), bytes.size());
  return host().port().debug(memory::Command::write, address, data) == bytes.size();
}

bool Platform::debug_read(std::uint64_t address, std::span<std::byte> bytes) {
  return host().port().debug(memory::Command::read, address, bytes) == bytes.size();
}

void Platform::break_at(std::string_view option, const std::string& unit, std::uint64_t number) {
  std::vector<std::string> names;
  for (unsigned e = 0; e < neuroncore::engines; ++e) {
    const auto engine = static_cast<neuroncore::Engine>(e);
    const std::string short_name = neuroncore::name(engine);
    const std::string long_name = std::string(parts_->core->name()) + "." + short_name;
    if (unit == short_name || unit == long_name) return parts_->core->sequencer(engine).break_at(number);
    names.push_back(short_name);
    names.push_back(long_name);
  }
  for (const auto& engine : parts_->engines)
    for (unsigned q = 0; q < dma::registers::queues; ++q) {
      names.push_back(std::string(engine->name()) + ".q" + std::to_string(q));
      if (unit == names.back()) return engine->break_at(q, number);
    }
  const std::string known = "expected pe, scalar, gpsimd, vector, sync or a queue like dma0.q3, found '" + unit + "'";
  throw UserError(option, known + described::nearest_hint(unit, names));
}

std::string Platform::stopped_text(const BreakReached& where) const {
  return platform::stopped_text(parts_->machine(), where);
}

std::string Platform::state_text(const BreakReached& where) const {
  return machine_state_text(parts_->machine(), where);
}

std::vector<RegisterWindow> Platform::register_windows() const {
  return {{"NeuronCore, control window", parts_->core->control().table_text()},
          {"DMA engine", parts_->engines[0]->registers().table_text()}};
}

void Platform::run(std::function<void(runtime::Host&)> program, std::uint64_t max_time_ps) {
  host().run(std::move(program));
  try {
    simulation().run(max_time_ps);
  } catch (const NoEnd&) {
    // SystemC's clock stays at the last event before the limit.
    end_ps_ = sc_core::sc_pending_activity() ? max_time_ps : now_ps();
    throw;
  } catch (...) {
    end_ps_ = now_ps();
    throw;
  }
  end_ps_ = now_ps();
}

}  // namespace tilevp::platform
