#include "tilevp/memory/memory.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/hex_text.hpp"
#include "tilevp/base/number_text.hpp"
#include "tilevp/memory/nonblocking.hpp"
#include "tilevp/memory/pattern_copy.hpp"
#include "tilevp/memory/rules.hpp"

namespace tilevp::memory {
namespace {

constexpr StatisticDefinition bytes_read_definition{"bytes_read", "bytes", "Bytes that transactions read."};
constexpr StatisticDefinition bytes_written_definition{"bytes_written", "bytes", "Bytes that transactions wrote."};
constexpr StatisticDefinition wasted_bytes_definition{
    "wasted_bytes", "bytes", "Bytes of whole bursts beyond those asked for; 0 where no burst is declared."};
constexpr StatisticDefinition runs_definition{"runs", "1", "Contiguous runs of all transactions."};
constexpr StatisticDefinition bursts_definition{"bursts", "1", "Bursts moved; runs where no burst is declared."};
constexpr StatisticDefinition transactions_definition{"transactions", "1", "Transactions served."};
constexpr StatisticDefinition busy_ps_definition{
    "busy_ps", "ps", "Time the shared port was occupied: bits / (ceiling x efficiency), summed over transactions."};

// The length of the access whose time a DMI grant states.
constexpr std::uint64_t dmi_access_bytes = 4;

std::uint64_t latency_ps(double nanoseconds, std::string_view place) {
  if (!std::isfinite(nanoseconds) || nanoseconds < 0 || nanoseconds > 1e9)
    throw UserError(std::string(place) + ".latency_ns",
                    "expected 0 to 1e9 nanoseconds, found " + number_text(nanoseconds));
  return static_cast<std::uint64_t>(std::llround(nanoseconds * 1000));
}

std::uint32_t at_least_one(std::uint32_t value, std::string_view place, const char* key) {
  if (value == 0) throw UserError(std::string(place) + "." + key, "expected at least 1, found 0");
  return value;
}

bool enabled(const tlm::tlm_generic_payload& payload, unsigned byte) {
  const unsigned char* const enables = payload.get_byte_enable_ptr();
  return enables == nullptr || enables[byte % payload.get_byte_enable_length()] == TLM_BYTE_ENABLED;
}

}  // namespace

Memory::Memory(sc_core::sc_module_name name, Simulation& simulation, const MemoryParameters& parameters,
               std::string_view place)
    : sc_module(name),
      simulation_(simulation),
      parameters_(parameters),
      bandwidth_(parameters.bandwidth, std::string(place) + ".bandwidth"),
      clock_(std::string(this->name()) + ".clock", parameters.clock_hz),
      latency_ps_(latency_ps(parameters.latency_ns, place)),
      store_(parameters.size_bytes, std::string(place) + ".size_bytes", HostPages::large),
      defined_(parameters.size_bytes, std::string(place) + ".size_bytes"),
      commit_(simulation),
      port_(std::string(this->name()) + ".port", clock_),
      read_(std::string(this->name()) + ".read", clock_),
      write_(std::string(this->name()) + ".write", clock_),
      nonblocking_(
          std::make_unique<NonBlocking>(*this, at_least_one(parameters.request_queue, place, "request_queue"))),
      busy_(simulation.probes(), std::string(this->name()) + ".busy", 1, "the shared port serves a transaction") {
  socket.register_b_transport(this, &Memory::b_transport);
  socket.register_nb_transport_fw(this, &Memory::nb_transport_fw);
  socket.register_transport_dbg(this, &Memory::transport_dbg);
  socket.register_get_direct_mem_ptr(this, &Memory::get_direct_mem_ptr);
  auto& statistics = simulation.statistics();
  statistics.add(this->name(), bytes_read_definition, bytes_read_);
  statistics.add(this->name(), bytes_written_definition, bytes_written_);
  statistics.add(this->name(), wasted_bytes_definition, wasted_bytes_);
  statistics.add(this->name(), runs_definition, runs_);
  statistics.add(this->name(), bursts_definition, bursts_);
  statistics.add(this->name(), transactions_definition, transactions_);
  statistics.add(this->name(), busy_ps_definition, busy_ps_);
}

Memory::~Memory() = default;

bool Memory::is_plain(const tlm::tlm_generic_payload& payload) {
  return payload.get_extension<MemoryAccess>() == nullptr || payload.get_byte_enable_ptr() != nullptr ||
         payload.get_streaming_width() < payload.get_data_length();
}

AccessPattern Memory::pattern_of(const tlm::tlm_generic_payload& payload) {
  return is_plain(payload) ? AccessPattern::contiguous(payload.get_address(), payload.get_data_length())
                           : payload.get_extension<MemoryAccess>()->pattern;
}

Direction Memory::direction_of(const tlm::tlm_generic_payload& payload) {
  return payload.is_read() ? Direction::read : Direction::write;
}

tlm::tlm_response_status Memory::check(const tlm::tlm_generic_payload& payload) const {
  const std::uint64_t length = payload.get_data_length();
  const std::uint64_t width = payload.get_streaming_width();
  if (length == 0 || width == 0) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0)
    return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  const std::uint64_t span = std::min(length, width);
  if (payload.get_address() >= parameters_.size_bytes || span > parameters_.size_bytes - payload.get_address())
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

bool Memory::answered(tlm::tlm_generic_payload& payload) const {
  payload.set_dmi_allowed(false);
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return true;
  }
  payload.set_response_status(check(payload));
  if (!payload.is_response_ok()) return true;
  if (!is_plain(payload) && !inside(payload.get_extension<MemoryAccess>()->pattern)) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return true;
  }
  payload.set_dmi_allowed(true);
  return false;
}

void Memory::b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (delay != sc_core::SC_ZERO_TIME && payload.get_command() != tlm::TLM_IGNORE_COMMAND) {
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
  }
  if (answered(payload)) return;
  if (is_plain(payload))
    serve_plain(payload, foreign_port_base + static_cast<unsigned>(id));
  else
    serve_pattern(payload, *payload.get_extension<MemoryAccess>());
}

tlm::tlm_sync_enum Memory::nb_transport_fw(int id, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                           sc_core::sc_time& delay) {
  return nonblocking_->forward(id, payload, phase, delay);
}

void Memory::serve_pattern(tlm::tlm_generic_payload& payload, MemoryAccess& access) {
  const Timing timing = schedule(access.pattern, direction_of(payload), access.port);
  fill(access, timing);
  if (!access.timing_only) commit_.run_at(timing.end_ps, access.port, [&] { move_pattern(payload, access); });
}

void Memory::fill(MemoryAccess& access, const Timing& timing) {
  access.served = true;
  access.begin_ps = timing.begin_ps;
  access.end_ps = timing.end_ps;
  access.direct = this;
  access.direct_pattern = access.pattern;
  access.bursts = timing.traffic.bursts;
  access.wasted_bytes = timing.traffic.moved_bytes - timing.traffic.useful_bytes;
  access.busy_ps = timing.busy_ps;
}

void Memory::move_pattern(tlm::tlm_generic_payload& payload, const MemoryAccess& access) {
  auto* const data = reinterpret_cast<std::byte*>(payload.get_data_ptr());
  if (payload.is_read()) {
    commit_read(access.pattern, "port " + std::to_string(access.port));
    gather(access.pattern, data);
  } else {
    commit_write(access.pattern);
    scatter(access.pattern, data);
  }
}

// An undefined read of a foreign initiator ends the run here: its thread would lose the type of an exception.
void Memory::serve_plain(tlm::tlm_generic_payload& payload, unsigned port) {
  const Timing timing = schedule(pattern_of(payload), direction_of(payload), port);
  try {
    commit_.run_at(timing.end_ps, port, [&] { move_plain(payload); });
  } catch (Fault& fault) {
    fault.module = name();
    fault.time_ps = now_ps();
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    simulation_.fail(std::current_exception());
  }
}

void Memory::move_plain(tlm::tlm_generic_payload& payload) {
  const std::uint64_t start = payload.get_address();
  const unsigned length = payload.get_data_length();
  const unsigned width = payload.get_streaming_width();
  const bool read = payload.is_read();
  auto* const data = reinterpret_cast<std::byte*>(payload.get_data_ptr());
  const auto move = [&](std::uint64_t address, unsigned at, unsigned bytes) {
    if (read) {
      require_defined(AccessPattern::contiguous(address, bytes), "a plain transaction");
      std::memcpy(data + at, store_.data() + address, bytes);
    } else {
      defined_.mark(address, bytes);
      std::memcpy(store_.data() + address, data + at, bytes);
    }
  };
  if (payload.get_byte_enable_ptr() == nullptr && width >= length) {
    move(start, 0, length);
    return;
  }
  for (unsigned i = 0; i < length; ++i)
    if (enabled(payload, i)) move(start + i % width, i, 1);
}

Memory::Timing Memory::schedule(const AccessPattern& pattern, Direction direction, unsigned port) {
  const Claims claims = claims_of(pattern, direction);
  const Grant grant = simulation_.arbiter().acquire(claims.span(), port);
  return timing_of(grant, pattern, direction, claims.items[0].work);
}

Memory::Claims Memory::claims_of(const AccessPattern& pattern, Direction direction) {
  Claims claims{{RateClaim{&port_, bandwidth_.cycles_q32(pattern, direction, Limit::ceiling)}}, 1};
  // A ceiling that is no higher than one direction's rate leaves the direction nothing to say.
  if (parameters_.bandwidth.ceiling_bits_per_cycle > parameters_.bandwidth.contiguous_bits_per_cycle)
    claims.items[claims.count++] = {direction == Direction::read ? &read_ : &write_,
                                    bandwidth_.cycles_q32(pattern, direction, Limit::contiguous)};
  return claims;
}

Memory::Timing Memory::timing_of(const Grant& grant, const AccessPattern& pattern, Direction direction,
                                 CyclesQ32 port_work) {
  Timing timing{.begin_ps = grant.blocker != nullptr ? grant.begin_ps : now_ps(),
                .end_ps = grant.end_ps + latency_ps_,
                .traffic = bandwidth_.traffic(pattern),
                .busy_ps = 0};
  timing.busy_ps = count(timing.traffic, direction, grant.begin_ps, port_work);
  return timing;
}

std::uint64_t Memory::count(const Traffic& traffic, Direction direction, std::uint64_t begin_ps, CyclesQ32 work) {
  (direction == Direction::read ? bytes_read_ : bytes_written_) += traffic.useful_bytes;
  wasted_bytes_ += traffic.moved_bytes - traffic.useful_bytes;
  runs_ += traffic.runs;
  bursts_ += traffic.bursts;
  transactions_ += 1;
  busy_work_ += work;
  const std::uint64_t added = clock_.time_ps_q32(busy_work_) - busy_ps_.value();
  busy_ps_ += added;
  busy_.set(begin_ps, 1);
  busy_.set(begin_ps + added, 0);
  return added;
}

unsigned int Memory::transport_dbg(int, tlm::tlm_generic_payload& payload) {
  auto* access = payload.get_extension<MemoryAccess>();
  if (access != nullptr && payload.get_data_length() == 0) {
    if (!inside(access->pattern)) return 0;
    access->direct = this;
    access->direct_pattern = access->pattern;
    access->nonblocking = parameters_.coding_style == CodingStyle::at;
    return 0;
  }
  const std::uint64_t start = payload.get_address();
  if (start >= parameters_.size_bytes || payload.get_command() == tlm::TLM_IGNORE_COMMAND) return 0;
  const auto bytes =
      static_cast<unsigned>(std::min<std::uint64_t>(payload.get_data_length(), parameters_.size_bytes - start));
  simulation_.effects().join();
  if (payload.is_read()) {
    std::memcpy(payload.get_data_ptr(), store_.data() + start, bytes);
  } else {
    std::memcpy(store_.data() + start, payload.get_data_ptr(), bytes);
    if (bytes > 0) defined_.mark(start, bytes);
  }
  return bytes;
}

bool Memory::get_direct_mem_ptr(int, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  if (payload.get_address() >= parameters_.size_bytes) return false;
  dmi_granted_ = true;
  simulation_.effects().execute_at_once();
  dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(store_.data()));
  dmi.set_start_address(0);
  dmi.set_end_address(parameters_.size_bytes - 1);
  dmi.allow_read_write();
  dmi.set_read_latency(dmi_latency(Direction::read));
  dmi.set_write_latency(dmi_latency(Direction::write));
  return true;
}

sc_core::sc_time Memory::dmi_latency(Direction direction) const {
  const AccessPattern pattern = AccessPattern::contiguous(0, dmi_access_bytes);
  const std::uint64_t ps = clock_.time_ps_q32(bandwidth_.cycles_q32(pattern, direction, Limit::contiguous));
  return from_ps(ps + latency_ps_);
}

void Memory::gather(const AccessPattern& pattern, std::byte* out) const { memory::gather(pattern, store_.data(), out); }

void Memory::scatter(const AccessPattern& pattern, const std::byte* in) { memory::scatter(in, pattern, store_.data()); }

HostRange Memory::extent(const AccessPattern& pattern) const {
  return HostRange::of(store_.data() + pattern.lowest(), store_.data() + pattern.highest() + 1);
}

void Memory::commit_read(const AccessPattern& pattern, const std::string& reader) { require_defined(pattern, reader); }

void Memory::commit_write(const AccessPattern& pattern) { defined_.mark(pattern); }

void Memory::require_defined(const AccessPattern& pattern, const std::string& reader) const {
  if (dmi_granted_) return;
  if (const auto address = defined_.first_undefined(pattern))
    throw Fault(rule::undefined_read, std::string(name()) + ": " + reader + " reads byte " + hex_text(*address) +
                                          ", which nobody has written");
}

}  // namespace tilevp::memory
