#pragma once
// What a router changes in a payload on its way, and puts back.
#include "tilevp/interconnect/router.hpp"

namespace tilevp::interconnect {

inline bool holds(const Region& region, std::uint64_t first, std::uint64_t last) {
  return first >= region.base && last <= region.last();
}

inline std::int64_t translation(const Region& region) {
  return static_cast<std::int64_t>(region.target_offset - region.base);
}

// The address, and the pattern of the extension or, where the pattern leaves the region, the extension as a whole.
class Translation {
 public:
  void apply(const Region& region, tlm::tlm_generic_payload& payload) {
    address_ = payload.get_address();
    access_ = payload.get_extension<memory::MemoryAccess>();
    payload.set_address(address_ + static_cast<std::uint64_t>(translation(region)));
    visible_ = false;
    if (access_ == nullptr) return;
    pattern_ = access_->pattern;
    visible_ = holds(region, pattern_.lowest(), pattern_.highest());
    if (visible_)
      access_->pattern = pattern_.shifted(translation(region));
    else
      payload.clear_extension(access_);
  }
  void undo(tlm::tlm_generic_payload& payload) const {
    payload.set_address(address_);
    if (access_ == nullptr) return;
    if (!visible_) payload.set_extension(access_);
    access_->pattern = pattern_;
  }
  // The extension that the target sees.
  memory::MemoryAccess* access() const { return visible_ ? access_ : nullptr; }

 private:
  std::uint64_t address_ = 0;
  memory::MemoryAccess* access_ = nullptr;
  memory::AccessPattern pattern_;
  bool visible_ = false;
};

// For as long as it lives.
class Translated {
 public:
  Translated(const Region& region, tlm::tlm_generic_payload& payload) : payload_(payload) {
    translation_.apply(region, payload);
  }
  ~Translated() { translation_.undo(payload_); }
  Translated(const Translated&) = delete;
  Translated& operator=(const Translated&) = delete;
  memory::MemoryAccess* access() const { return translation_.access(); }

 private:
  tlm::tlm_generic_payload& payload_;
  Translation translation_;
};

}  // namespace tilevp::interconnect
