#pragma once
// A memory as somebody else writes one for approximately timed models: non-blocking calls only, no extension, no DMI,
// no debug access. It takes its time to accept a request and answers some sooner than others, whatever their order.
#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <systemc>
#include <vector>

namespace tilevp::memory::testing {

class DisorderedMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<DisorderedMemory> socket{"socket"};
  std::vector<unsigned char> bytes;

  struct Timing {
    sc_core::sc_time accept{7, sc_core::SC_NS};
    sc_core::sc_time sooner{40, sc_core::SC_NS};
    sc_core::sc_time later{100, sc_core::SC_NS};  // every third request
  };

  DisorderedMemory(sc_core::sc_module_name name, std::size_t size, const Timing& timing)
      : sc_module(name), bytes(size, 0xff), timing_(timing) {
    socket.register_nb_transport_fw(this, &DisorderedMemory::nb_transport_fw);
    sc_core::sc_spawn([this] { accept(); }, "accept");
    sc_core::sc_spawn([this] { answer(); }, "answer");
  }
  DisorderedMemory(sc_core::sc_module_name name, std::size_t size) : DisorderedMemory(name, size, Timing{}) {}

  // Responses that overtook a request that came before theirs.
  std::uint64_t overtakings() const { return overtakings_; }
  std::uint64_t requests() const { return requests_; }
  std::size_t most_in_flight() const { return most_in_flight_; }

 private:
  using Payload = tlm::tlm_generic_payload;

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_REQ) {
      payload.acquire();
      order_.push_back(&payload);
      most_in_flight_ = std::max(most_in_flight_, order_.size());
      requests_peq_.notify(payload, delay + timing_.accept);
      return tlm::TLM_ACCEPTED;
    }
    responding_ = false;
    response_ended_.notify(delay);
    payload.release();
    return tlm::TLM_COMPLETED;
  }

  void accept() {
    for (;;) {
      wait(requests_peq_.get_event());
      while (Payload* payload = requests_peq_.get_next_transaction()) {
        tlm::tlm_phase phase = tlm::END_REQ;
        sc_core::sc_time delay;
        socket->nb_transport_bw(*payload, phase, delay);
        responses_peq_.notify(*payload, ++requests_ % 3 == 0 ? timing_.later : timing_.sooner);
      }
    }
  }

  void answer() {
    for (;;) {
      wait(responses_peq_.get_event());
      while (Payload* payload = responses_peq_.get_next_transaction()) {
        while (responding_) wait(response_ended_);
        move(*payload);
        if (order_.front() != payload) ++overtakings_;
        std::erase(order_, payload);
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay;
        if (socket->nb_transport_bw(*payload, phase, delay) == tlm::TLM_ACCEPTED)
          responding_ = true;
        else
          payload->release();
      }
    }
  }

  void move(Payload& payload) {
    const std::uint64_t address = payload.get_address();
    const unsigned length = payload.get_data_length();
    if (address + length > bytes.size()) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    if (payload.is_read())
      std::memcpy(payload.get_data_ptr(), bytes.data() + address, length);
    else
      std::memcpy(bytes.data() + address, payload.get_data_ptr(), length);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  Timing timing_;
  tlm_utils::peq_with_get<Payload> requests_peq_{"requests_peq"};
  tlm_utils::peq_with_get<Payload> responses_peq_{"responses_peq"};
  std::deque<Payload*> order_;
  sc_core::sc_event response_ended_;
  bool responding_ = false;
  std::uint64_t overtakings_ = 0;
  std::uint64_t requests_ = 0;
  std::size_t most_in_flight_ = 0;
};

}  // namespace tilevp::memory::testing
