#include "tilevp/dma/descriptor.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "tilevp/base/errors.hpp"
#include "tilevp/dma/rules.hpp"

namespace tilevp::dma {
namespace {

static_assert(std::endian::native == std::endian::little, "fields are moved by memcpy");
using memory::AccessPattern;
using memory::Loop;

constexpr std::size_t source_address_at = 0;
constexpr std::size_t destination_address_at = 8;
constexpr std::size_t source_dtype_at = 16;
constexpr std::size_t destination_dtype_at = 17;
constexpr std::size_t source_loops_at = 18;
constexpr std::size_t destination_loops_at = 19;
constexpr std::size_t element_bytes_at = 20;
constexpr std::size_t flags_at = 22;
constexpr std::size_t semaphore_at = 23;
constexpr std::size_t increment_at = 24;
constexpr std::size_t reserved_at = 28;
constexpr std::size_t reserved_bytes = 4;
constexpr std::size_t source_nest_at = 32;
constexpr std::size_t destination_nest_at = 72;
constexpr std::size_t indices_at = 112;
constexpr std::size_t bound_at = 120;
constexpr std::size_t last_reserved_at = 124;
constexpr std::size_t loop_bytes = 8;

using Bytes = std::array<std::byte, descriptor_bytes>;

template <class T>
void put(Bytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}
template <class T>
T get(std::span<const std::byte, descriptor_bytes> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

[[noreturn]] void refuse(const std::string& what) { throw UserError("DMA descriptor", what); }

// The loops of a pattern when its elements are counted in pieces of `element` bytes, merged.
AccessPattern with_elements(const AccessPattern& pattern, std::uint32_t element, const char* side) {
  if (pattern.element_bytes() == element) return pattern;
  std::vector<Loop> loops(pattern.loops().begin(), pattern.loops().end());
  loops.push_back({pattern.element_bytes() / element, element});
  if (const auto problem = AccessPattern::problem(pattern.start(), element, loops))
    refuse(std::string(side) + ": " + *problem);
  return {pattern.start(), element, loops};
}

// `rows`, if any, is the loop around those of the pattern.
void put_loops(Bytes& bytes, const AccessPattern& pattern, const std::optional<Loop>& rows, std::size_t count_at,
               std::size_t nest_at, const std::string& side) {
  std::vector<Loop> loops(pattern.loops().begin(), pattern.loops().end());
  if (rows) loops.insert(loops.begin(), *rows);
  if (loops.size() > max_loops)
    refuse(side + " has " + std::to_string(loops.size()) + " loops, there is room for " + std::to_string(max_loops));
  put(bytes, count_at, static_cast<std::uint8_t>(loops.size()));
  std::size_t index = 0;
  for (const Loop& loop : loops) {
    const std::string which = side + " loop " + std::to_string(index);
    if (loop.size > std::numeric_limits<std::uint32_t>::max())
      refuse(which + " has size " + std::to_string(loop.size) + ", the field holds at most 4294967295");
    if (loop.stride < std::numeric_limits<std::int32_t>::min() ||
        loop.stride > std::numeric_limits<std::int32_t>::max())
      refuse(which + " has a stride of " + std::to_string(loop.stride) +
             " bytes, the field holds -2147483648 to 2147483647");
    put(bytes, nest_at + index * loop_bytes, static_cast<std::uint32_t>(loop.size));
    put(bytes, nest_at + index * loop_bytes + 4, static_cast<std::int32_t>(loop.stride));
    ++index;
  }
}

void put_patterns(Bytes& bytes, const Descriptor& descriptor) {
  const bool converts = descriptor.source_dtype != descriptor.destination_dtype;
  AccessPattern source = descriptor.source;
  AccessPattern destination = descriptor.destination;
  if (!converts) {
    const std::uint32_t element = std::gcd(source.element_bytes(), destination.element_bytes());
    source = with_elements(source, element, "source");
    destination = with_elements(destination, element, "destination");
  } else if (source.element_bytes() != size_bytes(descriptor.source_dtype) ||
             destination.element_bytes() != size_bytes(descriptor.destination_dtype)) {
    refuse("converts " + std::string(name(descriptor.source_dtype)) + " to " +
           std::string(name(descriptor.destination_dtype)) + ", but its elements have " +
           std::to_string(source.element_bytes()) + " and " + std::to_string(destination.element_bytes()) + " bytes");
  }
  if (source.elements() != destination.elements())
    refuse("the source has " + std::to_string(source.elements()) + " elements, the destination " +
           std::to_string(destination.elements()));
  put(bytes, source_address_at, source.start());
  put(bytes, destination_address_at, destination.start());
  put(bytes, element_bytes_at, static_cast<std::uint16_t>(source.element_bytes()));
  const Rows& rows = descriptor.rows;
  const auto row_loop = [&](std::int64_t stride) {
    return rows.side == Indirect::none ? std::nullopt : std::optional<Loop>({rows.count, stride});
  };
  put_loops(bytes, source, row_loop(rows.source_stride), source_loops_at, source_nest_at, "source");
  put_loops(bytes, destination, row_loop(rows.destination_stride), destination_loops_at, destination_nest_at,
            "destination");
  if (rows.side == Indirect::none) return;
  if (rows.count == 0 || rows.count > max_rows)
    refuse(std::to_string(rows.count) + " rows; expected 1 to " + std::to_string(max_rows));
  put(bytes, indices_at, rows.indices);
  put(bytes, bound_at, rows.bound);
}

// Why a descriptor cannot transpose; null: it can.
const char* transpose_problem(const Descriptor& descriptor) {
  if (descriptor.empty) return "is empty";
  if (descriptor.source_dtype != descriptor.destination_dtype) return "converts";
  if (descriptor.rows.side != Indirect::none) return "gathers or scatters";
  return nullptr;
}

std::uint8_t flags_of(const Descriptor& descriptor) {
  const auto flag = [](bool set, DescriptorFlags bit) { return set ? static_cast<unsigned>(bit) : 0u; };
  const Rows& rows = descriptor.rows;
  return static_cast<std::uint8_t>(
      flag(descriptor.empty, flag_empty) | flag(descriptor.signals, flag_signal) |
      flag(descriptor.interrupts, flag_interrupt) |
      flag(descriptor.source_dtype != descriptor.destination_dtype, flag_convert) |
      flag(rows.side == Indirect::gather, flag_gather) | flag(rows.side == Indirect::scatter, flag_scatter) |
      flag(rows.side != Indirect::none && rows.skip, flag_skip) | flag(descriptor.transposes, flag_transpose));
}

// ---- Decoding. Bytes that are no descriptor are the machine's fault, not ours.

class Decoder {
 public:
  Decoder(std::span<const std::byte, descriptor_bytes> bytes, const std::string& place)
      : bytes_(bytes), place_(place) {}

  Descriptor run() {
    const auto flags = get<std::uint8_t>(bytes_, flags_at);
    require_zero(reserved_at, reserved_bytes);
    require_zero(last_reserved_at, descriptor_bytes - last_reserved_at);
    Descriptor result;
    result.source_dtype = dtype(source_dtype_at, "source");
    result.destination_dtype = dtype(destination_dtype_at, "destination");
    result.empty = (flags & flag_empty) != 0;
    result.signals = (flags & flag_signal) != 0;
    result.interrupts = (flags & flag_interrupt) != 0;
    result.transposes = (flags & flag_transpose) != 0;
    result.semaphore = get<std::uint8_t>(bytes_, semaphore_at);
    result.increment = get<std::uint32_t>(bytes_, increment_at);
    check_signal(result);
    read_rows(result, flags);
    if (result.transposes)
      if (const char* problem = transpose_problem(result)) fault(std::string("transposes and ") + problem);
    read_patterns(result, (flags & flag_convert) != 0);
    return result;
  }

 private:
  [[noreturn]] void fault(const std::string& what) const { throw Fault(rule::descriptor, place_ + ": " + what); }

  void check_signal(const Descriptor& descriptor) const {
    if (descriptor.increment > max_increment)
      fault("semaphore increment " + std::to_string(descriptor.increment) + " exceeds " +
            std::to_string(max_increment));
    if (descriptor.signals && descriptor.semaphore >= program_semaphores)
      throw Fault(rule::semaphore, place_ + ": signals semaphore " + std::to_string(descriptor.semaphore) +
                                       ", which is reserved; programs use 0 to " +
                                       std::to_string(program_semaphores - 1));
  }

  void require_zero(std::size_t first, std::size_t count) const {
    for (std::size_t at = first; at < first + count; ++at)
      if (bytes_[at] != std::byte{0})
        fault("byte " + std::to_string(at) + " is reserved: expected 0, found " +
              std::to_string(std::to_integer<int>(bytes_[at])));
  }

  numeric::DType dtype(std::size_t at, const char* side) const {
    const auto code = get<std::uint8_t>(bytes_, at);
    for (const numeric::DType known : numeric::all_dtypes)
      if (static_cast<std::uint8_t>(known) == code) return known;
    fault(std::string(side) + " has the unknown data type " + std::to_string(code));
  }

  void read_rows(Descriptor& result, unsigned flags) const {
    const unsigned side = flags & (flag_gather | flag_scatter);
    if (side == 0) {
      if ((flags & flag_skip) != 0) fault("skips rows out of bounds without gather or scatter");
      require_zero(indices_at, last_reserved_at - indices_at);
      return;
    }
    if (side == (flag_gather | flag_scatter)) fault("gathers and scatters; expected one of them");
    if (result.empty) fault("is empty, but gathers or scatters");
    Rows& rows = result.rows;
    rows.side = side == flag_gather ? Indirect::gather : Indirect::scatter;
    rows.skip = (flags & flag_skip) != 0;
    rows.indices = get<std::uint64_t>(bytes_, indices_at);
    rows.bound = get<std::uint32_t>(bytes_, bound_at);
    const Loop source = row_loop(source_loops_at, source_nest_at, "source");
    const Loop destination = row_loop(destination_loops_at, destination_nest_at, "destination");
    if (source.size != destination.size)
      fault("the source has " + std::to_string(source.size) + " rows, the destination " +
            std::to_string(destination.size));
    if (source.size == 0 || source.size > max_rows)
      fault(std::to_string(source.size) + " rows; expected 1 to " + std::to_string(max_rows));
    rows.count = static_cast<std::uint32_t>(source.size);
    rows.source_stride = source.stride;
    rows.destination_stride = destination.stride;
  }

  Loop loop(std::size_t at) const { return {get<std::uint32_t>(bytes_, at), get<std::int32_t>(bytes_, at + 4)}; }

  // The outermost loop, which goes from row to row.
  Loop row_loop(std::size_t count_at, std::size_t nest_at, const char* side) const {
    if (get<std::uint8_t>(bytes_, count_at) == 0) fault(std::string(side) + " has no loop for its rows");
    return loop(nest_at);
  }

  void read_patterns(Descriptor& result, bool converts) const {
    if (converts != (result.source_dtype != result.destination_dtype))
      fault(converts ? "converts between equal data types" : "data types differ without the convert flag");
    if (result.empty) {
      require_zero(source_address_at, source_dtype_at);
      require_zero(source_loops_at, flags_at - source_loops_at);
      require_zero(source_nest_at, indices_at - source_nest_at);
      return;
    }
    const auto element = get<std::uint16_t>(bytes_, element_bytes_at);
    if (element == 0) fault("an element of 0 bytes");
    if (converts && element != size_bytes(result.source_dtype))
      fault("elements of " + std::to_string(element) + " bytes, " + std::string(name(result.source_dtype)) + " has " +
            std::to_string(size_bytes(result.source_dtype)));
    const auto target_element = converts ? static_cast<std::uint16_t>(size_bytes(result.destination_dtype)) : element;
    const std::size_t outer = result.rows.side == Indirect::none ? 0 : 1;
    result.source = pattern(source_address_at, element, source_loops_at, source_nest_at, outer, "source");
    result.destination = pattern(destination_address_at, target_element, destination_loops_at, destination_nest_at,
                                 outer, "destination");
    if (result.source.elements() != result.destination.elements())
      fault("the source has " + std::to_string(result.source.elements()) + " elements, the destination " +
            std::to_string(result.destination.elements()));
  }

  // Without the outermost `outer` loops.
  AccessPattern pattern(std::size_t address_at, std::uint16_t element, std::size_t count_at, std::size_t nest_at,
                        std::size_t outer, const std::string& side) const {
    const auto count = get<std::uint8_t>(bytes_, count_at);
    if (count > max_loops)
      fault(side + " has " + std::to_string(count) + " loops; expected at most " + std::to_string(max_loops));
    std::vector<Loop> loops;
    for (std::size_t i = 0; i < max_loops; ++i) {
      const std::size_t at = nest_at + i * loop_bytes;
      if (i >= count)
        require_zero(at, loop_bytes);
      else if (i >= outer)
        loops.push_back(loop(at));
    }
    // An element that is no machine word is a run of words.
    std::uint32_t word = AccessPattern::max_element_bytes;
    while (element % word != 0) word /= 2;
    if (word != element) loops.push_back({element / word, word});
    const auto address = get<std::uint64_t>(bytes_, address_at);
    if (const auto problem = AccessPattern::problem(address, word, loops)) fault(side + ": " + *problem);
    return {address, word, loops};
  }

  std::span<const std::byte, descriptor_bytes> bytes_;
  const std::string& place_;
};

}  // namespace

std::array<std::byte, descriptor_bytes> encode(const Descriptor& descriptor) {
  Bytes bytes{};
  if (descriptor.empty && descriptor.source_dtype != descriptor.destination_dtype)
    refuse("an empty one converts " + std::string(name(descriptor.source_dtype)) + " to " +
           std::string(name(descriptor.destination_dtype)));
  if (descriptor.transposes)
    if (const char* problem = transpose_problem(descriptor)) refuse(std::string("one that transposes ") + problem);
  put(bytes, source_dtype_at, static_cast<std::uint8_t>(descriptor.source_dtype));
  put(bytes, destination_dtype_at, static_cast<std::uint8_t>(descriptor.destination_dtype));
  put(bytes, flags_at, flags_of(descriptor));
  put(bytes, semaphore_at, descriptor.semaphore);
  put(bytes, increment_at, descriptor.increment);
  if (!descriptor.empty) put_patterns(bytes, descriptor);
  return bytes;
}

Descriptor decode(std::span<const std::byte, descriptor_bytes> bytes, const std::string& place) {
  return Decoder(bytes, place).run();
}

}  // namespace tilevp::dma
