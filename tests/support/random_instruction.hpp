#pragma once
// Random instructions whose every field is drawn: legal encodings, whatever the machine says to them.
#include <cstdint>
#include <limits>
#include <random>

#include "tilevp/base/random.hpp"
#include "tilevp/neuroncore/isa.hpp"

namespace tilevp::test {

class RandomInstruction {
  using AluOp = neuroncore::AluOp;
  using Condition = neuroncore::Condition;
  using Dim = neuroncore::Dim;
  using DType = numeric::DType;
  using Function = neuroncore::Function;
  using Instruction = neuroncore::Instruction;
  using Opcode = neuroncore::Opcode;
  using Operand = neuroncore::Operand;
  using Scalar = neuroncore::Scalar;
  using Space = neuroncore::Space;
  using UpdateKind = neuroncore::UpdateKind;
  using Wait = neuroncore::Wait;

 public:
  static constexpr std::array opcodes{Opcode::nop,           Opcode::halt,   Opcode::drain,       Opcode::semaphore,
                                      Opcode::dma_trigger,   Opcode::matmul, Opcode::tensor_copy, Opcode::tensor_tensor,
                                      Opcode::tensor_scalar, Opcode::memset, Opcode::activation,  Opcode::transpose,
                                      Opcode::tensor_reduce};

  explicit RandomInstruction(std::uint64_t seed) : generator_(tilevp::generator_for(seed, "random_instruction")) {}

  template <class T>
  T up_to(std::uint64_t high) {
    return static_cast<T>(uniform_int(generator_, 0, static_cast<std::int64_t>(high)));
  }
  Operand operand() {
    Operand o;
    o.space = up_to<Space>(1);
    o.partition = up_to<std::uint8_t>(127);
    o.offset = up_to<std::uint32_t>(o.space == Space::sbuf ? 262'143 : 16'383);
    for (Dim& dim : o.dims)
      dim = {static_cast<std::int16_t>(uniform_int(generator_, -32'768, 32'767)), up_to<std::uint16_t>(65'535)};
    return o;
  }
  Scalar scalar(bool may_be_address) {
    Scalar s;
    s.is_address = may_be_address && up_to<int>(1) == 1;
    if (s.is_address)
      s.address = up_to<std::uint32_t>(0xffffffff);
    else
      s.immediate = static_cast<float>(uniform_int(generator_, -1'000'000, 1'000'000)) / 64.0F;
    return s;
  }
  DType dtype() { return up_to<DType>(6); }

  Instruction instruction(Opcode opcode) {
    Instruction i;
    i.opcode = opcode;
    i.partitions = static_cast<std::uint8_t>(up_to<unsigned>(127) + 1);
    i.source_partitions = static_cast<std::uint8_t>(up_to<unsigned>(127) + 1);
    i.dtype = dtype();
    i.source0_dtype = dtype();
    i.source1_dtype = dtype();
    i.update = {up_to<UpdateKind>(3), up_to<std::uint8_t>(255),
                static_cast<std::int16_t>(uniform_int(generator_, -32'768, 32'767))};
    const bool has_source = opcode >= Opcode::matmul && opcode != Opcode::memset;
    const bool has_second = opcode == Opcode::matmul || opcode == Opcode::tensor_tensor;
    const bool has_scalars = opcode == Opcode::tensor_scalar || opcode == Opcode::activation;
    if (opcode >= Opcode::matmul) i.destination = operand();
    if (has_source) i.source0 = operand();
    if (has_second) i.source1 = operand();
    if (opcode == Opcode::matmul) i.flags = up_to<std::uint8_t>(15);
    if (opcode == Opcode::tensor_reduce) {
      i.flags = static_cast<std::uint8_t>(1 + up_to<unsigned>(2));
      i.op0 = up_to<AluOp>(5);
    }
    if (opcode == Opcode::tensor_tensor || opcode == Opcode::tensor_scalar) i.op0 = up_to<AluOp>(5);
    if (opcode == Opcode::tensor_scalar) i.op1 = up_to<AluOp>(5);
    if (opcode == Opcode::activation) i.function = up_to<Function>(1);
    if (has_scalars || opcode == Opcode::memset) i.scalar0 = scalar(has_scalars);
    if (has_scalars) i.scalar1 = scalar(true);
    if (opcode == Opcode::semaphore || opcode == Opcode::dma_trigger)
      for (Wait& wait : i.waits)
        wait = {up_to<Condition>(2), up_to<std::uint8_t>(255),
                static_cast<std::int32_t>(uniform_int(generator_, std::numeric_limits<std::int32_t>::min(),
                                                      std::numeric_limits<std::int32_t>::max()))};
    if (opcode == Opcode::dma_trigger) {
      i.queue = up_to<std::uint8_t>(255);
      i.descriptors = up_to<std::uint32_t>(0xffffffff);
    }
    return i;
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace tilevp::test
