#include "tilevp/neuroncore/moving_tiles.hpp"

namespace tilevp::neuroncore {

MovingTiles::Place MovingTiles::place(const numeric::StridedTile& tile, unsigned stationary_columns,
                                      std::size_t part_columns, const EffectsQueue& effects) {
  for (std::size_t i = 0; i < capacity; ++i) {
    const Kept& kept = kept_[i];
    if (kept.stationary_columns == stationary_columns && kept.part_columns == part_columns && kept.tile == tile)
      if (!effects.written_since(kept.writes, numeric::extent(tile))) return {i, true};
  }
  const Place taken = place();
  kept_[taken.index] = {tile, stationary_columns, part_columns, effects.writes()};
  return taken;
}

MovingTiles::Place MovingTiles::place() {
  const std::size_t index = next_;
  next_ = (next_ + 1) % capacity;
  kept_[index].stationary_columns = 0;
  return {index, false};
}

}  // namespace tilevp::neuroncore
