#pragma once
// Memory-mapped registers of a device: declared once with their access rules, decoded here, printed as the reference.
//
// A register is 4 or 8 bytes, little endian, and is accessed whole and aligned. Errors are TLM-2.0 statuses: no
// register there: TLM_ADDRESS_ERROR_RESPONSE; part of one, several, or a streaming width below the length:
// TLM_BURST_ERROR_RESPONSE; a write to `ro` or a read of `wo`: TLM_COMMAND_ERROR_RESPONSE; byte enables:
// TLM_BYTE_ENABLE_ERROR_RESPONSE.
// An access happens at now (an annotated delay is waited off first), after everything else of the instant has
// (Arbiter::settle), so what a poll reads does not depend on process order.
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "tilevp/base/nonblocking_bridge.hpp"
#include "tilevp/base/simulation.hpp"

namespace tilevp {

// w1c: writing a one clears the bit.
enum class RegisterAccess { ro, wo, rw, w1c };

// One register, or `count` equal ones that lie `stride` bytes apart.
struct RegisterSpec {
  std::string name;          // "ring_base"
  std::uint64_t offset = 0;  // in the window, a multiple of `bytes`
  unsigned bytes = 4;        // 4 or 8
  RegisterAccess access = RegisterAccess::rw;
  std::string text{};  // one line for the reference
  unsigned count = 1;
  std::uint64_t stride = 0;
  std::uint64_t reset = 0;
  // Gives the value of element `index`; without it the stored value is read. It must not wait and not change state.
  std::function<std::uint64_t(unsigned index)> on_read{};
  // Called with the value written, after it was stored (rw) or the bits were cleared (w1c). A Fault thrown here reaches
  // the initiator.
  std::function<void(unsigned index, std::uint64_t value)> on_write{};
};

// The stored values of a RegisterSpec, for the device.
class Register {
 public:
  explicit Register(RegisterSpec spec);
  const RegisterSpec& spec() const { return spec_; }

  std::uint64_t value(unsigned index = 0) const { return values_.at(index); }
  // Values are cut to the register's size.
  void set(std::uint64_t value, unsigned index = 0) { values_.at(index) = value & mask_; }
  void set_bits(std::uint64_t bits, unsigned index = 0) { set(value(index) | bits, index); }
  void reset();

  std::uint64_t read(unsigned index) const { return spec_.on_read ? spec_.on_read(index) & mask_ : value(index); }
  void write(unsigned index, std::uint64_t value);

 private:
  RegisterSpec spec_;
  std::uint64_t mask_;
  std::vector<std::uint64_t> values_;
};

class RegisterFile : public sc_core::sc_module {
 public:
  // Takes any number of initiators.
  tlm_utils::multi_passthrough_target_socket<RegisterFile> socket{"socket"};

  // Addresses 0 to window_bytes - 1. An access takes `access_ps`, as annotated delay.
  RegisterFile(sc_core::sc_module_name name, Simulation& simulation, std::uint64_t window_bytes,
               std::uint64_t access_ps = 0);

  // The reference stays valid. Throws Defect where registers overlap, leave the window or are misaligned.
  Register& add(RegisterSpec spec);
  // All registers at their reset values; no callbacks.
  void reset();

  // The transaction whose callback runs; null outside of one.
  const tlm::tlm_generic_payload* access() const { return access_; }

  // The registers by ascending offset, as a Markdown table: offset, name, size, access, reset, meaning.
  std::string table_text() const;

 private:
  struct Place {
    Register* reg = nullptr;
    unsigned index = 0;
    bool first_word = false;
  };
  void b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_fw(int id, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  unsigned int transport_dbg(int id, tlm::tlm_generic_payload& payload);
  tlm::tlm_response_status check(const tlm::tlm_generic_payload& payload) const;
  void claim(Register& reg, unsigned index);
  const Place* find(std::uint64_t address) const;

  Simulation& simulation_;
  std::uint64_t access_ps_;
  const tlm::tlm_generic_payload* access_ = nullptr;
  NonBlockingBridge nonblocking_;
  std::vector<std::unique_ptr<Register>> registers_;
  std::vector<Place> words_;  // one entry for each four bytes of the window
};

}  // namespace tilevp
