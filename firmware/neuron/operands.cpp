#include "tilevp/neuron/operands.hpp"

#include <algorithm>
#include <array>

#include "tilevp/base/errors.hpp"
#include "tilevp/runtime/npy.hpp"
#include "tilevp/runtime/value_text.hpp"

namespace tilevp::neuron {

numeric::DType parse_matmul_dtype(const std::string& text) {
  for (const auto dtype : {numeric::DType::bf16, numeric::DType::fp16, numeric::DType::fp32})
    if (text == numeric::name(dtype)) return dtype;
  throw UserError("--dtype", "expected bf16, fp16 or fp32, found '" + text + "'");
}

std::vector<std::byte> random_operand(RandomKind kind, numeric::DType dtype, std::size_t elements, std::uint64_t seed,
                                      const std::string& name) {
  runtime::RandomValues values(kind, seed, name);
  const std::size_t size = numeric::size_bytes(dtype);
  std::vector<std::byte> bytes(elements * size);
  std::array<float, 1024> block;
  for (std::size_t done = 0; done < elements;) {
    const std::size_t count = std::min(block.size(), elements - done);
    std::generate_n(block.begin(), count, [&] { return values.next(); });
    numeric::store_from_fp32(dtype, block.data(), count, bytes.data() + done * size, 1, numeric::Rounding::rne);
    done += count;
  }
  return bytes;
}

FileOperand file_operand(const std::string& option, const std::string& file, const std::string& axes,
                         numeric::DType dtype, std::vector<std::string>& warnings) {
  const runtime::Tensor tensor = runtime::read_npy(file);
  const auto rank = static_cast<std::size_t>(std::count(axes.begin(), axes.end(), ',') + 1);
  if (tensor.shape.size() != rank)
    throw UserError(option, file + ": expected " + std::to_string(rank) + " axes (" + axes + "), found shape " +
                                runtime::shape_text(tensor.shape));
  FileOperand operand;
  for (const std::size_t extent : tensor.shape) {
    if (extent == 0)
      throw UserError(option,
                      file + ": expected no axis of length 0, found shape " + runtime::shape_text(tensor.shape));
    operand.shape.push_back(static_cast<std::int64_t>(extent));
  }
  runtime::Packed packed = runtime::pack(tensor, dtype, option + " " + file);
  if (packed.rounded > 0)
    warnings.push_back(file + ": " +
                       runtime::rounding_text(packed.rounded, packed.overflowed, tensor.size(), numeric::name(dtype)));
  operand.bytes = std::move(packed.bytes);
  return operand;
}

}  // namespace tilevp::neuron
