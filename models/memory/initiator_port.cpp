#include "tilevp/memory/initiator_port.hpp"

#include <algorithm>

#include "tilevp/base/hex_text.hpp"
#include "tilevp/memory/exchange.hpp"
#include "tilevp/memory/rules.hpp"

namespace tilevp::memory {
namespace {

const char* rule_of(tlm::tlm_response_status status) {
  switch (status) {
    case tlm::TLM_ADDRESS_ERROR_RESPONSE:
      return rule::address_error;
    case tlm::TLM_COMMAND_ERROR_RESPONSE:
      return rule::command_error;
    case tlm::TLM_BURST_ERROR_RESPONSE:
      return rule::burst_error;
    case tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE:
      return rule::byte_enable_error;
    default:
      return rule::other_error;
  }
}

std::string_view status_text(tlm::tlm_response_status status) {
  switch (status) {
    case tlm::TLM_OK_RESPONSE:
      return "ok";
    case tlm::TLM_ADDRESS_ERROR_RESPONSE:
      return "address_error";
    case tlm::TLM_COMMAND_ERROR_RESPONSE:
      return "command_error";
    case tlm::TLM_BURST_ERROR_RESPONSE:
      return "burst_error";
    case tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE:
      return "byte_enable_error";
    case tlm::TLM_GENERIC_ERROR_RESPONSE:
      return "error";
    case tlm::TLM_INCOMPLETE_RESPONSE:
      return "incomplete";
  }
  return "error";
}

}  // namespace

InitiatorPort::InitiatorPort(sc_core::sc_module_name name, Agent& agent, CodingStyle style)
    : sc_module(name), agent_(agent), commit_(agent.simulation()) {
  if (style == CodingStyle::at) exchanges_ = std::make_unique<Exchanges>(*this);
  socket.register_nb_transport_bw(this, &InitiatorPort::nb_transport_bw);
}

InitiatorPort::~InitiatorPort() = default;

void InitiatorPort::fill(tlm::tlm_generic_payload& payload, Command command, const Run& run, std::byte* data) {
  payload.set_command(command == Command::read ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
  payload.set_address(run.address);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(data));
  payload.set_data_length(static_cast<unsigned>(run.bytes));
  payload.set_streaming_width(static_cast<unsigned>(run.bytes));
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

Reach InitiatorPort::reach(const AccessPattern& pattern) {
  const Handle handle = pool_.acquire();
  std::byte none{};
  fill(*handle, Command::read, {pattern.start(), 0}, &none);
  handle.extension().pattern = pattern;
  handle.extension().port = agent_.port();
  socket->transport_dbg(*handle);
  return {handle.extension().direct != nullptr, handle.extension().nonblocking};
}

tlm::tlm_sync_enum InitiatorPort::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                  sc_core::sc_time& delay) {
  return exchanges().backward(payload, phase, delay);
}

InitiatorPort::Exchanges& InitiatorPort::exchanges() {
  if (!exchanges_) throw Defect(agent_.name() + ": a non-blocking access through a loosely timed port");
  return *exchanges_;
}

std::size_t InitiatorPort::in_flight() const { return exchanges_ ? exchanges_->in_flight() : 0; }

AccessGrant InitiatorPort::served_grant(const MemoryAccess& access) {
  return {.begin_ps = access.begin_ps,
          .end_ps = access.end_ps,
          .id = access.id,
          .served = true,
          .direct = access.direct,
          .direct_pattern = access.direct_pattern,
          .bursts = access.bursts,
          .wasted_bytes = access.wasted_bytes};
}

AccessGrant InitiatorPort::send(Command command, const AccessPattern& pattern, std::byte* data, bool timing_only,
                                std::uint64_t cause) {
  const Handle handle = pool_.acquire();
  MemoryAccess& access = handle.extension();
  fill(*handle, command, {pattern.start(), std::min(pattern.run_bytes(), max_plain_bytes)}, data);
  access.pattern = pattern;
  access.timing_only = timing_only;
  access.id = agent_.next_id();
  access.cause = cause;
  access.port = agent_.port();
  const std::uint64_t asked = now_ps();
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  socket->b_transport(*handle, delay);
  report(*handle, access, pattern, asked, 0, delay);
  if (!handle->is_response_ok()) throw fault_of(*handle, command);
  if (!access.served) return {.begin_ps = asked, .end_ps = now_ps() + delay.value(), .id = access.id};
  return served_grant(access);
}

AccessGrant InitiatorPort::request(Command command, const AccessPattern& pattern, std::uint64_t cause) {
  return request_time(command, pattern, unused(pattern.run_bytes()), cause);
}

AccessGrant InitiatorPort::request(Command command, const AccessPattern& pattern, std::uint64_t cause,
                                   Responder& responder) {
  agent_.sync();
  return exchanges().begin(command, pattern, unused(pattern.run_bytes()), true, cause, responder);
}

AccessGrant InitiatorPort::begin(Command command, const Run& run, std::byte* data, std::uint64_t cause,
                                 Responder& responder) {
  agent_.sync();
  return exchanges().begin(command, AccessPattern::contiguous(run.address, run.bytes), data, false, cause, responder);
}

std::byte* InitiatorPort::unused(std::uint64_t bytes) {
  if (unused_.empty() || unused_.back().size() < bytes) unused_.emplace_back(bytes);
  return unused_.back().data();
}

AccessGrant InitiatorPort::request_time(Command command, const AccessPattern& pattern, std::byte* data,
                                        std::uint64_t cause) {
  agent_.sync();
  const AccessGrant grant = send(command, pattern, data, true, cause);
  if (grant.direct == nullptr)
    throw Defect(agent_.name() + ": a timing request at address " + std::to_string(pattern.start()) +
                 " met a target without direct access");
  return grant;
}

AccessGrant InitiatorPort::transfer(Command command, const AccessPattern& pattern, std::span<std::byte> data,
                                    std::uint64_t cause) {
  if (data.size() != pattern.bytes())
    throw Defect(agent_.name() + ": a transfer of " + std::to_string(pattern.bytes()) + " bytes was given " +
                 std::to_string(data.size()));
  if (is_direct(pattern)) {
    const AccessGrant grant = request_time(command, pattern, data.data(), cause);
    commit(command, grant, data);
    return grant;
  }
  agent_.sync();
  AccessGrant grant = exchanges_ ? exchanges_->run(command, pattern, data.data(), cause, 0)
                                 : send(command, pattern, data.data(), false, cause);
  agent_.wait_until(grant.end_ps);
  if (!grant.served) {
    send_rest(command, pattern, data, grant.id);
    grant.end_ps = now_ps();
  }
  return grant;
}

void InitiatorPort::report(const tlm::tlm_generic_payload& payload, const MemoryAccess& access,
                           const AccessPattern& pattern, std::uint64_t asked, std::uint64_t parent,
                           sc_core::sc_time delay) const {
  TransactionObserver* const observer = agent_.simulation().transactions();
  if (observer == nullptr) return;
  const AccessPattern sent =
      access.served ? pattern : AccessPattern::contiguous(pattern.start(), payload.get_data_length());
  Transaction transaction{.id = access.id, .parent = parent, .cause = access.cause};
  transaction.initiator = name();
  transaction.target = access.target;
  transaction.kind = payload.is_read() ? "read" : "write";
  transaction.what = {
      &sent, [](const void* object, std::string& to) { append_text(*static_cast<const AccessPattern*>(object), to); }};
  transaction.bytes = sent.bytes();
  transaction.requested_ps = asked;
  transaction.begin_ps = access.served ? access.begin_ps : asked;
  transaction.end_ps = access.served ? access.end_ps : now_ps() + delay.value();
  transaction.complete_ps = transaction.end_ps;
  // What a memory of ours has accepted ends well; its status comes with the response.
  transaction.status = access.served ? "ok" : status_text(payload.get_response_status());
  transaction.busy_ps = access.busy_ps;
  transaction.runs = sent.runs();
  transaction.bursts = access.bursts;
  transaction.wasted_bytes = access.wasted_bytes;
  observer->happened(transaction);
}

void InitiatorPort::commit(Command command, const AccessGrant& grant, std::span<std::byte> data) {
  commit_.run_at(grant.end_ps, agent_.port(), [&] {
    if (command == Command::read) {
      grant.direct->commit_read(grant.direct_pattern, agent_.name());
      grant.direct->gather(grant.direct_pattern, data.data());
    } else {
      grant.direct->commit_write(grant.direct_pattern);
      grant.direct->scatter(grant.direct_pattern, data.data());
    }
  });
}

void InitiatorPort::send_rest(Command command, const AccessPattern& pattern, std::span<std::byte> data,
                              std::uint64_t parent) {
  StreamCursor cursor(pattern, std::min(pattern.run_bytes(), max_plain_bytes));
  while (!cursor.done()) {
    std::byte* const from = data.data() + (pattern.bytes() - cursor.left());
    const Run run = cursor.take(max_plain_bytes);
    if (exchanges_)
      exchanges_->run(command, AccessPattern::contiguous(run.address, run.bytes), from, 0, parent);
    else
      send_plain(command, run, from, parent);
  }
}

void InitiatorPort::send_plain(Command command, const Run& run, std::byte* data, std::uint64_t parent) {
  fill(plain_, command, run, data);
  MemoryAccess access;  // stays here: the target sees a plain transaction
  access.id = agent_.next_id();
  const std::uint64_t asked = now_ps();
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  socket->b_transport(plain_, delay);
  report(plain_, access, AccessPattern::contiguous(run.address, run.bytes), asked, parent, delay);
  if (!plain_.is_response_ok()) throw fault_of(plain_, command);
  agent_.wait_until(now_ps() + delay.value());
}

std::size_t InitiatorPort::debug(Command command, std::uint64_t address, std::span<std::byte> data) {
  tlm::tlm_generic_payload payload;
  fill(payload, command, {address, data.size()}, data.data());
  return socket->transport_dbg(payload);
}

Fault InitiatorPort::fault_of(const tlm::tlm_generic_payload& payload, Command command) const {
  return {rule_of(payload.get_response_status()), agent_.name() + ": " + (command == Command::read ? "read" : "write") +
                                                      " of " + std::to_string(payload.get_data_length()) +
                                                      " bytes at " + hex_text(payload.get_address()) + ": " +
                                                      payload.get_response_string()};
}

}  // namespace tilevp::memory
