#include "tilevp/neuroncore/legality.hpp"

#include <string>

#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/opcode_names.hpp"
#include "tilevp/neuroncore/registers.hpp"
#include "tilevp/neuroncore/rules.hpp"
#include "tilevp/neuroncore/tile_geometry.hpp"

namespace tilevp::neuroncore {
namespace {

const char* name_of(Space space) { return space == Space::sbuf ? "SBUF" : "PSUM"; }

// One instruction being checked; its failures name it.
class Checker {
 public:
  Checker(const Instruction& instruction, Engine engine, const LegalityLimits& limits, std::uint64_t index)
      : i_(instruction), engine_(engine), limits_(limits), index_(index) {}

  void run() {
    check_semaphores();
    if (i_.opcode < Opcode::matmul) return check_control();
    if (!executes()) fail(rule::engine_opcode, std::string("the ") + name(engine_) + " engine does not execute it");
    if (i_.opcode == Opcode::matmul) return check_matmul();
    if (i_.opcode == Opcode::transpose) return check_transpose();
    check_elementwise();
  }

 private:
  [[noreturn]] void fail(const char* id, const std::string& what) const {
    throw Fault(id, std::string(nki_name(i_.opcode)) + " #" + std::to_string(index_) + ": " + what);
  }
  void check_semaphore(unsigned semaphore) const {
    constexpr unsigned usable = registers::semaphores - registers::reserved_semaphores;
    if (semaphore >= usable)
      fail(rule::semaphore_reserved,
           "semaphore " + std::to_string(semaphore) + " is reserved; programs use 0 to " + std::to_string(usable - 1));
  }
  void check_semaphores() const {
    if (i_.update.kind != UpdateKind::none) check_semaphore(i_.update.semaphore);
    for (const Wait& wait : i_.waits)
      if (wait.condition != Condition::none) check_semaphore(wait.semaphore);
  }
  void check_control() const {
    if (i_.opcode != Opcode::dma_trigger) return;
    if (i_.queue >= dma_queue_count)
      fail(rule::dma_queue, "queue " + std::to_string(i_.queue) + " exceeds " + std::to_string(dma_queue_count - 1));
    if (i_.descriptors == 0) fail(rule::dma_descriptors, "0 descriptors; at least 1 is needed");
  }

  // AWS Neuron documentation, nki.isa (release 2.26): the engines each instruction runs on.
  bool executes() const {
    const bool vector = engine_ == Engine::vector;
    const bool gpsimd = engine_ == Engine::gpsimd;
    const bool scalar = engine_ == Engine::scalar;
    switch (i_.opcode) {
      case Opcode::matmul:
        return engine_ == Engine::pe;
      case Opcode::transpose:
        return vector || engine_ == Engine::pe;
      case Opcode::tensor_reduce:
        return vector;
      case Opcode::tensor_copy:
        return vector || gpsimd || (scalar && limits_.generation >= 3);
      case Opcode::tensor_tensor:
      case Opcode::memset:
        return vector || gpsimd;
      case Opcode::tensor_scalar:
        return vector || gpsimd || scalar;
      case Opcode::activation:
        return scalar;
      default:
        return false;
    }
  }

  // Bounds, alignment and non-empty dimensions: what every tile obeys.
  void check_tile(const Operand& tile, const char* what, unsigned partitions, numeric::DType dtype) const {
    const auto element = static_cast<std::uint32_t>(numeric::size_bytes(dtype));
    for (const Dim& dim : tile.dims)
      if (dim.num == 0) fail(rule::operand_empty, std::string(what) + " has a dimension of 0 elements");
    if (tile.partition + partitions > max_partitions)
      fail(rule::partition_range, std::string(what) + " covers partitions " + std::to_string(tile.partition) + " to " +
                                      std::to_string(tile.partition + partitions - 1) + "; there are " +
                                      std::to_string(max_partitions));
    if (tile.offset % element != 0)
      fail(rule::operand_alignment, std::string(what) + " starts at byte " + std::to_string(tile.offset) +
                                        ", no multiple of its element size " + std::to_string(element));
    const ByteSpan span = span_of(tile, element);
    const std::int64_t limit =
        tile.space == Space::sbuf ? std::int64_t{limits_.sbuf_usable_bytes} : psum_banks * psum_bank_bytes;
    if (span.low < 0 || span.high > limit)
      fail(tile.space == Space::sbuf ? rule::sbuf_bounds : rule::psum_bounds,
           std::string(what) + " reaches bytes " + std::to_string(span.low) + " to " + std::to_string(span.high - 1) +
               " of its partitions; " + name_of(tile.space) + " has " + std::to_string(limit) + " usable");
  }

  void check_start(const Operand& tile, const char* what, unsigned partitions) const {
    const unsigned step = partitions > 64 ? 128 : partitions > 32 ? 64 : 32;
    if (tile.partition % step != 0)
      fail(rule::partition_start, std::string(what) + " of " + std::to_string(partitions) +
                                      " partitions starts at partition " + std::to_string(tile.partition) +
                                      ", no multiple of " + std::to_string(step));
  }

  // ---- matmul

  void check_matmul() const {
    if ((i_.flags & matmul_start) != 0 ? (i_.flags & matmul_accumulate) != 0 : (i_.flags & matmul_accumulate) == 0)
      fail(rule::pe_flags, "it must carry either START or ACCUMULATE, flags are " + std::to_string(i_.flags));
    check_matmul_types();
    check_matmul_operand(i_.source0, "moving");
    check_matmul_operand(i_.source1, "stationary");
    if (i_.destination.space != Space::psum) fail(rule::operand_space, "destination is in SBUF, expected PSUM");
    check_tile(i_.source0, "moving", i_.source_partitions, i_.source0_dtype);
    check_tile(i_.source1, "stationary", i_.source_partitions, i_.source1_dtype);
    check_tile(i_.destination, "destination", i_.partitions, i_.dtype);
    check_start(i_.destination, "destination", i_.partitions);
    check_matmul_sizes();
    check_one_bank();
  }

  void check_one_bank() const {
    const ByteSpan span = span_of(i_.destination, static_cast<std::uint32_t>(numeric::size_bytes(i_.dtype)));
    if (span.low / psum_bank_bytes != (span.high - 1) / psum_bank_bytes)
      fail(rule::psum_bank_span, "destination spans banks " + std::to_string(span.low / psum_bank_bytes) + " to " +
                                     std::to_string((span.high - 1) / psum_bank_bytes) + "; a group lies in one");
  }

  void check_matmul_operand(const Operand& tile, const char* what) const {
    if (tile.space != Space::sbuf) fail(rule::operand_space, std::string(what) + " is in PSUM, expected SBUF");
    if (tile.partition != 0)
      fail(rule::pe_partition_start,
           std::string(what) + " starts at partition " + std::to_string(tile.partition) + ", expected 0");
  }

  void check_matmul_types() const {
    using numeric::DType;
    const bool fp32 = i_.source0_dtype == DType::fp32;
    if (!numeric::is_float(i_.source0_dtype) || !numeric::is_float(i_.source1_dtype) ||
        fp32 != (i_.source1_dtype == DType::fp32) || i_.dtype != DType::fp32)
      fail(rule::pe_dtype, "moving " + std::string(numeric::name(i_.source0_dtype)) + ", stationary " +
                               std::string(numeric::name(i_.source1_dtype)) + ", destination " +
                               std::string(numeric::name(i_.dtype)) +
                               "; expected fp32 both or 16-bit floats, into fp32");
    if (fp32 && (i_.flags & matmul_reuse) != 0) fail(rule::pe_reuse_fp32, "REUSE with fp32 weights");
  }

  void check_matmul_sizes() const {
    const std::uint64_t columns = free_size(i_.source0);
    if (columns > max_moving_free)
      fail(rule::pe_moving_free_size,
           "moving free size " + std::to_string(columns) + " exceeds " + std::to_string(max_moving_free));
    const std::uint64_t rows = free_size(i_.source1);
    if (rows > max_stationary_free)
      fail(rule::pe_stationary_free_size,
           "stationary free size " + std::to_string(rows) + " exceeds " + std::to_string(max_stationary_free));
    if (rows != i_.partitions)
      fail(rule::partition_count, "stationary has " + std::to_string(rows) + " columns, destination " +
                                      std::to_string(i_.partitions) + " partitions");
    if (free_size(i_.destination) != columns)
      fail(rule::operand_elements, "moving has " + std::to_string(columns) + " columns, destination " +
                                       std::to_string(free_size(i_.destination)) + " elements");
  }

  // ---- transpose

  void check_transpose() const {
    const bool pe = engine_ == Engine::pe;
    if (i_.source0_dtype != i_.dtype)
      fail(rule::operand_dtype, "source 0 is " + std::string(numeric::name(i_.source0_dtype)) + ", destination " +
                                    std::string(numeric::name(i_.dtype)) + "; a transpose keeps the type");
    if (pe) {
      if (!numeric::is_float(i_.dtype))
        fail(rule::pe_dtype,
             "source 0 is " + std::string(numeric::name(i_.dtype)) + "; the PE array takes fp32, bf16 and fp16");
      check_matmul_operand(i_.source0, "source 0");
      if (i_.destination.space != Space::psum) fail(rule::operand_space, "destination is in SBUF, expected PSUM");
    }
    check_tile(i_.source0, "source 0", i_.source_partitions, i_.source0_dtype);
    check_tile(i_.destination, "destination", i_.partitions, i_.dtype);
    check_start(i_.source0, "source 0", i_.source_partitions);
    check_start(i_.destination, "destination", i_.partitions);
    check_transpose_sizes(pe ? max_transpose_pe : max_transpose_vector);
    if (pe) check_one_bank();
  }

  void check_transpose_sizes(unsigned limit) const {
    const std::uint64_t columns = free_size(i_.source0);
    if (i_.source_partitions > limit || columns > limit)
      fail(rule::operand_transpose_size, "source 0 of " + std::to_string(i_.source_partitions) + " partitions x " +
                                             std::to_string(columns) + " elements exceeds " + std::to_string(limit) +
                                             " x " + std::to_string(limit) + " of the " + name(engine_) + " engine");
    if (columns != i_.partitions)
      fail(rule::partition_count, "source 0 has " + std::to_string(columns) + " elements a partition, destination " +
                                      std::to_string(i_.partitions) + " partitions");
    if (free_size(i_.destination) != i_.source_partitions)
      fail(rule::operand_elements, "source 0 has " + std::to_string(i_.source_partitions) +
                                       " partitions, destination " + std::to_string(free_size(i_.destination)) +
                                       " elements a partition");
  }

  // ---- vector, scalar, gpsimd

  void check_elementwise() const {
    check_operand(i_.destination, "destination", i_.dtype);
    if (i_.partitions != i_.source_partitions)
      fail(rule::partition_count, "sources have " + std::to_string(i_.source_partitions) + " partitions, destination " +
                                      std::to_string(i_.partitions));
    if (i_.opcode == Opcode::memset) return;
    if (i_.opcode == Opcode::tensor_reduce) return check_reduce();
    check_source(i_.source0, "source 0", i_.source0_dtype);
    if (i_.opcode == Opcode::tensor_tensor) return check_tensor_tensor();
    check_scalar(i_.scalar0, "scalar 0");
    check_scalar(i_.scalar1, "scalar 1");
  }

  void check_operand(const Operand& tile, const char* what, numeric::DType dtype) const {
    if (engine_ == Engine::gpsimd && tile.space == Space::psum)
      fail(rule::operand_space, std::string(what) + " is in PSUM, which the gpsimd engine does not reach");
    check_tile(tile, what, i_.partitions, dtype);
    check_start(tile, what, i_.partitions);
    const std::uint64_t elements = free_size(tile);
    const unsigned limit = tile.space == Space::sbuf ? max_free_size_sbuf : max_free_size_psum;
    if (elements > limit)
      fail(rule::operand_free_size, std::string(what) + " free size " + std::to_string(elements) + " exceeds " +
                                        std::to_string(limit) + " in " + name_of(tile.space));
  }

  void check_source(const Operand& tile, const char* what, numeric::DType dtype) const {
    check_operand(tile, what, dtype);
    if (tile.elements() != i_.destination.elements())
      fail(rule::operand_elements, std::string(what) + " has " + std::to_string(tile.elements()) +
                                       " elements a partition, destination " +
                                       std::to_string(i_.destination.elements()));
  }

  void check_reduce() const {
    check_operand(i_.source0, "source 0", i_.source0_dtype);
    if (i_.op0 == AluOp::bypass || i_.op0 == AluOp::subtract)
      fail(rule::operand_op, std::string("op is ") + (i_.op0 == AluOp::bypass ? "bypass" : "subtract") +
                                 ", expected add, multiply, max or min");
    const std::uint64_t results = free_size(i_.source0) / reduced_elements(i_);
    if (results != free_size(i_.destination))
      fail(rule::operand_elements, "source 0 reduces to " + std::to_string(results) +
                                       " elements a partition, destination has " +
                                       std::to_string(free_size(i_.destination)));
  }

  void check_tensor_tensor() const {
    check_source(i_.source1, "source 1", i_.source1_dtype);
    if (i_.source0.space == Space::psum && i_.source1.space == Space::psum)
      fail(rule::psum_two_inputs, "2 inputs in PSUM exceed 1");
    if (i_.op0 == AluOp::bypass) fail(rule::operand_op, "op is bypass, expected an operation on two operands");
    using numeric::DType;
    if (engine_ == Engine::gpsimd &&
        (i_.dtype != DType::int32 || i_.source0_dtype != DType::int32 || i_.source1_dtype != DType::int32))
      fail(rule::operand_dtype,
           "the gpsimd engine takes int32 operands, found " + std::string(numeric::name(i_.source0_dtype)) + ", " +
               std::string(numeric::name(i_.source1_dtype)) + " into " + std::string(numeric::name(i_.dtype)));
  }

  void check_scalar(const Scalar& scalar, const char* what) const {
    if (scalar.is_address)
      check_tile(scalar_tile(scalar, i_.source0.partition), what, i_.partitions, numeric::DType::fp32);
  }

  const Instruction& i_;
  Engine engine_;
  const LegalityLimits& limits_;
  std::uint64_t index_;
};

}  // namespace

void check(const Instruction& instruction, Engine engine, const LegalityLimits& limits, std::uint64_t index) {
  Checker(instruction, engine, limits, index).run();
}

}  // namespace tilevp::neuroncore
