#include "tilevp/platform/builder.hpp"

#include <algorithm>
#include <utility>

#include "tilevp/base/random.hpp"
#include "tilevp/interconnect/router.hpp"
#include "tilevp/memory/memory.hpp"
#include "tilevp/platform/memory_model.hpp"

namespace tilevp::platform {
namespace {

// Number in same-instant arbitration, fixed by role.
constexpr unsigned host_port = 0;

std::vector<interconnect::Region> regions_of(const Description& d) {
  std::vector<interconnect::Region> regions = machine_of(d).regions(d);
  regions.insert(regions.begin(), {"hbm", d.map.hbm_base, d.hbm.size_bytes, hbm_output, 0});
  return regions;
}

// What programs know of the map: memories and whole cores.
std::vector<runtime::Region> host_map(const Description& d) {
  std::vector<runtime::Region> map{{"hbm", d.map.hbm_base, d.hbm.size_bytes},
                                   {"core0", d.map.core0_base, machine_of(d).window_bytes()}};
  if (map[1].base < map[0].base) std::swap(map[0], map[1]);
  return map;
}

// The memory, whoever made it.
struct Hbm {
  explicit Hbm(Simulation& simulation, const HbmParameters& parameters) {
    if (parameters.implementation == nullptr)
      own = std::make_unique<memory::Memory>("hbm", simulation, parameters, "hbm");
    else
      foreign = parameters.implementation->make("hbm", {simulation, parameters}, parameters.options);
  }
  template <class Output>
  void bind_to(Wiring& wiring, Output& output) {
    if (own != nullptr)
      wiring.connect(output, own->socket);
    else
      wiring.connect(output, *foreign.socket);
  }

  std::unique_ptr<memory::Memory> own;
  BuiltMemory foreign;
};

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
  std::vector<MemoryRegion> map = machine_of(d).memories(d);
  map.push_back({"hbm", d.map.hbm_base, d.hbm.size_bytes, d.hbm.size_bytes, d.hbm.size_bytes});
  std::ranges::sort(map, {}, &MemoryRegion::base);
  return map;
}

struct Platform::Parts {
  Parts(const Description& d, const SimulationOptions& options, const BuildOptions& build)
      : description(d),
        simulation("simulation", options),
        wiring(simulation, description.checks.protocol),
        machine(machine_of(description).make(surroundings())) {
    auto generator = generator_for(build.construction_seed, "construction");
    auto* shuffle = build.construction_seed == 0 ? nullptr : &generator;
    run_steps(construction(), shuffle);
    run_steps(bindings(), shuffle);
    machine->connect(*host);
  }

  MachineSurroundings surroundings() {
    return {simulation, description, [this] { return hbm->own.get(); },
            [this](std::uint64_t address, std::span<std::byte> bytes) {
              return host->port().debug(memory::Command::read, address, bytes) == bytes.size();
            }};
  }

  Steps construction() {
    const Description& d = description;
    Steps steps = machine->construction();
    steps.insert(steps.begin(),
                 {[&] { hbm = std::make_unique<Hbm>(simulation, d.hbm); },
                  [&] { router = std::make_unique<interconnect::Router>("router", regions_of(d), 0, "map"); },
                  [&] { host = std::make_unique<HostAgent>("host", simulation, d.host, host_map(d), host_port); }});
    return steps;
  }

  Steps bindings() {
    Steps steps = machine->bindings(wiring, *router);
    steps.push_back([&] { wiring.connect(host->port().socket, router->in); });
    steps.push_back([&] { hbm->bind_to(wiring, router->out(hbm_output)); });
    return steps;
  }

  Description description;
  Simulation simulation;
  Wiring wiring;
  std::unique_ptr<Machine> machine;
  std::unique_ptr<Hbm> hbm;
  std::unique_ptr<interconnect::Router> router;
  std::unique_ptr<HostAgent> host;
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
  parts_->machine->break_at(option, unit, number);
}

std::string Platform::stopped_text(const BreakReached& where) const { return parts_->machine->stopped_text(where); }
std::string Platform::state_text(const BreakReached& where) const { return parts_->machine->state_text(where); }

std::vector<Occupancy> Platform::occupancy() const { return parts_->machine->occupancy(); }

std::vector<RegisterWindow> Platform::register_windows() const { return parts_->machine->register_windows(); }

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
