#pragma once
// The moving tiles packed last, kept because programs stream the same tile past several stationary ones (a convolution:
// past each tile of filters). A packed tile is used again only if nothing has been written to its bytes since.
#include <array>
#include <cstdint>
#include <vector>

#include "tilevp/base/effects.hpp"
#include "tilevp/numeric/ordered_gemm.hpp"
#include "tilevp/numeric/strided_tile.hpp"

namespace tilevp::neuroncore {

class MovingTiles {
 public:
  // Three filter columns by two channel tiles, and some: 8 tiles of 128 x 512 floats are 2 MB.
  static constexpr std::size_t capacity = 8;

  struct Place {
    std::size_t index = 0;
    bool packed = false;  // the tile is (or will be, when the effects before have run) packed there
  };

  // On the kernel thread, when the effect that needs the tile is appended. Two products share a packed tile if they
  // have as many stationary columns and cut it into parts of as many columns.
  Place place(const numeric::StridedTile& tile, unsigned stationary_columns, std::size_t part_columns,
              const EffectsQueue& effects);
  // A place for a tile that is not to be kept.
  Place place();

  // In effects: the packed parts of the tile at `index`.
  std::vector<numeric::PackedMoving>& parts(std::size_t index) { return parts_[index]; }

 private:
  struct Kept {
    numeric::StridedTile tile;
    unsigned stationary_columns = 0;  // 0: nothing is kept
    std::size_t part_columns = 0;
    std::uint64_t writes = 0;  // of the effects queue before it was packed
  };

  std::array<Kept, capacity> kept_;
  std::array<std::vector<numeric::PackedMoving>, capacity> parts_;
  std::size_t next_ = 0;
};

}  // namespace tilevp::neuroncore
