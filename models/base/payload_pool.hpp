#pragma once
// Payloads with one sticky extension, reused: a transaction allocates nothing.
#include <memory>
#include <tlm>
#include <vector>

namespace tilevp {

// `Extension` has clear(). Payloads come back by release(); everything is reset by then.
template <class Extension>
class PayloadPool : public tlm::tlm_mm_interface {
 public:
  PayloadPool() = default;
  PayloadPool(const PayloadPool&) = delete;
  PayloadPool& operator=(const PayloadPool&) = delete;
  ~PayloadPool() override {
    for (auto& slot : slots_) slot->payload.clear_extension(&slot->extension);
  }

  // An acquired payload (reference count 1) with a cleared extension and all attributes at their defaults.
  class Handle {
   public:
    explicit Handle(tlm::tlm_generic_payload& payload) : payload_(&payload) {}
    ~Handle() { payload_->release(); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    tlm::tlm_generic_payload& operator*() const { return *payload_; }
    tlm::tlm_generic_payload* operator->() const { return payload_; }
    Extension& extension() const { return *payload_->template get_extension<Extension>(); }

   private:
    tlm::tlm_generic_payload* payload_;
  };

  Handle acquire() { return Handle(take()); }

  // The same for a payload that outlives its scope: whoever takes it calls release() in the end.
  tlm::tlm_generic_payload& take() {
    if (free_.empty()) {
      slots_.push_back(std::make_unique<Slot>());
      slots_.back()->payload.set_mm(this);
      slots_.back()->payload.set_extension(&slots_.back()->extension);
      free_.push_back(&slots_.back()->payload);
    }
    auto* payload = free_.back();
    free_.pop_back();
    payload->acquire();
    payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    payload->set_byte_enable_ptr(nullptr);
    payload->set_byte_enable_length(0);
    payload->set_dmi_allowed(false);
    return *payload;
  }

  void free(tlm::tlm_generic_payload* payload) override {
    payload->reset();
    payload->template get_extension<Extension>()->clear();
    free_.push_back(payload);
  }

  std::size_t size() const { return slots_.size(); }
  // Payloads somebody still holds.
  std::size_t in_use() const { return slots_.size() - free_.size(); }

 private:
  struct Slot {
    tlm::tlm_generic_payload payload;
    Extension extension;
  };
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<tlm::tlm_generic_payload*> free_;
};

}  // namespace tilevp
