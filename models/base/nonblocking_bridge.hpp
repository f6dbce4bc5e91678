#pragma once
// Lets a target that serves b_transport alone take nb_transport too, as the base protocol asks of targets.
//
// Each request is served by a thread of its own, at most `capacity` at a time. A request is accepted (END_REQ, in
// return to BEGIN_REQ) where one is idle; otherwise END_REQ is held back until one is, first come first served. A
// binding has one BEGIN_RESP at a time. Threads are made when they are first needed.
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace tilevp {

class Simulation;

class NonBlockingBridge {
 public:
  using Payload = tlm::tlm_generic_payload;
  // `id` is that of the binding, for targets that are bound more than once.
  using Serve = std::function<void(int id, Payload& payload, sc_core::sc_time& delay)>;
  using Answer =
      std::function<tlm::tlm_sync_enum(int id, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay)>;

  // `serve` is the target's b_transport, `answer` its way to nb_transport_bw. What `serve` throws ends the run as a
  // failure of `module`.
  NonBlockingBridge(Simulation& simulation, std::string module, std::uint32_t capacity, Serve serve, Answer answer);
  ~NonBlockingBridge();

  // nb_transport_fw.
  tlm::tlm_sync_enum forward(int id, Payload& payload, tlm::tlm_phase& phase, const sc_core::sc_time& delay);

 private:
  struct Request {
    int id;
    Payload* payload;
    sc_core::sc_time arrival;
  };
  struct Server;
  // The way back of one binding.
  struct Line {
    const Payload* responding = nullptr;  // BEGIN_RESP sent, END_RESP awaited
    sc_core::sc_event ended;
  };
  // Null where all servers are busy.
  Server* idle_server();
  void run(Server& server);
  void serve(const Request& request);
  void respond(const Request& request);
  Line& line_of(int id);

  Simulation& simulation_;
  std::string module_;
  std::uint32_t capacity_;
  Serve serve_;
  Answer answer_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<Server*> idle_;
  std::deque<Request> held_;  // their END_REQ is held back
  std::vector<std::unique_ptr<Line>> lines_;
};

}  // namespace tilevp
