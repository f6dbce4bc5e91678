#pragma once
// The non-blocking side of a memory. Private to it.
//
//   BEGIN_REQ --> [request queue, bounded] --> port (arbiter) --> END_REQ ... bytes at the end ... BEGIN_RESP -->
//   END_RESP
//
// A request is accepted (END_REQ) in the instant in which it has an entry of the queue and its times are settled; a
// full queue holds END_REQ back, first come first served. The entry is free again with END_RESP. A binding has one
// BEGIN_RESP at a time; responses come in the order of their ends, which need not be that of the requests. A request
// that is refused or to be ignored ends at once with TLM_COMPLETED.
#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "tilevp/base/arbiter.hpp"
#include "tilevp/base/completion_queue.hpp"
#include "tilevp/memory/memory.hpp"

namespace tilevp::memory {

class Memory::NonBlocking {
 public:
  NonBlocking(Memory& memory, std::uint32_t capacity) : memory_(memory), capacity_(capacity) {}

  tlm::tlm_sync_enum forward(int id, tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase,
                             const sc_core::sc_time& delay);

 private:
  struct Transaction final : Completion, Grantee {
    NonBlocking* side = nullptr;
    tlm::tlm_generic_payload* payload = nullptr;
    int id = 0;         // of the binding
    unsigned port = 0;  // in same-instant arbitration
    bool arrived = false;
    AccessPattern pattern;
    Claims claims;

    void complete() override;
    void granted(const Grant& grant) override { side->accept(*this, grant); }
  };
  // The way back of one binding.
  struct Line final : Completion {
    NonBlocking* side = nullptr;
    int id = 0;
    Transaction* current = nullptr;  // its BEGIN_RESP has no END_RESP yet
    std::deque<Transaction*> waiting;

    void complete() override { side->pump(*this); }
  };

  Transaction& take(int id, tlm::tlm_generic_payload& payload);
  void arrive(Transaction& transaction);
  void schedule(Transaction& transaction);
  void accept(Transaction& transaction, const Grant& grant);
  void serve(Transaction& transaction);
  void pump(Line& line);
  void end(Line& line);
  Line& line_of(int id);

  Memory& memory_;
  std::uint32_t capacity_;
  std::uint32_t occupied_ = 0;
  std::deque<Transaction*> waiting_;  // for an entry, as they came
  std::vector<std::unique_ptr<Line>> lines_;
  std::vector<std::unique_ptr<Transaction>> transactions_;
  std::vector<Transaction*> idle_;
};

}  // namespace tilevp::memory
