#include "tilevp/dma/rules.hpp"

#include <array>

namespace tilevp::dma {
namespace {

constexpr char dma_overview[] = "AWS Neuron documentation, NKI DMA overview";
constexpr char nki_copy[] = "AWS Neuron documentation, nki.isa.dma_copy: oob_mode";
constexpr char architecture[] = "AWS Neuron documentation, Trainium2 architecture guide";
constexpr char compiler[] = "public reverse engineering of the Neuron compiler (GrigoryEvko/nvopen-tools)";
constexpr char encoding[] = "TileVP: encoding of the descriptors (descriptor.hpp)";
constexpr char platform[] = "TileVP: what only a platform can find";

constexpr std::array table{
    Rule{rule::queue, "A doorbell names one of the 16 queues of its engine.", dma_overview},
    Rule{rule::ring, "A doorbell comes after ring_base and ring_size were set.", platform},
    Rule{rule::ring_busy, "A ring is moved or resized while none of its descriptors is pending.", platform},
    Rule{rule::doorbell, "No more descriptors are pending than the ring holds.", platform},
    Rule{rule::descriptor,
         "A fetched descriptor is one: known types, flags that go together, loops that fit, equal element counts, "
         "reserved bytes zero, 1 to 65536 rows where it gathers or scatters, an increment of at most 2147483647.",
         encoding},
    Rule{rule::out_of_bounds,
         "Indices of a gather or scatter are at least 0 and below the descriptor's bound, where it does not skip "
         "others.",
         nki_copy},
    Rule{rule::transpose,
         "A descriptor that transposes has elements of 2 or 4 bytes and ends in SBUF, and its engine can (NC-v3 on).",
         architecture},
    Rule{rule::semaphore,
         "A descriptor that signals names a semaphore of programs (253 to 255 belong to the runtime) and its engine "
         "has semaphores.",
         compiler},
    Rule{rule::address_error, "Rings, sources and destinations lie in memories of the map.", platform},
};

}  // namespace

std::span<const Rule> rules() { return table; }

}  // namespace tilevp::dma
