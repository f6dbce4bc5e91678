#pragma once
// The bytes of a simulated memory.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tilevp::memory {

// How the host is asked to map the bytes: large pages (2 MiB where it has them) for tensors, which come whole; small
// ones where a lone byte must not cost more than 4 KiB.
enum class HostPages { small, large };

// Zero bytes in one contiguous address range of the host; pages cost nothing until they are written. One pointer serves
// the whole range, so one DMI grant does too. Move only.
class SparseStore {
 public:
  SparseStore() = default;
  // Throws UserError at `place` naming the size where it is 0 or the host does not give that much address space.
  SparseStore(std::uint64_t bytes, std::string_view place, HostPages pages = HostPages::small);
  ~SparseStore();
  SparseStore(SparseStore&& other) noexcept;
  SparseStore& operator=(SparseStore&& other) noexcept;
  SparseStore(const SparseStore&) = delete;
  SparseStore& operator=(const SparseStore&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::uint64_t size() const { return size_; }

  // All bytes zero again, their pages given back.
  void clear();

 private:
  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace tilevp::memory
