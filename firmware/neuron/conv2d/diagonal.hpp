#pragma once
// Convolutions of one channel a group, or of one image a group, as the diagonal of dense ones: up to 128 groups at a
// time are convolved densely into a block of [group][group] planes, and a strided copy picks the planes of a group with
// itself. Most of the block is thrown away; the PE array is that much faster than what it replaces.
//
//   one_image   N = 1, groups = C = O: channels are taken for images of a dense convolution of one channel, which runs
//               as "default" or "stride". The block is N,O,K0,K1: planes (block + 1) * K0 * K1 apart.
//   images      batch groups = N = O: a dense convolution of C channels by column packing. The block is O,K0,K1,N:
//               planes K0 * K1 * block + 1 apart, elements `block` apart.
//   images_columns_first   the same with the filter in C, O, Wf, Hf.
//
// (conv2d_column_packing_1, conv2d_column_packing and conv2d_column_packing_io10 of AWS's kernel library, as public
// reverse engineering describes them: GrigoryEvko/nvopen-tools.)
#include <memory>
#include <string>

#include "tilevp/neuron/conv2d/convolution.hpp"

namespace tilevp::neuron::conv2d {

enum class DiagonalKind : std::uint8_t { one_image, images, images_columns_first };

// Why there is no such kernel for the request; empty: there is one.
std::string diagonal_refusal(const PlanRequest& request, DiagonalKind kind);

std::unique_ptr<Convolution> make_diagonal(const PlanRequest& request, DiagonalKind kind, const Machine& machine);

}  // namespace tilevp::neuron::conv2d
