#pragma once
// Watches one memory-mapped connection for breaches of the TLM-2.0 base protocol.
//
//   initiator --> [ in  ProtocolChecker  out ] --> target
//
// Put it between any initiator socket and any target socket; it passes everything on and changes nothing. Its rules are
// those of protocol_rules.hpp. Interconnects may change the address on its way, so the address is not among the
// attributes that must stay. What a transaction on the way costs: a look-up in a hash table a call.
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>

namespace tilevp::memory {

struct ProtocolBreach {
  const char* rule;  // an id of protocol_rules.hpp
  std::string text;  // checker, call, transaction, what is wrong
};

class ProtocolChecker : public sc_core::sc_module,
                        private tlm::tlm_fw_transport_if<>,
                        private tlm::tlm_bw_transport_if<> {
 public:
  tlm::tlm_target_socket<> in{"in"};
  tlm::tlm_initiator_socket<> out{"out"};

  // `report` is called for each breach, in the call that makes it: it should not throw where the caller is foreign.
  ProtocolChecker(sc_core::sc_module_name name, std::function<void(const ProtocolBreach&)> report);

  // Transactions under way here.
  std::size_t under_way() const { return transactions_.size(); }
  std::uint64_t calls() const { return calls_; }

 private:
  enum class State { blocking, request, accepted, response };
  struct Attributes {
    tlm::tlm_command command;
    unsigned char* data;
    unsigned length;
    unsigned char* enables;
    unsigned enable_length;
    unsigned width;
    friend bool operator==(const Attributes&, const Attributes&) = default;
  };
  struct Transaction {
    State state;
    Attributes attributes;
    sc_core::sc_time time;  // now plus delay of the last call
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  };
  using Payload = tlm::tlm_generic_payload;
  // What is seen at the begin and at the end of a call on one path.
  struct Call;

  void b_transport(Payload& payload, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  unsigned int transport_dbg(Payload& payload) override;
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;

  void check_request(const char* call, const Payload& payload);
  void check_held(const char* call, const Payload& payload, bool needs_manager);
  // A phase that reaches the initiator or the target, by a call or by a return.
  void forward_phase(const char* call, const Payload& payload, const tlm::tlm_phase& phase,
                     const sc_core::sc_time& delay);
  void backward_phase(const char* call, const Payload& payload, const tlm::tlm_phase& phase,
                      const sc_core::sc_time& delay);
  void completed(const char* call, const Payload& payload, const sc_core::sc_time& delay);
  void end_response(const char* call, const Payload& payload, Transaction& transaction);
  void advance(const char* call, const Payload& payload, Transaction& transaction, const sc_core::sc_time& delay);
  void check_response(const char* call, const Payload& payload, Transaction& transaction);
  void forget(const Payload& payload);
  Transaction* find(const Payload& payload);
  static Attributes attributes_of(const Payload& payload);
  void breach(const char* rule, const char* call, const Payload& payload, const std::string& what);

  std::function<void(const ProtocolBreach&)> report_;
  boost::unordered_flat_map<const Payload*, Transaction> transactions_;
  const Payload* requesting_ = nullptr;
  const Payload* responding_ = nullptr;
  int forward_calls_ = 0;  // under way
  int backward_calls_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace tilevp::memory
