#include "tilevp/base/nonblocking_bridge.hpp"

#include <optional>
#include <utility>

#include "tilevp/base/simulation.hpp"

namespace tilevp {

// A thread and what it serves.
struct NonBlockingBridge::Server {
  std::optional<Request> request;
  sc_core::sc_event given;
};

NonBlockingBridge::NonBlockingBridge(Simulation& simulation, std::string module, std::uint32_t capacity, Serve serve,
                                     Answer answer)
    : simulation_(simulation),
      module_(std::move(module)),
      capacity_(capacity),
      serve_(std::move(serve)),
      answer_(std::move(answer)) {}

NonBlockingBridge::~NonBlockingBridge() = default;

tlm::tlm_sync_enum NonBlockingBridge::forward(int id, Payload& payload, tlm::tlm_phase& phase,
                                              const sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) {
    Line& line = line_of(id);
    if (line.responding != &payload) return tlm::TLM_ACCEPTED;
    line.responding = nullptr;
    line.ended.notify(sc_core::SC_ZERO_TIME);
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;  // phases beyond the base protocol may be ignored
  payload.acquire();
  const Request request{id, &payload, sc_core::sc_time_stamp() + delay};
  Server* const server = held_.empty() ? idle_server() : nullptr;
  if (server == nullptr) {
    held_.push_back(request);
    return tlm::TLM_ACCEPTED;
  }
  server->request = request;
  server->given.notify(sc_core::SC_ZERO_TIME);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

NonBlockingBridge::Server* NonBlockingBridge::idle_server() {
  if (!idle_.empty()) {
    Server* const server = idle_.back();
    idle_.pop_back();
    return server;
  }
  if (servers_.size() == capacity_) return nullptr;
  Server* const server = servers_.emplace_back(std::make_unique<Server>()).get();
  sc_core::sc_spawn([this, server] { simulation_.guarded(module_, [this, server] { run(*server); }); },
                    sc_core::sc_gen_unique_name("nonblocking"));
  return server;
}

void NonBlockingBridge::run(Server& server) {
  for (;;) {
    while (!server.request) sc_core::wait(server.given);
    serve(*server.request);
    server.request.reset();
    if (held_.empty()) {
      idle_.push_back(&server);
      continue;
    }
    server.request = held_.front();
    held_.pop_front();
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay;
    answer_(server.request->id, *server.request->payload, phase, delay);
  }
}

void NonBlockingBridge::serve(const Request& request) {
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  if (request.arrival > now) sc_core::wait(request.arrival - now);
  sc_core::sc_time delay;
  serve_(request.id, *request.payload, delay);
  if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(delay);
  respond(request);
  request.payload->release();
}

void NonBlockingBridge::respond(const Request& request) {
  Line& line = line_of(request.id);
  while (line.responding != nullptr) sc_core::wait(line.ended);
  line.responding = request.payload;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  if (answer_(request.id, *request.payload, phase, delay) == tlm::TLM_ACCEPTED) {
    while (line.responding == request.payload) sc_core::wait(line.ended);
    return;
  }
  line.responding = nullptr;
  line.ended.notify(sc_core::SC_ZERO_TIME);
}

NonBlockingBridge::Line& NonBlockingBridge::line_of(int id) {
  const auto index = static_cast<std::size_t>(id);
  while (lines_.size() <= index) lines_.push_back(std::make_unique<Line>());
  return *lines_[index];
}

}  // namespace tilevp
