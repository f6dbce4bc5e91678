#pragma once
// Who touched which bytes last, as far as somebody might still race with it.
//
// A record is dropped when a later access that is ordered behind it covers its bytes (whoever races with the record
// races with that access), and set aside when all that acts now knows that it has ended. So there are as many as there
// are distinct tiles in use, however long the run. Set aside are records that only the host, or what the host is yet to
// start, may race with.
#include <boost/container/small_vector.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tilevp/neuroncore/footprint.hpp"
#include "tilevp/neuroncore/vector_clock.hpp"

namespace tilevp::neuroncore {

// One step of an agent that touches bytes: an instruction, a descriptor, an access of the host.
struct RaceActor : boost::intrusive_ref_counter<RaceActor, boost::thread_unsafe_counter> {
  Stamp stamp;
  std::uint64_t number = 0;  // of the instruction in its stream, of the descriptor in its ring
  std::optional<Instruction> instruction{};
  // Of a descriptor that moves bytes.
  std::optional<memory::AccessPattern> source{};
  std::optional<memory::AccessPattern> destination{};
  std::optional<Engine> trigger{};  // whose sequencer released it, with which record; none: the host
  std::uint64_t trigger_index = 0;
};
using RaceActorRef = boost::intrusive_ptr<const RaceActor>;

struct AccessRecord {
  Footprint where{};
  RaceActorRef actor{};
  bool write = false;
};

// Two accesses that nothing orders, and the first bytes they have in common.
struct AccessConflict {
  AccessRecord before;  // recorded earlier, which is no order
  AccessRecord now;
  std::uint16_t first_partition = 0;
  std::uint16_t end_partition = 1;
  memory::Run bytes{};
};

class AccessRecords {
 public:
  // Records the access; returns the conflict where a recorded one that its actor does not know of touches the same
  // bytes and one of the two writes.
  std::optional<AccessConflict> touch(const AccessRecord& access);

  // Records in use; those set aside do not count.
  std::size_t size() const { return live_; }
  std::size_t set_aside() const { return aside_.size(); }
  // Sets aside what everybody who acts knows: `floor` is the meet of their clocks.
  void set_aside(const Clock& floor);
  // Takes back what was set aside and `clock` does not know, and forgets the rest.
  void take_back(const Clock& clock);

 private:
  struct Slot {
    AccessRecord record;
    std::uint32_t generation = 0;
    std::uint64_t seen_by = 0;
    bool used = false;
  };
  struct Entry {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
  };
  using Bucket = boost::container::small_vector<Entry, 4>;

  static constexpr unsigned on_chip_shift = 11;  // a bucket: 2 KiB of the free axis
  static constexpr unsigned memory_shift = 16;   // 64 KiB
  template <class Fn>
  void for_each_bucket(const Footprint& where, Fn&& fn);
  void scan(Bucket& bucket, const AccessRecord& access, std::optional<AccessConflict>& conflict);
  // Drops what `access`, ordered behind it, covers of the record.
  void trim(std::uint32_t slot, const Footprint& by);
  void insert(const AccessRecord& record);
  void erase(std::uint32_t slot);
  void merge_aside();

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> idle_;
  std::size_t live_ = 0;
  std::uint64_t turn_ = 0;
  std::array<std::vector<Bucket>, 2> on_chip_;
  std::unordered_map<std::uint64_t, Bucket> memory_;  // looked up only, never walked in its order
  std::vector<AccessRecord> pieces_;                  // of records cut in two
  std::vector<AccessRecord> aside_;
  std::size_t merge_at_ = 1024;
};

}  // namespace tilevp::neuroncore
