#include "tilevp/interconnect/router.hpp"

#include <algorithm>
#include <cstdio>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/hex_text.hpp"
#include "tilevp/interconnect/hops.hpp"

namespace tilevp::interconnect {
namespace {

std::string range_text(const Region& region) {
  return region.name + " [" + hex_text(region.base) + ", " + hex_text(region.last()) + "]";
}

void check(const std::vector<Region>& sorted, std::string_view place) {
  for (const Region& region : sorted) {
    if (region.size == 0) throw UserError(place, "region " + region.name + ": expected a size of at least 1, found 0");
    if (region.last() < region.base)
      throw UserError(place, "region " + region.name + " at " + hex_text(region.base) + " with " +
                                 hex_text(region.size) + " bytes ends beyond 2^64");
  }
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i].base <= sorted[i - 1].last())
      throw UserError(place, "regions overlap: " + range_text(sorted[i - 1]) + " and " + range_text(sorted[i]));
}

}  // namespace

Router::Router(sc_core::sc_module_name name, std::vector<Region> regions, std::uint64_t latency_ps,
               std::string_view place)
    : sc_module(name), regions_(std::move(regions)), latency_ps_(latency_ps), hops_(std::make_unique<Hops>(*this)) {
  std::sort(regions_.begin(), regions_.end(), [](const Region& a, const Region& b) { return a.base < b.base; });
  check(regions_, place);
  unsigned outputs = 0;
  for (const Region& region : regions_) outputs = std::max(outputs, region.output + 1);
  for (unsigned i = 0; i < outputs; ++i) {
    const std::string socket_name = "out_" + std::to_string(i);
    outputs_.push_back(std::make_unique<tlm_utils::simple_initiator_socket_tagged<Router>>(socket_name.c_str()));
    outputs_.back()->register_nb_transport_bw(this, &Router::nb_transport_bw, static_cast<int>(i));
    outputs_.back()->register_invalidate_direct_mem_ptr(this, &Router::invalidate_direct_mem_ptr, static_cast<int>(i));
  }
  in.register_b_transport(this, &Router::b_transport);
  in.register_nb_transport_fw(this, &Router::nb_transport_fw);
  in.register_transport_dbg(this, &Router::transport_dbg);
  in.register_get_direct_mem_ptr(this, &Router::get_direct_mem_ptr);
}

Router::~Router() = default;

const Region* Router::find(std::uint64_t address) const {
  const auto after = std::upper_bound(regions_.begin(), regions_.end(), address,
                                      [](std::uint64_t value, const Region& region) { return value < region.base; });
  if (after == regions_.begin()) return nullptr;
  const Region& region = *std::prev(after);
  return address <= region.last() ? &region : nullptr;
}

const Region* Router::region_of(const tlm::tlm_generic_payload& payload) const {
  const std::uint64_t first = payload.get_address();
  const std::uint64_t length = std::min(payload.get_data_length(), payload.get_streaming_width());
  const Region* region = find(first);
  return region != nullptr && (length == 0 || holds(*region, first, first + (length - 1))) ? region : nullptr;
}

void Router::b_transport(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (const Region* region = region_of(payload))
    forward(*region, payload, delay);
  else
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

tlm::tlm_sync_enum Router::nb_transport_fw(int input, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                           sc_core::sc_time& delay) {
  return hops_->forward(static_cast<unsigned>(input), payload, phase, delay);
}

tlm::tlm_sync_enum Router::nb_transport_bw(int output, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                           sc_core::sc_time& delay) {
  return hops_->backward(static_cast<unsigned>(output), payload, phase, delay);
}

void Router::forward(const Region& region, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (auto* const access = payload.get_extension<memory::MemoryAccess>()) access->target = region.name.c_str();
  const Translated translated(region, payload);
  (*outputs_[region.output])->b_transport(payload, delay);
  delay += sc_core::sc_time::from_value(latency_ps_);
  if (translated.access() != nullptr) translated.access()->end_ps += latency_ps_;
}

unsigned int Router::transport_dbg(int, tlm::tlm_generic_payload& payload) {
  const std::uint64_t first = payload.get_address();
  const Region* region = find(first);
  if (region == nullptr) return 0;
  const unsigned length = payload.get_data_length();
  const auto inside =
      static_cast<unsigned>(std::min<std::uint64_t>(length - (length > 0 ? 1 : 0), region->last() - first));
  const Translated translated(*region, payload);
  if (length == 0 && translated.access() == nullptr) return 0;
  payload.set_data_length(length == 0 ? 0 : inside + 1);
  const unsigned int done = (*outputs_[region->output])->transport_dbg(payload);
  payload.set_data_length(length);
  return done;
}

bool Router::get_direct_mem_ptr(int, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  const Region* region = find(payload.get_address());
  if (region == nullptr) {
    dmi.set_start_address(0);
    dmi.set_end_address(UINT64_MAX);
    return false;
  }
  bool granted = false;
  {
    const Translated translated(*region, payload);
    granted = (*outputs_[region->output])->get_direct_mem_ptr(payload, dmi);
  }
  const std::uint64_t target_last = region->target_offset + (region->size - 1);
  const std::uint64_t start = std::max<std::uint64_t>(dmi.get_start_address(), region->target_offset);
  const std::uint64_t end = std::min<std::uint64_t>(dmi.get_end_address(), target_last);
  if (granted) dmi.set_dmi_ptr(dmi.get_dmi_ptr() + (start - dmi.get_start_address()));
  dmi.set_start_address(start - static_cast<std::uint64_t>(translation(*region)));
  dmi.set_end_address(end - static_cast<std::uint64_t>(translation(*region)));
  const sc_core::sc_time latency = sc_core::sc_time::from_value(latency_ps_);
  dmi.set_read_latency(dmi.get_read_latency() + latency);
  dmi.set_write_latency(dmi.get_write_latency() + latency);
  return granted;
}

void Router::invalidate_direct_mem_ptr(int output, sc_dt::uint64 start, sc_dt::uint64 end) {
  for (const Region& region : regions_) {
    if (static_cast<int>(region.output) != output) continue;
    const std::uint64_t first = std::max<std::uint64_t>(start, region.target_offset);
    const std::uint64_t last = std::min<std::uint64_t>(end, region.target_offset + (region.size - 1));
    if (first > last) continue;
    const auto back = static_cast<std::uint64_t>(translation(region));
    for (unsigned i = 0; i < in.size(); ++i)
      in[static_cast<int>(i)]->invalidate_direct_mem_ptr(first - back, last - back);
  }
}

std::string Router::map_text() const {
  std::string text;
  for (const Region& region : regions_) {
    char line[96];
    std::snprintf(line, sizeof line, "0x%016llx - 0x%016llx  %14llu bytes  ",
                  static_cast<unsigned long long>(region.base), static_cast<unsigned long long>(region.last()),
                  static_cast<unsigned long long>(region.size));
    text += line + region.name + "\n";
  }
  return text;
}

}  // namespace tilevp::interconnect
