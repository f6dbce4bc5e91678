#pragma once
// An access pattern: the bytes a descriptor, an engine or a strided transaction touches, in the order it touches them.
//
// start, an element size, and up to five [size, stride] loops outermost first, as DMA descriptors write them (AMD AIE
// buffer descriptors, AWS Neuron access patterns). Strides are in bytes. Loops of one element are dropped and an outer
// loop that continues the one inside it is merged, so patterns that visit the same addresses by the same nest compare
// equal and the innermost loop is the contiguous run wherever there is one. Packed elements of less than a byte are not
// supported.
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace tilevp::memory {

// `size` elements (or inner loops), each `stride` bytes after the one before. A stride of 0 repeats, below 0 walks
// down.
struct Loop {
  std::uint64_t size = 1;
  std::int64_t stride = 0;
  friend bool operator==(const Loop&, const Loop&) = default;
};

// One contiguous piece of a pattern.
struct Run {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const Run&, const Run&) = default;
};

struct PatternList;
class AccessPattern;

// Appends `0x1000 56:256 +112`: the first address, the loops around the contiguous run as count:stride in bytes,
// outermost first, and the bytes of a run.
void append_text(const AccessPattern& pattern, std::string& to);

// Trivially copyable and without heap memory: it travels in payload extensions.
class AccessPattern {
 public:
  static constexpr std::size_t max_loops = 5;
  static constexpr std::uint32_t max_element_bytes = 8;

  // One byte at address 0.
  AccessPattern() = default;
  // Throws Defect with the text of `problem` where the arguments make no pattern; ask `problem` first for what
  // simulated memory or a user supplied.
  AccessPattern(std::uint64_t start, std::uint32_t element_bytes, std::span<const Loop> loops);
  AccessPattern(std::uint64_t start, std::uint32_t element_bytes, std::initializer_list<Loop> loops)
      : AccessPattern(start, element_bytes, std::span<const Loop>(loops.begin(), loops.size())) {}

  // `bytes` bytes from `start` up; bytes >= 1.
  static AccessPattern contiguous(std::uint64_t start, std::uint64_t bytes) { return {start, 1, {{bytes, 1}}}; }
  // The same loops with strides counted in elements.
  static AccessPattern of_elements(std::uint64_t start, std::uint32_t element_bytes, std::span<const Loop> loops);
  static AccessPattern of_elements(std::uint64_t start, std::uint32_t element_bytes,
                                   std::initializer_list<Loop> loops) {
    return of_elements(start, element_bytes, std::span<const Loop>(loops.begin(), loops.size()));
  }
  // What is wrong with these arguments, or nothing: a size of 0, an element of 0 or more than 8 bytes, more than five
  // loops after merging, more than 2^63 - 1 bytes in all, an address below 0 or above 2^64 - 1.
  static std::optional<std::string> problem(std::uint64_t start, std::uint32_t element_bytes,
                                            std::span<const Loop> loops);

  std::uint64_t start() const { return start_; }
  std::uint32_t element_bytes() const { return element_bytes_; }
  // The merged loops, outermost first; empty for a single element.
  std::span<const Loop> loops() const { return {loops_.data(), count_}; }

  std::uint64_t elements() const {
    std::uint64_t total = 1;
    for (const Loop& loop : loops()) total *= loop.size;
    return total;
  }
  std::uint64_t bytes() const { return elements() * element_bytes_; }
  // Bytes of each contiguous run: the innermost loop where its elements touch each other, else one element.
  std::uint64_t run_bytes() const { return has_run() ? loops_[count_ - 1].size * element_bytes_ : element_bytes_; }
  std::uint64_t runs() const {
    std::uint64_t total = 1;
    for (const Loop& loop : run_loops()) total *= loop.size;
    return total;
  }
  bool is_contiguous() const { return run_loops().empty(); }
  // The loops around the contiguous run, outermost first.
  std::span<const Loop> run_loops() const { return {loops_.data(), has_run() ? count_ - 1u : count_}; }

  // The lowest and the highest address touched.
  std::uint64_t lowest() const;
  std::uint64_t highest() const;

  // The pattern moved by `distance` bytes (modulo 2^64; the caller knows that it stays in range).
  AccessPattern shifted(std::int64_t distance) const {
    AccessPattern moved = *this;
    moved.start_ += static_cast<std::uint64_t>(distance);
    return moved;
  }
  // A pattern over the same set of bytes with the longest runs that reordering its loops can give: what marking,
  // checking and race detection want, for which the order is of no interest. A transposed tile becomes one run. It may
  // visit bytes twice where this one does.
  AccessPattern as_set() const;

  // Elements [first, first + count) of the stream order as patterns, in order, each as long as it can be: at most
  // 2 * max_loops - 1 of them. Throws Defect where the slice is empty or leaves the pattern.
  PatternList split(std::uint64_t first, std::uint64_t count) const;

  // Calls fn(address, bytes) for each contiguous run in stream order.
  template <class Fn>
  void for_each_run(Fn&& fn) const;

  friend bool operator==(const AccessPattern& a, const AccessPattern& b);

 private:
  bool has_run() const { return count_ > 0 && loops_[count_ - 1].stride == static_cast<std::int64_t>(element_bytes_); }

  std::uint64_t start_ = 0;
  std::uint32_t element_bytes_ = 1;
  std::uint32_t count_ = 0;
  std::array<Loop, max_loops> loops_{};
};

// A small list without heap memory.
struct PatternList {
  std::array<AccessPattern, 2 * AccessPattern::max_loops - 1> items;
  std::size_t count = 0;
  const AccessPattern* begin() const { return items.data(); }
  const AccessPattern* end() const { return items.data() + count; }
  std::size_t size() const { return count; }
};

// Walks a pattern in stream order and can stop anywhere: what an initiator uses that sends a pattern run by run, a
// burst or a packet at a time.
class StreamCursor {
 public:
  // Starts at byte `first_byte` of the stream; first_byte <= pattern.bytes().
  explicit StreamCursor(const AccessPattern& pattern, std::uint64_t first_byte = 0);

  std::uint64_t left() const { return left_; }  // bytes of the stream not walked yet
  bool done() const { return left_ == 0; }
  // Address of the next byte, and the bytes that follow each other from there. Only while not done.
  std::uint64_t address() const { return run_address_ + offset_; }
  std::uint64_t run_left() const { return run_bytes_ - offset_; }
  // Moves on by `bytes` <= run_left().
  void advance(std::uint64_t bytes);
  // The next piece of at most `limit` bytes, walked. Only while not done; limit >= 1.
  Run take(std::uint64_t limit) {
    const Run run{address(), run_left() < limit ? run_left() : limit};
    advance(run.bytes);
    return run;
  }

 private:
  AccessPattern pattern_;
  std::array<std::uint64_t, AccessPattern::max_loops> index_{};
  std::uint64_t run_address_ = 0;
  std::uint64_t run_bytes_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t left_ = 0;
};

template <class Fn>
void AccessPattern::for_each_run(Fn&& fn) const {
  const std::span<const Loop> nest = run_loops();
  const std::uint64_t bytes = run_bytes();
  if (nest.empty()) {
    fn(start_, bytes);
    return;
  }
  const Loop inner = nest.back();
  std::array<std::uint64_t, max_loops> index{};
  std::uint64_t row = start_;
  for (;;) {
    std::uint64_t address = row;
    for (std::uint64_t i = 0; i < inner.size; ++i, address += static_cast<std::uint64_t>(inner.stride))
      fn(address, bytes);
    std::size_t level = nest.size() - 1;
    do {
      if (level == 0) return;
      --level;
      row += static_cast<std::uint64_t>(nest[level].stride);
      if (++index[level] < nest[level].size) break;
      row -= static_cast<std::uint64_t>(nest[level].stride) * nest[level].size;
      index[level] = 0;
    } while (true);
  }
}

}  // namespace tilevp::memory
