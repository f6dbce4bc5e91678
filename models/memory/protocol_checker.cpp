#include "tilevp/memory/protocol_checker.hpp"

#include <sstream>

#include "tilevp/memory/protocol_rules.hpp"

namespace tilevp::memory {
namespace {

std::string text_of(const tlm::tlm_phase& phase) {
  std::ostringstream text;
  text << phase;
  return text.str();
}

bool is_base_phase(const tlm::tlm_phase& phase) {
  return phase == tlm::BEGIN_REQ || phase == tlm::END_REQ || phase == tlm::BEGIN_RESP || phase == tlm::END_RESP;
}

}  // namespace

// Counts a non-blocking call while it is under way, and sees whether it waited.
struct ProtocolChecker::Call {
  Call(ProtocolChecker& owner, const char* call, const Payload& transaction, int& under_way, int others)
      : checker(owner), name(call), payload(transaction), count(under_way) {
    ++checker.calls_;
    ++count;
    if (others > 0) checker.breach(rule::recursion, name, payload, "called within a call on the other path");
    checker.check_held(name, payload, true);
  }
  ~Call() { --count; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void returned() const {
    if (sc_core::sc_delta_count() != delta || sc_core::sc_time_stamp() != time)
      checker.breach(rule::nonblocking_wait, name, payload, "waited before it returned");
  }

  ProtocolChecker& checker;
  const char* name;
  const Payload& payload;
  int& count;
  sc_dt::uint64 delta = sc_core::sc_delta_count();
  sc_core::sc_time time = sc_core::sc_time_stamp();
};

ProtocolChecker::ProtocolChecker(sc_core::sc_module_name name, std::function<void(const ProtocolBreach&)> report)
    : sc_module(name), report_(std::move(report)) {
  in.bind(*this);
  out.bind(*this);
}

// ---- Blocking.

void ProtocolChecker::b_transport(Payload& payload, sc_core::sc_time& delay) {
  constexpr char call[] = "b_transport";
  ++calls_;
  check_request(call, payload);
  check_held(call, payload, false);
  if (sc_core::sc_get_current_process_handle().proc_kind() == sc_core::SC_METHOD_PROC_)
    breach(rule::blocking_context, call, payload, "called from a method process");
  if (find(payload) != nullptr) {
    breach(rule::mixing, call, payload, "the transaction is under way already");
    out->b_transport(payload, delay);
    return;
  }
  const Attributes attributes = attributes_of(payload);
  transactions_[&payload] = {State::blocking, attributes, sc_core::sc_time_stamp() + delay};
  out->b_transport(payload, delay);
  if (Transaction* transaction = find(payload)) {
    advance(call, payload, *transaction, delay);
    check_response(call, payload, *transaction);
  }
  forget(payload);
}

// ---- Non-blocking.

tlm::tlm_sync_enum ProtocolChecker::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  constexpr char call[] = "nb_transport_fw";
  const Call here(*this, call, payload, forward_calls_, backward_calls_);
  const bool tracked = is_base_phase(phase);
  forward_phase(call, payload, phase, delay);
  const auto status = out->nb_transport_fw(payload, phase, delay);
  here.returned();
  if (status == tlm::TLM_UPDATED) backward_phase("return of nb_transport_fw", payload, phase, delay);
  if (status == tlm::TLM_COMPLETED && tracked) completed("return of nb_transport_fw", payload, delay);
  return status;
}

tlm::tlm_sync_enum ProtocolChecker::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  constexpr char call[] = "nb_transport_bw";
  const Call here(*this, call, payload, backward_calls_, forward_calls_);
  const bool tracked = is_base_phase(phase);
  backward_phase(call, payload, phase, delay);
  const auto status = in->nb_transport_bw(payload, phase, delay);
  here.returned();
  if (status == tlm::TLM_UPDATED) forward_phase("return of nb_transport_bw", payload, phase, delay);
  if (status == tlm::TLM_COMPLETED && tracked) completed("return of nb_transport_bw", payload, delay);
  return status;
}

void ProtocolChecker::forward_phase(const char* call, const Payload& payload, const tlm::tlm_phase& phase,
                                    const sc_core::sc_time& delay) {
  if (!is_base_phase(phase)) return;
  Transaction* transaction = find(payload);
  if (phase == tlm::BEGIN_REQ) {
    if (transaction != nullptr)
      breach(transaction->state == State::blocking ? rule::mixing : rule::phase_order, call, payload,
             "BEGIN_REQ of a transaction that is under way");
    check_request(call, payload);
    if (requesting_ != nullptr && requesting_ != &payload)
      breach(rule::request_exclusion, call, payload, "BEGIN_REQ while another request has no END_REQ");
    requesting_ = &payload;
    transactions_[&payload] = {State::request, attributes_of(payload), sc_core::sc_time_stamp() + delay};
    return;
  }
  if (phase != tlm::END_RESP) {
    breach(rule::phase_path, call, payload, text_of(phase) + " on the forward path");
    return;
  }
  if (transaction == nullptr || transaction->state != State::response) {
    breach(rule::phase_order, call, payload, "END_RESP without BEGIN_RESP");
    return;
  }
  advance(call, payload, *transaction, delay);
  end_response(call, payload, *transaction);
}

void ProtocolChecker::backward_phase(const char* call, const Payload& payload, const tlm::tlm_phase& phase,
                                     const sc_core::sc_time& delay) {
  if (!is_base_phase(phase)) return;
  if (phase == tlm::BEGIN_REQ || phase == tlm::END_RESP) {
    breach(rule::phase_path, call, payload, text_of(phase) + " on the backward path");
    return;
  }
  Transaction* transaction = find(payload);
  const bool expected = transaction != nullptr && (transaction->state == State::request ||
                                                   (phase == tlm::BEGIN_RESP && transaction->state == State::accepted));
  if (!expected) {
    breach(rule::phase_order, call, payload,
           text_of(phase) + (transaction == nullptr ? " of a transaction that is not under way" : " out of its order"));
    return;
  }
  advance(call, payload, *transaction, delay);
  if (requesting_ == &payload) requesting_ = nullptr;
  if (phase == tlm::END_REQ) {
    transaction->state = State::accepted;
    return;
  }
  if (responding_ != nullptr)
    breach(rule::response_exclusion, call, payload, "BEGIN_RESP while another response has no END_RESP");
  responding_ = &payload;
  transaction->state = State::response;
  check_response(call, payload, *transaction);
}

// TLM_COMPLETED: early, in answer to a request, or in place of END_RESP.
void ProtocolChecker::completed(const char* call, const Payload& payload, const sc_core::sc_time& delay) {
  Transaction* transaction = find(payload);
  if (transaction == nullptr || transaction->state == State::blocking) return;  // END_RESP has ended it already
  advance(call, payload, *transaction, delay);
  if (transaction->state == State::response)
    end_response(call, payload, *transaction);
  else {
    if (requesting_ == &payload) requesting_ = nullptr;
    check_response(call, payload, *transaction);
    forget(payload);
  }
}

void ProtocolChecker::end_response(const char* call, const Payload& payload, Transaction& transaction) {
  if (payload.get_response_status() != transaction.status)
    breach(rule::response_status, call, payload, "the status has changed since BEGIN_RESP");
  if (responding_ == &payload) responding_ = nullptr;
  forget(payload);
}

// ---- What holds in every call.

void ProtocolChecker::check_request(const char* call, const Payload& payload) {
  if (payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE)
    breach(rule::initial_status, call, payload, "starts with " + payload.get_response_string());
  const auto wrong = [&](const char* what) { breach(rule::initial_attributes, call, payload, what); };
  if (payload.get_command() != tlm::TLM_IGNORE_COMMAND) {
    if (payload.get_data_ptr() == nullptr) wrong("no data pointer");
    if (payload.get_data_length() == 0) wrong("a length of 0");
  }
  if (payload.get_streaming_width() == 0) wrong("a streaming width of 0");
  if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0)
    wrong("byte enables of length 0");
  if (payload.is_dmi_allowed()) wrong("the DMI hint is set");
}

void ProtocolChecker::check_held(const char* call, const Payload& payload, bool needs_manager) {
  if (payload.has_mm()) {
    if (payload.get_ref_count() == 0) breach(rule::lifetime, call, payload, "nobody holds the transaction");
  } else if (needs_manager) {
    breach(rule::memory_manager, call, payload, "no memory manager");
  }
}

void ProtocolChecker::advance(const char* call, const Payload& payload, Transaction& transaction,
                              const sc_core::sc_time& delay) {
  const sc_core::sc_time time = sc_core::sc_time_stamp() + delay;
  if (time < transaction.time)
    breach(rule::timing, call, payload, "goes back from " + transaction.time.to_string() + " to " + time.to_string());
  transaction.time = time;
  if (attributes_of(payload) != transaction.attributes)
    breach(rule::attributes, call, payload, "an attribute has changed since the request");
}

void ProtocolChecker::check_response(const char* call, const Payload& payload, Transaction& transaction) {
  transaction.status = payload.get_response_status();
  if (transaction.status == tlm::TLM_INCOMPLETE_RESPONSE)
    breach(rule::response_status, call, payload, "a response without a status");
}

// ---- Debug and DMI.

unsigned int ProtocolChecker::transport_dbg(Payload& payload) {
  constexpr char call[] = "transport_dbg";
  if (payload.get_data_length() > 0 && payload.get_data_ptr() == nullptr)
    breach(rule::debug, call, payload, "no data pointer");
  const unsigned int done = out->transport_dbg(payload);
  if (done > payload.get_data_length()) breach(rule::debug, call, payload, "moved " + std::to_string(done) + " bytes");
  return done;
}

bool ProtocolChecker::get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) {
  constexpr char call[] = "get_direct_mem_ptr";
  const sc_dt::uint64 address = payload.get_address();
  const bool granted = out->get_direct_mem_ptr(payload, dmi);
  const auto wrong = [&](const char* what) { breach(rule::dmi, call, payload, what); };
  if (dmi.get_start_address() > dmi.get_end_address()) wrong("the range ends before it starts");
  if (!granted) return false;
  if (dmi.get_dmi_ptr() == nullptr) wrong("granted without a pointer");
  if (dmi.is_none_allowed()) wrong("granted without an access");
  if (address < dmi.get_start_address() || address > dmi.get_end_address())
    wrong("the range does not hold the address asked for");
  return true;
}

void ProtocolChecker::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) {
  in->invalidate_direct_mem_ptr(start, end);
}

// ---- Records.

ProtocolChecker::Transaction* ProtocolChecker::find(const Payload& payload) {
  const auto found = transactions_.find(&payload);
  return found == transactions_.end() ? nullptr : &found->second;
}

void ProtocolChecker::forget(const Payload& payload) { transactions_.erase(&payload); }

ProtocolChecker::Attributes ProtocolChecker::attributes_of(const Payload& payload) {
  return {payload.get_command(),         payload.get_data_ptr(),           payload.get_data_length(),
          payload.get_byte_enable_ptr(), payload.get_byte_enable_length(), payload.get_streaming_width()};
}

void ProtocolChecker::breach(const char* rule, const char* call, const Payload& payload, const std::string& what) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << name() << ": " << call << ": "
       << (payload.is_read()    ? "read"
           : payload.is_write() ? "write"
                                : "access without command")
       << " of " << payload.get_data_length() << " bytes at 0x" << std::hex << payload.get_address() << ": " << what;
  report_({rule, text.str()});
}

}  // namespace tilevp::memory
