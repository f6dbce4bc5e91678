#pragma once
// The non-blocking side of a router. Private to it.
//
// Each socket keeps the exclusion rules by itself: an output has one BEGIN_REQ without END_REQ, an input one BEGIN_RESP
// without END_RESP. What comes meanwhile waits here, in the order in which it came; to whoever sent it the router has
// answered TLM_ACCEPTED. A payload is translated from the moment it is sent on until its response comes back.
#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>
#include <memory>
#include <vector>

#include "tilevp/interconnect/translation.hpp"

namespace tilevp::interconnect {

class Router::Hops {
 public:
  explicit Hops(Router& router);

  tlm::tlm_sync_enum forward(unsigned input, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum backward(unsigned output, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);

 private:
  // A transaction under way.
  struct Hop {
    tlm::tlm_generic_payload* payload = nullptr;
    unsigned input = 0;
    const Region* region = nullptr;
    Translation translation;
    sc_core::sc_time due;      // when what waits here takes effect: its annotated time
    bool target_done = false;  // the target counts it as completed
    bool delayed = false;      // the router's latency is in the end that the target named
  };
  // One direction of one socket: what was begun and not ended, and what waits for that.
  struct Lane {
    Hop* current = nullptr;
    std::deque<Hop*> waiting;
  };

  tlm::tlm_sync_enum begin_request(unsigned input, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  tlm::tlm_sync_enum end_response(unsigned input, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay);
  tlm::tlm_sync_enum send_request(Hop& hop, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum begin_response(Hop& hop, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  // Undoes the translation, adds the latency.
  void turn_round(Hop& hop, sc_core::sc_time& delay);
  void add_latency(Hop& hop);
  void request_ended(Hop& hop);
  void finish(Hop& hop);
  // Sends on what waits, outside the calls of others: a call on one path must not lead to one on the other.
  void send_waiting();
  void send_waiting_request(Lane& lane);
  void send_waiting_response(Lane& lane);
  Lane& output(unsigned index) { return lane(outputs_, index); }
  Lane& input(unsigned index) { return lane(inputs_, index); }
  static Lane& lane(std::vector<std::unique_ptr<Lane>>& lanes, unsigned index);

  Router& router_;
  sc_core::sc_event wake_;
  std::vector<std::unique_ptr<Lane>> outputs_;
  std::vector<std::unique_ptr<Lane>> inputs_;
  boost::unordered_flat_map<const tlm::tlm_generic_payload*, Hop*> under_way_;
  std::vector<std::unique_ptr<Hop>> hops_;
  std::vector<Hop*> idle_;
};

}  // namespace tilevp::interconnect
