#include "tilevp/platform/host_agent.hpp"

#include <algorithm>
#include <cmath>

#include "tilevp/base/errors.hpp"

namespace tilevp::platform {
namespace {

// A program is ordinary C++; the library's default of 256 KiB is too little for it. Pages cost nothing until used.
constexpr std::size_t stack_bytes = std::size_t{4} << 20;

std::uint64_t to_ps(double nanoseconds) { return static_cast<std::uint64_t>(std::ceil(nanoseconds * 1000)); }

}  // namespace

HostAgent::HostAgent(sc_core::sc_module_name name, Simulation& simulation, const HostParameters& parameters,
                     std::vector<runtime::Region> map, unsigned port)
    : sc_module(name),
      parameters_(parameters),
      map_(std::move(map)),
      agent_(simulation, this->name(), port),
      port_("port", agent_) {
  simulation.thread(
      *this, "program",
      [this, &simulation] {
        if (!program_) throw Defect("the host has no program");
        program_(*this);
        agent_.sync();
        simulation.finish();
      },
      stack_bytes);
}

void HostAgent::set_interrupt(unsigned line, bool level) {
  levels_.at(line) = level;
  if (level) raised_.notify(sc_core::SC_ZERO_TIME);
}

void HostAgent::write(std::uint64_t address, std::span<const std::byte> bytes) {
  // The port's buffers serve both directions; a write does not change them.
  auto* data = const_cast<std::byte*>(bytes.data());
  access(memory::Command::write, address, {data, bytes.size()}, to_ps(parameters_.write_latency_ns));
}

void HostAgent::read(std::uint64_t address, std::span<std::byte> bytes) {
  access(memory::Command::read, address, bytes, to_ps(parameters_.read_latency_ns));
}

void HostAgent::access(memory::Command command, std::uint64_t address, std::span<std::byte> bytes,
                       std::uint64_t latency_ps) {
  if (first_access_ == std::chrono::steady_clock::time_point{}) first_access_ = std::chrono::steady_clock::now();
  agent_.advance_to(agent_.local_ps() + latency_ps);
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), parameters_.access_bytes));
    agent_.sync();
    const std::uint64_t begin = agent_.local_ps();
    const auto pattern = memory::AccessPattern::contiguous(address, piece.size());
    const auto grant = port_.transfer(command, pattern, piece, 0);
    const auto link_ps = to_ps(static_cast<double>(piece.size()) / parameters_.bytes_per_ns);
    agent_.advance_to(std::max(grant.end_ps, begin + link_ps));
    address += piece.size();
    bytes = bytes.subspan(piece.size());
  }
  last_access_ = std::chrono::steady_clock::now();
}

void HostAgent::wait_for_interrupt(unsigned line) {
  if (line >= interrupt_lines)
    throw Defect("the host has " + std::to_string(interrupt_lines) + " interrupt lines, waited for line " +
                 std::to_string(line));
  agent_.sync();
  waits_for_line_ = line;
  waits_since_ps_ = agent_.local_ps();
  while (!levels_[line]) agent_.wait_for(raised_, [this] { return waiting(); });
}

WaitingRecord HostAgent::waiting() const {
  return {.who = name(),
          .what = "interrupt line " + std::to_string(waits_for_line_),
          .since_ps = waits_since_ps_,
          .has = "low",
          .wants = "high"};
}

}  // namespace tilevp::platform
