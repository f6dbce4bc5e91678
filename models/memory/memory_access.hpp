#pragma once
// The extension that memory-mapped transactions of ours carry, and the way to a memory's bytes without a second
// transaction.
//
// A strided access is a plain TLM transaction for its first run, plus this ignorable extension with the whole pattern.
// A target that understands serves all of it and sets `served`; anyone else serves the first run as the plain
// transaction it is, and the initiator sends the other runs itself.
#include <cstddef>
#include <cstdint>
#include <string>
#include <tlm>

#include "tilevp/base/host_range.hpp"
#include "tilevp/memory/access_pattern.hpp"

namespace tilevp::memory {

// The bytes behind a target, for initiators that move data at the end of an operation (rule R6). Granted a transaction:
// time always comes from a transaction, never from here.
class DirectMemory {
 public:
  // `pattern` below is in the memory's own addresses, as given in MemoryAccess::direct_pattern.
  // Copies the pattern's bytes, in stream order, out of or into a packed buffer. Data effects: call them inside an
  // effect.
  virtual void gather(const AccessPattern& pattern, std::byte* out) const = 0;
  virtual void scatter(const AccessPattern& pattern, const std::byte* in) = 0;
  // The byte at the memory's address 0, where all of them lie in one range of the host: effects may read there instead
  // of gathering. Null: they may not.
  virtual const std::byte* flat() const { return nullptr; }
  // Where those bytes lie: for EffectsQueue, as what a scatter writes or who gathers without an effect reads.
  virtual HostRange extent(const AccessPattern& pattern) const = 0;
  // Metadata, on the kernel thread, when the operation commits: checks that every byte read was written (throws Fault
  // `memory.undefined_read`, naming the first address and `reader`), marks bytes written.
  virtual void commit_read(const AccessPattern& pattern, const std::string& reader) = 0;
  virtual void commit_write(const AccessPattern& pattern) = 0;

 protected:
  ~DirectMemory() = default;
};

struct MemoryAccess : tlm::tlm_extension<MemoryAccess> {
  // Set by the initiator.
  AccessPattern pattern;     // addresses in the address space of the socket; routers translate it on the way
  bool timing_only = false;  // serve time and checks, move no bytes: the initiator moves them through `direct`
  std::uint64_t id = 0;      // of this transaction
  std::uint64_t cause = 0;   // id of what released it; 0: none
  unsigned port = 0;         // the initiator's number in same-instant arbitration

  // Set by the target.
  bool served = false;             // the whole pattern was served
  std::uint64_t begin_ps = 0;      // when the target began to serve it
  std::uint64_t end_ps = 0;        // when the last byte is there (also now + the annotated delay)
  DirectMemory* direct = nullptr;  // way to the bytes; null: none (then timing_only was not honoured)
  AccessPattern direct_pattern;    // `pattern` in the memory's own addresses
  std::uint64_t bursts = 0;        // the target moved for it; 0: the target does not say
  std::uint64_t wasted_bytes = 0;  // of those bursts, beyond the pattern's own
  std::uint64_t busy_ps = 0;       // the transaction added to the target's busy time
  const char* target = "";         // name of the target, where a router knows it; it outlives the run
  bool nonblocking = false;        // in answer to a debug request: the target would rather have nb_transport (`at`)

  // Leaves the extension as new; the pool calls it when a payload comes back. Field by field: it happens a transaction.
  void clear() {
    static constexpr AccessPattern none{};
    pattern = none;
    direct_pattern = none;
    timing_only = served = nonblocking = false;
    id = cause = begin_ps = end_ps = bursts = wasted_bytes = busy_ps = 0;
    port = 0;
    direct = nullptr;
    target = "";
  }

  tlm::tlm_extension_base* clone() const override { return new MemoryAccess(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const MemoryAccess&>(other); }
};

// The id of the transaction, for targets to name as the cause of what it sets off; 0 where it carries none.
inline std::uint64_t id_of_access(const tlm::tlm_generic_payload* payload) {
  const MemoryAccess* const access = payload == nullptr ? nullptr : payload->get_extension<MemoryAccess>();
  return access == nullptr ? 0 : access->id;
}

}  // namespace tilevp::memory
