#include "tilevp/neuroncore/opcode_names.hpp"

namespace tilevp::neuroncore {

const char* mnemonic(Opcode opcode) {
  switch (opcode) {
    case Opcode::nop:
      return "nop";
    case Opcode::halt:
      return "halt";
    case Opcode::drain:
      return "drain";
    case Opcode::semaphore:
      return "semaphore";
    case Opcode::dma_trigger:
      return "dma_trigger";
    case Opcode::matmul:
      return "matmul";
    case Opcode::transpose:
      return "transpose";
    case Opcode::tensor_copy:
      return "tensor_copy";
    case Opcode::tensor_tensor:
      return "tensor_tensor";
    case Opcode::tensor_scalar:
      return "tensor_scalar";
    case Opcode::memset:
      return "memset";
    case Opcode::tensor_reduce:
      return "tensor_reduce";
    case Opcode::activation:
      return "activation";
  }
  return "unknown";
}

}  // namespace tilevp::neuroncore
