#pragma once
// An engine's way to one memory. The target is asked once whether it is direct; where it is not, bytes travel packed.
#include <cstddef>
#include <vector>

#include "tilevp/neuroncore/tile_access.hpp"

namespace tilevp::neuroncore {

class TilePort {
 public:
  explicit TilePort(const char* name) : socket(name) {}
  tlm_utils::simple_initiator_socket<TilePort, 32, TileProtocol> socket;

  bool direct() {
    if (!asked_) {
      TileAccess query;
      query.command = TileAccess::Command::query;
      transport(query);
      direct_ = query.direct;
      asked_ = true;
    }
    return direct_;
  }

  // The tile's bytes: in the memory itself, or in `buffer`, filled at once.
  numeric::StridedTile read(TileAccess& access, std::vector<std::byte>& buffer) {
    access.command = TileAccess::Command::read;
    if (direct()) {
      transport(access);
      return read_only(access.view);
    }
    access.data = packed(access, buffer);
    transport(access);
    return read_only(dense_view(access, buffer));
  }

  // Where to put the result of an access to a memory that is not direct; send it with write_packed.
  numeric::MutableStridedTile packed_destination(TileAccess& access, std::vector<std::byte>& buffer) {
    access.data = packed(access, buffer);
    return dense_view(access, buffer);
  }
  numeric::MutableStridedTile write_direct(TileAccess& access) {
    access.command = TileAccess::Command::write;
    transport(access);
    return access.view;
  }
  void write_packed(TileAccess& access) {
    access.command = TileAccess::Command::write;
    transport(access);
  }

 private:
  void transport(TileAccess& access) {
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->b_transport(access, delay);
  }
  static std::size_t row_bytes(const TileAccess& access) {
    return access.operand.elements() * numeric::size_bytes(access.dtype);
  }
  static std::span<std::byte> packed(const TileAccess& access, std::vector<std::byte>& buffer) {
    buffer.resize(row_bytes(access) * access.partitions);
    return buffer;
  }
  static numeric::MutableStridedTile dense_view(const TileAccess& access, std::vector<std::byte>& buffer) {
    return numeric::dense_tile(buffer.data(), access.dtype, access.partitions,
                               static_cast<std::ptrdiff_t>(row_bytes(access)), access.operand.elements());
  }
  static numeric::StridedTile read_only(const numeric::MutableStridedTile& tile) {
    return {tile.base, tile.partition_stride_bytes, tile.partitions, tile.dims, tile.dim_count, tile.dtype};
  }

  bool asked_ = false;
  bool direct_ = false;
};

}  // namespace tilevp::neuroncore
