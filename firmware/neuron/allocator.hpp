#pragma once
// Who holds what of the on-chip memories and of HBM.
#include <cstdint>
#include <string>
#include <vector>

namespace tilevp::neuron {

// Named buffers, each at the lowest free place that fits.
class Allocator {
 public:
  // `memory` and `unit` for messages: "SBUF", "bytes a partition".
  Allocator(std::string memory, std::string unit, std::uint64_t size, std::uint64_t base = 0,
            std::uint64_t alignment = 1);

  // The start of the new buffer. UserError where nothing fits, with who holds what:
  // `SBUF: 'image0' needs 70000 bytes a partition, 12000 of 180224 free (largest gap 12000); held: filter0 36864 at 0,
  // image1 131360 at 36864, free 12000 at 168224`.
  // UserError for a size of 0 or a name in use.
  std::uint64_t allocate(const std::string& name, std::uint64_t size);
  // UserError where no buffer has that name.
  void release(const std::string& name);

  std::uint64_t size() const { return size_; }
  std::uint64_t used() const;
  std::uint64_t free() const { return size_ - used(); }

  struct Buffer {
    std::string name;
    std::uint64_t start = 0;
    std::uint64_t size = 0;  // as asked for
  };
  // By address.
  const std::vector<Buffer>& buffers() const { return buffers_; }

 private:
  std::uint64_t rounded(std::uint64_t size) const { return (size + alignment_ - 1) / alignment_ * alignment_; }
  std::string held() const;

  std::string memory_;
  std::string unit_;
  std::uint64_t size_;
  std::uint64_t base_;
  std::uint64_t alignment_;
  std::vector<Buffer> buffers_;
};

}  // namespace tilevp::neuron
