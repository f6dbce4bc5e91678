#include "tilevp/base/register_file.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace tilevp {
namespace {

static_assert(std::endian::native == std::endian::little, "registers are moved by memcpy");
constexpr std::uint64_t word_bytes = 4;

const char* access_text(RegisterAccess access) {
  switch (access) {
    case RegisterAccess::ro:
      return "ro";
    case RegisterAccess::wo:
      return "wo";
    case RegisterAccess::rw:
      return "rw";
    case RegisterAccess::w1c:
      return "w1c";
  }
  return "";
}

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%03llx", static_cast<unsigned long long>(value));
  return text;
}

// Marks the access whose callback runs.
class UnderWay {
 public:
  UnderWay(const tlm::tlm_generic_payload*& mark, const tlm::tlm_generic_payload& payload) : mark_(mark) {
    mark_ = &payload;
  }
  ~UnderWay() { mark_ = nullptr; }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  const tlm::tlm_generic_payload*& mark_;
};

}  // namespace

Register::Register(RegisterSpec spec)
    : spec_(std::move(spec)),
      mask_(spec_.bytes == 8 ? ~std::uint64_t{0} : std::uint64_t{0xffff'ffff}),
      values_(spec_.count, spec_.reset) {}

void Register::reset() { std::fill(values_.begin(), values_.end(), spec_.reset); }

void Register::write(unsigned index, std::uint64_t value) {
  value &= mask_;
  if (spec_.access == RegisterAccess::w1c) {
    set(this->value(index) & ~value, index);
  } else {
    set(value, index);
  }
  if (spec_.on_write) spec_.on_write(index, value);
}

RegisterFile::RegisterFile(sc_core::sc_module_name name, Simulation& simulation, std::uint64_t window_bytes,
                           std::uint64_t access_ps)
    : sc_module(name),
      simulation_(simulation),
      access_ps_(access_ps),
      nonblocking_(
          simulation, this->name(), 1, [this](int id, auto& payload, auto& delay) { b_transport(id, payload, delay); },
          [this](int id, auto& payload, auto& phase, auto& delay) {
            return socket[id]->nb_transport_bw(payload, phase, delay);
          }),
      words_(window_bytes / word_bytes) {
  socket.register_b_transport(this, &RegisterFile::b_transport);
  socket.register_nb_transport_fw(this, &RegisterFile::nb_transport_fw);
  socket.register_transport_dbg(this, &RegisterFile::transport_dbg);
}

Register& RegisterFile::add(RegisterSpec spec) {
  auto& reg = *registers_.emplace_back(std::make_unique<Register>(std::move(spec)));
  for (unsigned index = 0; index < reg.spec().count; ++index) claim(reg, index);
  return reg;
}

void RegisterFile::claim(Register& reg, unsigned index) {
  const RegisterSpec& spec = reg.spec();
  const std::uint64_t offset = spec.offset + index * spec.stride;
  const std::string who = std::string(name()) + ": register " + spec.name + " at " + hex(offset);
  if ((spec.bytes != 4 && spec.bytes != 8) || offset % spec.bytes != 0)
    throw Defect(who + " has " + std::to_string(spec.bytes) + " bytes; expected 4 or 8, aligned");
  if (offset + spec.bytes > words_.size() * word_bytes)
    throw Defect(who + " leaves the window of " + std::to_string(words_.size() * word_bytes) + " bytes");
  for (std::uint64_t word = 0; word < spec.bytes / word_bytes; ++word) {
    Place& place = words_[offset / word_bytes + word];
    if (place.reg != nullptr) throw Defect(who + " overlaps register " + place.reg->spec().name);
    place = {&reg, index, word == 0};
  }
}

void RegisterFile::reset() {
  for (auto& reg : registers_) reg->reset();
}

const RegisterFile::Place* RegisterFile::find(std::uint64_t address) const {
  const std::uint64_t word = address / word_bytes;
  return word < words_.size() && words_[word].reg != nullptr ? &words_[word] : nullptr;
}

tlm::tlm_response_status RegisterFile::check(const tlm::tlm_generic_payload& payload) const {
  const Place* place = find(payload.get_address());
  if (place == nullptr) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  const RegisterSpec& spec = place->reg->spec();
  const bool whole = place->first_word && payload.get_address() % word_bytes == 0 &&
                     payload.get_data_length() == spec.bytes && payload.get_streaming_width() >= spec.bytes;
  if (!whole) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.is_write() && spec.access == RegisterAccess::ro) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  if (payload.is_read() && spec.access == RegisterAccess::wo) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

void RegisterFile::b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  payload.set_dmi_allowed(false);
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return;
  }
  if (delay != sc_core::SC_ZERO_TIME) {
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
  }
  const tlm::tlm_response_status status = check(payload);
  if (status == tlm::TLM_OK_RESPONSE) {
    simulation_.arbiter().settle(static_cast<unsigned>(id));
    const Place& place = *find(payload.get_address());
    std::uint64_t value = 0;
    if (payload.is_read()) {
      value = place.reg->read(place.index);
      std::memcpy(payload.get_data_ptr(), &value, place.reg->spec().bytes);
    } else {
      std::memcpy(&value, payload.get_data_ptr(), place.reg->spec().bytes);
      const UnderWay under_way(access_, payload);
      place.reg->write(place.index, value);
    }
    delay += from_ps(access_ps_);
  }
  payload.set_response_status(status);
}

tlm::tlm_sync_enum RegisterFile::nb_transport_fw(int id, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                 sc_core::sc_time& delay) {
  return nonblocking_.forward(id, payload, phase, delay);
}

// Reads registers without side effects, as many whole ones as the length covers. Debug writes change nothing.
unsigned int RegisterFile::transport_dbg(int, tlm::tlm_generic_payload& payload) {
  if (!payload.is_read()) return 0;
  unsigned int done = 0;
  while (done < payload.get_data_length()) {
    const std::uint64_t address = payload.get_address() + done;
    const Place* place = find(address);
    if (place == nullptr || !place->first_word || address % word_bytes != 0) break;
    const unsigned bytes = place->reg->spec().bytes;
    if (done + bytes > payload.get_data_length()) break;
    const std::uint64_t value = place->reg->spec().access == RegisterAccess::wo ? 0 : place->reg->read(place->index);
    std::memcpy(payload.get_data_ptr() + done, &value, bytes);
    done += bytes;
  }
  return done;
}

std::string RegisterFile::table_text() const {
  std::vector<const Register*> sorted;
  for (const auto& reg : registers_) sorted.push_back(reg.get());
  std::sort(sorted.begin(), sorted.end(),
            [](const Register* a, const Register* b) { return a->spec().offset < b->spec().offset; });
  std::string text = "| offset | name | bytes | access | reset | meaning |\n|---|---|---|---|---|---|\n";
  for (const Register* reg : sorted) {
    const RegisterSpec& spec = reg->spec();
    std::string offset = hex(spec.offset);
    std::string name = spec.name;
    if (spec.count > 1) {
      offset += " + " + hex(spec.stride) + " x i";
      name += "[" + std::to_string(spec.count) + "]";
    }
    text += "| " + offset + " | " + name + " | " + std::to_string(spec.bytes) + " | " + access_text(spec.access) +
            " | " + hex(spec.reset) + " | " + spec.text + " |\n";
  }
  return text;
}

}  // namespace tilevp
