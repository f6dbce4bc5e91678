#pragma once
// Instructions by name, for messages and listings.
#include "tilevp/neuroncore/isa.hpp"

namespace tilevp::neuroncore {

// As the disassembler writes it: "matmul".
const char* mnemonic(Opcode opcode);
// As kernels call it (AWS Neuron documentation, nki.isa): "nc_matmul"; else the mnemonic.
inline const char* nki_name(Opcode opcode) {
  return opcode == Opcode::matmul ? "nc_matmul" : opcode == Opcode::transpose ? "nc_transpose" : mnemonic(opcode);
}

}  // namespace tilevp::neuroncore
