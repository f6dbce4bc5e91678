#include "tilevp/platform/host_agent.hpp"

#include <algorithm>
#include <cmath>
#include <locale>
#include <sstream>

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
      simulation_(simulation),
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
  if (command == memory::Command::write && first_write_ == std::chrono::steady_clock::time_point{})
    first_write_ = std::chrono::steady_clock::now();
  current_ = {command, address, bytes.size(), 0, agent_.local_ps()};
  const std::span<const std::byte> all = bytes;
  const WaitBoard::Guard guard(simulation_.waits(), [this] { return accessing(); });
  const BusyTime* busy = busy_time(address);
  agent_.advance_to(agent_.local_ps() + latency_ps);
  const std::uint64_t id = agent_.next_id();
  const std::uint64_t access_begin = agent_.local_ps();
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), parameters_.access_bytes));
    agent_.sync();
    const std::uint64_t begin = agent_.local_ps();
    const auto pattern = memory::AccessPattern::contiguous(address, piece.size());
    const std::uint64_t busy_before_ps = busy == nullptr ? 0 : busy->counter->value();
    const auto grant = port_.transfer(command, pattern, piece, id);
    if (busy != nullptr) memory_busy_ps_[busy->path] += busy->counter->value() - busy_before_ps;
    const auto link_ps = to_ps(static_cast<double>(piece.size()) / parameters_.bytes_per_ns);
    agent_.advance_to(std::max(grant.end_ps, begin + link_ps));
    address += piece.size();
    current_.done += piece.size();
    bytes = bytes.subspan(piece.size());
  }
  if (first_write_ != std::chrono::steady_clock::time_point{}) last_access_ = std::chrono::steady_clock::now();
  if (simulation_.transactions() != nullptr) report_access(id, access_begin);
  if (observer_ == nullptr) return;
  if (command == memory::Command::write)
    observer_->wrote(current_.address, all.size());
  else
    observer_->read(current_.address, all);
}

void HostAgent::report_access(std::uint64_t id, std::uint64_t begin_ps) const {
  Transaction transaction{.id = id, .initiator = name()};
  transaction.kind = current_.command == memory::Command::write ? "host_write" : "host_read";
  transaction.what = {&current_, [](const void* object, std::string& to) {
                        const auto& access = *static_cast<const Access*>(object);
                        if (access.bytes > 0)
                          append_text(memory::AccessPattern::contiguous(access.address, access.bytes), to);
                      }};
  transaction.bytes = current_.bytes;
  transaction.requested_ps = current_.since_ps;
  transaction.begin_ps = begin_ps;
  transaction.end_ps = transaction.complete_ps = agent_.local_ps();
  simulation_.transactions()->happened(transaction);
}

void HostAgent::report_wait() const {
  Transaction transaction{.initiator = name(), .kind = "stall", .name = "interrupt"};
  transaction.requested_ps = transaction.begin_ps = waits_since_ps_;
  transaction.end_ps = transaction.complete_ps = agent_.local_ps();
  simulation_.transactions()->happened(transaction);
}

void HostAgent::wait_for_interrupt(unsigned line) {
  if (line >= interrupt_lines)
    throw Defect("the host has " + std::to_string(interrupt_lines) + " interrupt lines, waited for line " +
                 std::to_string(line));
  agent_.sync();
  waits_for_line_ = line;
  waits_since_ps_ = agent_.local_ps();
  while (!levels_[line]) agent_.wait_for(raised_, [this] { return waiting(); });
  if (simulation_.transactions() != nullptr) report_wait();
  if (observer_ != nullptr) observer_->interrupted(line);
}

const HostAgent::BusyTime* HostAgent::busy_time(std::uint64_t address) {
  if (busy_times_.empty()) {
    for (const auto& region : map_) busy_times_.push_back({region.name, nullptr});
    for (const auto& entry : simulation_.statistics().all())
      for (auto& busy : busy_times_)
        if (entry.path == busy.path && entry.definition->name == "busy_ps") busy.counter = entry.counter;
  }
  for (std::size_t i = 0; i < map_.size(); ++i)
    if (address >= map_[i].base && address - map_[i].base < map_[i].bytes)
      return busy_times_[i].counter == nullptr ? nullptr : &busy_times_[i];
  return nullptr;
}

WaitingRecord HostAgent::accessing() const {
  std::ostringstream what;
  what.imbue(std::locale::classic());
  what << "its own " << (current_.command == memory::Command::write ? "write" : "read") << " at 0x" << std::hex
       << current_.address;
  return {.who = name(),
          .what = what.str(),
          .since_ps = current_.since_ps,
          .has = std::to_string(current_.done) + " bytes",
          .wants = std::to_string(current_.bytes) + " bytes"};
}

WaitingRecord HostAgent::waiting() const {
  return {.who = name(),
          .what = "interrupt line " + std::to_string(waits_for_line_),
          .since_ps = waits_since_ps_,
          .has = "low",
          .wants = "high"};
}

}  // namespace tilevp::platform
