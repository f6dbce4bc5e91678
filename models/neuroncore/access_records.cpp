#include "tilevp/neuroncore/access_records.hpp"

#include <algorithm>
#include <tuple>

namespace tilevp::neuroncore {
namespace {

bool share_partitions(const Footprint& a, const Footprint& b) { return a.first < b.end && b.first < a.end; }

bool is_ordered(const AccessRecord& before, const AccessRecord& now) {
  const Stamp& stamp = before.actor->stamp;
  return stamp.agent == now.actor->stamp.agent || stamp.is_known_to(*now.actor->stamp.begin);
}

// Records that differ in their step only come to stand side by side, the latest first.
auto aside_key(const AccessRecord& record) {
  const memory::AccessPattern& bytes = record.where.bytes;
  return std::tuple(record.actor->stamp.agent, record.write, record.where.place, record.where.first, record.where.end,
                    bytes.start(), bytes.bytes(), bytes.run_bytes(), bytes.highest(), ~record.actor->stamp.step);
}

}  // namespace

template <class Fn>
void AccessRecords::for_each_bucket(const Footprint& where, Fn&& fn) {
  const std::uint64_t low = where.bytes.lowest();
  const std::uint64_t high = where.bytes.highest();
  if (where.place != Place::memory) {
    auto& buckets = on_chip_[static_cast<std::size_t>(where.place)];
    if (buckets.size() <= high >> on_chip_shift) buckets.resize((high >> on_chip_shift) + 1);
    for (std::uint64_t b = low >> on_chip_shift; b <= high >> on_chip_shift; ++b) fn(buckets[b]);
    return;
  }
  if (where.bytes.runs() >= (high >> memory_shift) - (low >> memory_shift)) {
    for (std::uint64_t b = low >> memory_shift; b <= high >> memory_shift; ++b) fn(memory_[b]);
    return;
  }
  std::uint64_t last = UINT64_MAX;
  where.bytes.for_each_run([&](std::uint64_t address, std::uint64_t bytes) {
    for (std::uint64_t b = address >> memory_shift; b <= (address + bytes - 1) >> memory_shift; ++b) {
      if (b != last) fn(memory_[b]);
      last = b;
    }
  });
}

std::optional<AccessConflict> AccessRecords::touch(const AccessRecord& access) {
  std::optional<AccessConflict> conflict;
  ++turn_;
  for_each_bucket(access.where, [&](Bucket& bucket) {
    if (!conflict) scan(bucket, access, conflict);
  });
  if (conflict) return conflict;
  for (const AccessRecord& piece : pieces_) insert(piece);
  pieces_.clear();
  insert(access);
  return std::nullopt;
}

void AccessRecords::scan(Bucket& bucket, const AccessRecord& access, std::optional<AccessConflict>& conflict) {
  for (std::size_t i = 0; i < bucket.size();) {
    const Entry entry = bucket[i];
    Slot& slot = slots_[entry.slot];
    if (!slot.used || slot.generation != entry.generation) {
      bucket[i] = bucket.back();
      bucket.pop_back();
      continue;
    }
    ++i;
    if (slot.seen_by == turn_) continue;
    slot.seen_by = turn_;
    const AccessRecord& before = slot.record;
    if (!share_partitions(before.where, access.where)) continue;
    if (is_ordered(before, access)) {
      if ((access.write || !before.write) && surely_contains(access.where.bytes, before.where.bytes))
        trim(entry.slot, access.where);
    } else if (before.write || access.write) {
      const auto common = first_common(before.where.bytes, access.where.bytes);
      if (!common) continue;
      conflict = AccessConflict{before, access, std::max(before.where.first, access.where.first),
                                std::min(before.where.end, access.where.end), *common};
      return;
    }
  }
}

void AccessRecords::trim(std::uint32_t slot, const Footprint& by) {
  Footprint& where = slots_[slot].record.where;
  const bool below = where.first < by.first;
  const bool above = where.end > by.end;
  if (!below && !above) {
    erase(slot);
  } else if (below && above) {
    pieces_.push_back(slots_[slot].record);
    pieces_.back().where.first = by.end;
    where.end = by.first;
  } else if (below) {
    where.end = by.first;
  } else {
    where.first = by.end;
  }
}

void AccessRecords::insert(const AccessRecord& record) {
  if (idle_.empty()) {
    idle_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = idle_.back();
  idle_.pop_back();
  slots_[slot].record = record;
  slots_[slot].used = true;
  ++live_;
  const Entry entry{slot, slots_[slot].generation};
  for_each_bucket(record.where, [&](Bucket& bucket) { bucket.push_back(entry); });
}

// Buckets keep its entries until they are looked through: those of an older generation are none.
void AccessRecords::erase(std::uint32_t slot) {
  slots_[slot].used = false;
  ++slots_[slot].generation;
  slots_[slot].record.actor.reset();
  idle_.push_back(slot);
  --live_;
}

void AccessRecords::set_aside(const Clock& floor) {
  for (std::uint32_t s = 0; s < slots_.size(); ++s) {
    if (!slots_[s].used || !slots_[s].record.actor->stamp.is_known_to(floor)) continue;
    aside_.push_back(slots_[s].record);
    erase(s);
  }
  const auto is_stale = [&](const Entry& entry) {
    return !slots_[entry.slot].used || slots_[entry.slot].generation != entry.generation;
  };
  const auto tidy = [&](Bucket& bucket) {
    bucket.erase(std::remove_if(bucket.begin(), bucket.end(), is_stale), bucket.end());
  };
  for (auto& buckets : on_chip_)
    for (Bucket& bucket : buckets) tidy(bucket);
  for (auto at = memory_.begin(); at != memory_.end();) {
    tidy(at->second);
    at = at->second.empty() ? memory_.erase(at) : std::next(at);
  }
  if (aside_.size() >= merge_at_) merge_aside();
}

// Of equal accesses of one agent the latest is enough.
void AccessRecords::merge_aside() {
  std::ranges::sort(aside_, {}, aside_key);
  const auto same = [](const AccessRecord& a, const AccessRecord& b) {
    return a.actor->stamp.agent == b.actor->stamp.agent && a.write == b.write && a.where == b.where;
  };
  aside_.erase(std::unique(aside_.begin(), aside_.end(), same), aside_.end());
  merge_at_ = std::max<std::size_t>(1024, 2 * aside_.size());
}

void AccessRecords::take_back(const Clock& clock) {
  for (const AccessRecord& record : aside_)
    if (!record.actor->stamp.is_known_to(clock)) insert(record);
  aside_.clear();
}

}  // namespace tilevp::neuroncore
