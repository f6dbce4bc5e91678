// The CUBE core of the PTO ISA as the machine of a platform.
#include <sstream>
#include <utility>

#include "tilevp/cube/cube_core.hpp"
#include "tilevp/described/nearest.hpp"
#include "tilevp/described/text.hpp"
#include "tilevp/platform/cube_state.hpp"
#include "tilevp/platform/description.hpp"
#include "tilevp/platform/host_agent.hpp"
#include "tilevp/platform/machine.hpp"

namespace tilevp::platform {
namespace {

namespace core_map = cube::registers;

enum Output : unsigned { to_control = first_machine_output, to_tiles };

// The unit that executes bundles, as --break names it.
constexpr const char* bundles = "bundle";

class CubeMachine final : public Machine {
 public:
  explicit CubeMachine(MachineSurroundings surroundings) : around_(std::move(surroundings)) {}

  Steps construction() override {
    return {
        [this] { core_ = std::make_unique<cube::CubeCore>("core0", around_.simulation, *around_.description.cube); }};
  }

  Steps bindings(Wiring& wiring, interconnect::Router& router) override {
    return {[&] { wiring.connect(router.out(to_control), core_->control_window()); },
            [&] { wiring.connect(router.out(to_tiles), core_->tile_window()); },
            [&] { wiring.connect(core_->fetch_socket(), router.in); },
            [&] { wiring.connect(core_->memory_socket(), router.in); }};
  }

  void connect(HostAgent& host) override {
    core_->on_interrupt([&host](bool level) { host.set_interrupt(0, level); });
  }

  std::vector<RegisterWindow> register_windows() const override {
    return {{"CUBE core, control window", core_->control().table_text()}};
  }

  void break_at(std::string_view option, const std::string& unit, std::uint64_t number) override {
    const std::vector<std::string> names{bundles, std::string(core_->name()) + "." + bundles};
    if (unit != names[0] && unit != names[1])
      throw UserError(option, "expected " + names[0] + ", found '" + unit + "'" + described::nearest_hint(unit, names));
    core_->break_at(number);
  }

  std::string stopped_text(const BreakReached&) const override {
    return cube_stopped_text(around_.description.map.core0_base, around_.read);
  }
  std::string state_text(const BreakReached&) const override {
    return cube_state_text(around_.description.map.core0_base, around_.read);
  }

 private:
  MachineSurroundings around_;
  std::unique_ptr<cube::CubeCore> core_;
};

class CubeKind final : public MachineKind {
 public:
  std::string_view name() const override { return "cube"; }
  std::uint64_t window_bytes() const override { return core_map::window_bytes; }

  std::vector<interconnect::Region> regions(const Description& d) const override {
    const std::uint64_t core = d.map.core0_base;
    return {{"core0.control", core + core_map::control_window, core_map::control_bytes, to_control, 0},
            {"core0.tiles", core + core_map::tile_window, core_map::tile_window_bytes, to_tiles, 0}};
  }

  // Registers 0 to 63 of PE 0, then those of PE 1, ...
  std::vector<MemoryRegion> memories(const Description& d) const override {
    const std::uint64_t stride = core_map::tile(0, 1) - core_map::tile(0, 0);
    return {{"core0.tiles", d.map.core0_base + core_map::tile_window, core_map::tile_window_bytes, stride,
             cube::max_local_tile_bytes, true}};
  }

  std::vector<ClockDomain> clocks(const Description& d) const override {
    return {ClockDomain("cube", d.cube->clock_hz)};
  }

  // The parameters check themselves.
  void check(const Description&, const std::string&) const override {}

  std::string text(const Description& d) const override {
    const cube::Parameters& p = *d.cube;
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out << "  core      CUBE, " << cube::pes << " PEs of " << cube::local_tiles << " local tile registers, "
        << described::number_text(p.tile_capacity_bytes / 1024.0) << " KiB of tiles a "
        << (p.capacity == cube::CapacityRule::pe ? "PE" : "core") << "\n"
        << "  array     " << p.matrix_unit.tile_m << " x " << p.matrix_unit.tile_n << " by "
        << p.matrix_unit.tile_k_bytes << " bytes a step, " << (p.matrix_unit.unit_per_pe ? "one a PE" : "one") << "\n";
    return out.str();
  }

  std::unique_ptr<Machine> make(MachineSurroundings surroundings) const override {
    return std::make_unique<CubeMachine>(std::move(surroundings));
  }
};

}  // namespace

const MachineKind& cube_machine() {
  static const CubeKind kind;
  return kind;
}

}  // namespace tilevp::platform
