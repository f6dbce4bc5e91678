#pragma once
// The kernel builder: a program for one NeuronCore, written as a sequence of calls named as in AWS's Neuron Kernel
// Interface (nki.isa), destination first. It records a trace; the scheduler turns the trace into instruction streams.
//
// What an instruction word cannot hold is refused here with a UserError that names the call, its number and both
// numbers. What the hardware forbids beyond that (free sizes, partition rules, accumulation) is the machine's to find.
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "tilevp/neuron/machine.hpp"
#include "tilevp/neuron/tensor.hpp"
#include "tilevp/neuroncore/isa.hpp"

namespace tilevp::neuron {

using neuroncore::AluOp;
using neuroncore::Engine;

// Copies of a class share a set of DMA queues that no other class uses, so that the byte counters of the queues tell
// the classes apart.
enum class QueueClass : std::uint8_t { inputs, weights, outputs, local };
inline constexpr unsigned queue_classes = 4;

// What an operation reads or writes: rows (partitions) x bytes of a row, the bounding box of the access.
struct Region {
  Memory memory = Memory::sbuf;
  bool write = false;
  std::uint32_t tensor = 0;  // its index
  std::uint32_t row_begin = 0;
  std::uint32_t row_end = 0;
  std::uint64_t byte_begin = 0;
  std::uint64_t byte_end = 0;
};

struct CopyPart {
  Access destination;
  Access source;
  bool transposes = false;  // destination[f % F][f / F][p] = source[p][f], F: partitions of the destination
};

// One call of the trace.
struct Operation {
  const char* call = "";           // "nc_matmul"
  Engine engine = Engine::vector;  // that executes it; of a copy, that triggers it
  bool is_copy = false;
  bool is_barrier = false;  // of all engines; `engine` means nothing
  QueueClass queue_class = QueueClass::local;
  neuroncore::Instruction instruction;  // not of a copy
  std::vector<CopyPart> parts;          // of a copy
  boost::container::small_vector<Region, 3> regions;
};

struct MatmulOptions {
  bool start = false;  // overwrite PSUM: first of an accumulation group; else add
  bool stop = false;   // last of its group
  bool reuse = false;  // the stationary tile is that of the matmul before
};

class Kernel {
 public:
  explicit Kernel(const Machine& machine) : machine_(machine) {}
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  const Machine& machine() const { return machine_; }

  // `rows` rows of `free_size` elements at `address` as the DMA engines see it.
  Tensor hbm(std::string name, numeric::DType dtype, std::uint64_t address, std::int64_t rows, std::int64_t free_size);
  // `free_size` elements in every partition, from byte `offset` of the partition.
  Tensor sbuf(std::string name, numeric::DType dtype, std::uint64_t offset, std::int64_t free_size);
  // One bank.
  Tensor psum(std::string name, unsigned bank, numeric::DType dtype = numeric::DType::fp32);

  // dst[m, n] (=|+=) sum over k of stationary[k, m] * moving[k, n].
  void nc_matmul(const Access& dst, const Access& stationary, const Access& moving, MatmulOptions options = {});
  // dst[f, p] = src[p, f], of one type: on the PE array SBUF to PSUM, up to 128 x 128; on the vector engine 32 x 32.
  void nc_transpose(const Access& dst, const Access& src, Engine engine = Engine::pe);
  void tensor_copy(const Access& dst, const Access& src, Engine engine = Engine::vector);
  void tensor_tensor(const Access& dst, const Access& a, const Access& b, AluOp op, Engine engine = Engine::vector);
  // dst = (src op0 operand0) op1 operand1.
  void tensor_scalar(const Access& dst, const Access& src, AluOp op0, float operand0, AluOp op1 = AluOp::bypass,
                     float operand1 = 0.0F, Engine engine = Engine::vector);
  // dst[p, i] = src[p, i * R] op ... op src[p, i * R + R - 1], R = elements of src by elements of dst.
  void tensor_reduce(const Access& dst, AluOp op, const Access& src);
  void memset(const Access& dst, float value, Engine engine = Engine::gpsimd);
  // dst = function(src * scale + bias), on the scalar engine.
  void activation(const Access& dst, neuroncore::Function function, const Access& src, float scale = 1.0F,
                  float bias = 0.0F);
  // All parts under one trigger: one start latency, one completion. Source and destination of a part have the same
  // number of outermost elements (partitions), which are dealt to the DMA engines, and the same elements in each.
  void dma_copy(std::vector<CopyPart> parts, QueueClass queue_class, Engine trigger = Engine::sync);
  void dma_copy(const Access& dst, const Access& src, QueueClass queue_class, Engine trigger = Engine::sync);

  // Rows of the source become columns: destination[f % F][f / F][p] = source[p][f] in each part, F partitions; from HBM
  // or SBUF to SBUF, elements of 2 or 4 bytes; NC-v3 on. The sources' rows, each of consecutive elements, are dealt to
  // the DMA engines.
  void dma_transpose(std::vector<CopyPart> parts, QueueClass queue_class, Engine trigger = Engine::sync);

  // All engines that the kernel uses meet: what was called before, copies too, has ended before anything that is called
  // afterwards begins.
  void barrier();

  const std::vector<Operation>& operations() const { return operations_; }
  // Of SBUF and PSUM, in the order they were made.
  std::vector<TensorInfo> on_chip() const;

 private:
  Tensor add_tensor(TensorInfo info);
  std::string place(const char* call) const;
  neuroncore::Operand operand(const char* call, const char* role, const Access& access) const;
  neuroncore::Operand operand(const char* call, const char* role, const Access& access,
                              std::span<const Pair> pairs) const;
  Operation& add(const char* call, Engine engine);
  void require(bool condition, const char* call, const std::string& what) const;
  void require_same(const char* call, const char* what, std::int64_t a, std::int64_t b) const;
  void add_copy(const char* call, std::vector<CopyPart> parts, QueueClass queue_class, Engine trigger);
  Operation& elementwise(const char* call, Engine engine, neuroncore::Opcode opcode, const Access& dst,
                         const Access& src);

  Machine machine_;
  std::deque<TensorInfo> tensors_;
  std::vector<Operation> operations_;
};

}  // namespace tilevp::neuron
