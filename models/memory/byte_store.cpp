#include "tilevp/memory/byte_store.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "tilevp/base/errors.hpp"

namespace tilevp::memory {

SparseStore::SparseStore(std::uint64_t bytes, std::string_view place, HostPages pages) {
  if (bytes == 0) throw UserError(place, "expected a size of at least 1 byte, found 0");
  void* range = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /*fd=*/-1,
                     /*offset=*/0);
  if (range == MAP_FAILED)
    throw UserError(place,
                    "the host gives no address range of " + std::to_string(bytes) + " bytes: " + std::strerror(errno));
  if (pages == HostPages::large) (void)madvise(range, bytes, MADV_HUGEPAGE);  // a host without them: just slower
  data_ = static_cast<std::byte*>(range);
  size_ = bytes;
}

SparseStore::~SparseStore() {
  if (data_ != nullptr) munmap(data_, size_);
}

SparseStore::SparseStore(SparseStore&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SparseStore& SparseStore::operator=(SparseStore&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void SparseStore::clear() {
  if (data_ != nullptr && madvise(data_, size_, MADV_DONTNEED) != 0)
    throw Defect(std::string("byte store: pages cannot be given back: ") + std::strerror(errno));
}

}  // namespace tilevp::memory
