#include "tilevp/neuron/kernel.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "tilevp/base/errors.hpp"

namespace tilevp::neuron {
namespace {

using neuroncore::Opcode;

// Rows of an HBM tensor that a pattern touches, and bytes within them; whole rows where it runs from one into another.
Region hbm_region(const Access& access) {
  const TensorInfo& tensor = access.tensor();
  std::int64_t row_low = access.first_partition();
  std::int64_t row_high = row_low;
  std::int64_t low = access.first_element();
  std::int64_t high = low;
  const auto extend = [&](const Pair& pair) {
    const bool by_rows = pair.step % tensor.free_size == 0;
    const std::int64_t reach = (by_rows ? pair.step / tensor.free_size : pair.step) * (pair.num - 1);
    if (by_rows)
      (reach < 0 ? row_low : row_high) += reach;
    else
      (reach < 0 ? low : high) += reach;
  };
  extend(access.outer());
  for (const Pair& pair : access.free()) extend(pair);
  if (low < 0 || high >= tensor.free_size) {
    row_low = std::max<std::int64_t>(0, row_low + (low < 0 ? (low - tensor.free_size + 1) / tensor.free_size : 0));
    row_high = std::min(tensor.rows - 1, row_high + high / tensor.free_size);
    low = 0;
    high = tensor.free_size - 1;
  }
  const auto size = static_cast<std::int64_t>(numeric::size_bytes(tensor.dtype));
  return {.memory = Memory::hbm,
          .write = false,
          .tensor = tensor.index,
          .row_begin = static_cast<std::uint32_t>(row_low),
          .row_end = static_cast<std::uint32_t>(row_high + 1),
          .byte_begin = static_cast<std::uint64_t>(low * size),
          .byte_end = static_cast<std::uint64_t>((high + 1) * size)};
}

Region region_of(const Access& access, bool write) {
  Region region;
  if (access.memory() == Memory::hbm) {
    region = hbm_region(access);
  } else {
    std::int64_t low = access.first_element();
    std::int64_t high = low;
    for (const Pair& pair : access.free()) {
      const std::int64_t reach = pair.step * (pair.num - 1);
      (reach < 0 ? low : high) += reach;
    }
    const auto size = static_cast<std::int64_t>(numeric::size_bytes(access.dtype()));
    region = {.memory = access.memory(),
              .write = false,
              .tensor = access.tensor().index,
              .row_begin = static_cast<std::uint32_t>(access.first_partition()),
              .row_end = static_cast<std::uint32_t>(access.first_partition() + access.partitions()),
              .byte_begin = access.tensor().address + static_cast<std::uint64_t>(low * size),
              .byte_end = access.tensor().address + static_cast<std::uint64_t>((high + 1) * size)};
  }
  region.write = write;
  return region;
}

// Adds a region; one that continues the last in rows, with the same bytes, becomes one with it.
void add_region(Operation& operation, const Region& region) {
  if (!operation.regions.empty()) {
    Region& last = operation.regions.back();
    if (last.memory == region.memory && last.write == region.write && last.tensor == region.tensor &&
        last.row_end >= region.row_begin && region.row_end >= last.row_begin) {
      const bool same_bytes = last.byte_begin == region.byte_begin && last.byte_end == region.byte_end;
      const bool same_rows = last.row_begin == region.row_begin && last.row_end == region.row_end;
      const bool touching = last.byte_end >= region.byte_begin && region.byte_end >= last.byte_begin;
      if (same_bytes || (same_rows && touching) || region.memory == Memory::sbuf) {
        last.row_begin = std::min(last.row_begin, region.row_begin);
        last.row_end = std::max(last.row_end, region.row_end);
        last.byte_begin = std::min(last.byte_begin, region.byte_begin);
        last.byte_end = std::max(last.byte_end, region.byte_end);
        return;
      }
    }
  }
  operation.regions.push_back(region);
}

// The pattern of a source cut behind each run of elements that is reduced into one: the last `reduced` pairs make a
// run.
struct ReducedPattern {
  boost::container::small_vector<Pair, Access::max_pairs + 1> pairs;
  unsigned reduced = 0;
  bool cut = false;  // whether a pair could be cut there
};

ReducedPattern reduced_pattern(const Access& source, std::int64_t run) {
  ReducedPattern pattern;
  pattern.pairs.assign(source.free().begin(), source.free().end());
  std::int64_t rest = run;  // elements of a run that the dimensions so far do not cover
  for (std::size_t at = pattern.pairs.size(); at-- > 0 && (rest > 1 || pattern.reduced == 0);) {
    Pair& pair = pattern.pairs[at];
    const std::int64_t inside = std::min(pair.num, rest);
    if (rest % inside != 0 || pair.num % inside != 0) return pattern;
    const Pair outer{pair.step * inside, pair.num / inside};
    pair.num = inside;
    rest /= inside;
    ++pattern.reduced;
    if (outer.num > 1) pattern.pairs.insert(pattern.pairs.begin() + static_cast<std::ptrdiff_t>(at), outer);
  }
  pattern.cut = rest == 1;
  return pattern;
}

// What every instruction with one source says of its two sides.
void one_source(Operation& operation, Opcode opcode, const Access& dst, const neuroncore::Operand& to,
                const Access& src, const neuroncore::Operand& from) {
  auto& instruction = operation.instruction;
  instruction.opcode = opcode;
  instruction.partitions = static_cast<std::uint8_t>(dst.partitions());
  instruction.source_partitions = static_cast<std::uint8_t>(src.partitions());
  instruction.dtype = dst.dtype();
  instruction.source0_dtype = src.dtype();
  instruction.destination = to;
  instruction.source0 = from;
  operation.regions.push_back(region_of(src, false));
  operation.regions.push_back(region_of(dst, true));
}

}  // namespace

Tensor Kernel::add_tensor(TensorInfo info) {
  info.index = static_cast<std::uint32_t>(tensors_.size());
  tensors_.push_back(std::move(info));
  return Tensor(&tensors_.back());
}

std::vector<TensorInfo> Kernel::on_chip() const {
  std::vector<TensorInfo> tensors;
  std::ranges::copy_if(tensors_, std::back_inserter(tensors),
                       [](const TensorInfo& tensor) { return tensor.memory != Memory::hbm; });
  return tensors;
}

Tensor Kernel::hbm(std::string name, numeric::DType dtype, std::uint64_t address, std::int64_t rows,
                   std::int64_t free_size) {
  return add_tensor({std::move(name), Memory::hbm, dtype, address, rows, free_size});
}

Tensor Kernel::sbuf(std::string name, numeric::DType dtype, std::uint64_t offset, std::int64_t free_size) {
  return add_tensor({std::move(name), Memory::sbuf, dtype, offset, machine_.partitions, free_size});
}

Tensor Kernel::psum(std::string name, unsigned bank, numeric::DType dtype) {
  return add_tensor({std::move(name), Memory::psum, dtype, std::uint64_t{bank} * neuroncore::psum_bank_bytes,
                     machine_.partitions,
                     static_cast<std::int64_t>(neuroncore::psum_bank_bytes / numeric::size_bytes(dtype))});
}

std::string Kernel::place(const char* call) const {
  return std::string(call) + " #" + std::to_string(operations_.size());
}

void Kernel::require(bool condition, const char* call, const std::string& what) const {
  if (!condition) throw UserError(place(call), what);
}

void Kernel::require_same(const char* call, const char* what, std::int64_t a, std::int64_t b) const {
  if (a != b) throw UserError(place(call), std::string(what) + ": " + std::to_string(a) + " and " + std::to_string(b));
}

neuroncore::Operand Kernel::operand(const char* call, const char* role, const Access& access) const {
  return operand(call, role, access, access.free());
}

neuroncore::Operand Kernel::operand(const char* call, const char* role, const Access& access,
                                    std::span<const Pair> pairs) const {
  const auto refuse = [&](const std::string& what) {
    throw UserError(place(call), std::string(role) + " " + access.text() + ": " + what);
  };
  if (access.memory() == Memory::hbm) refuse("engines reach SBUF and PSUM, not HBM");
  neuroncore::Operand operand;
  operand.space = access.memory() == Memory::sbuf ? neuroncore::Space::sbuf : neuroncore::Space::psum;
  operand.partition = static_cast<std::uint8_t>(access.first_partition());
  operand.offset = static_cast<std::uint32_t>(access.tensor().address) +
                   static_cast<std::uint32_t>(access.first_element()) *
                       static_cast<std::uint32_t>(numeric::size_bytes(access.dtype()));
  if (pairs.size() > operand.dims.size())
    refuse(std::to_string(pairs.size()) + " free dimensions after merging, an instruction holds " +
           std::to_string(operand.dims.size()));
  std::size_t at = operand.dims.size() - pairs.size();
  for (const Pair& pair : pairs) {
    using Step = std::numeric_limits<std::int16_t>;
    if (pair.step < Step::min() || pair.step > Step::max())
      refuse("step " + std::to_string(pair.step) + ", the field holds " + std::to_string(Step::min()) + ".." +
             std::to_string(Step::max()));
    if (pair.num > std::numeric_limits<std::uint16_t>::max())
      refuse("num " + std::to_string(pair.num) + ", the field holds at most " +
             std::to_string(std::numeric_limits<std::uint16_t>::max()));
    operand.dims[at++] = {static_cast<std::int16_t>(pair.step), static_cast<std::uint16_t>(pair.num)};
  }
  return operand;
}

Operation& Kernel::add(const char* call, Engine engine) {
  Operation& operation = operations_.emplace_back();
  operation.call = call;
  operation.engine = engine;
  return operation;
}

void Kernel::nc_matmul(const Access& dst, const Access& stationary, const Access& moving, MatmulOptions options) {
  constexpr const char* call = "nc_matmul";
  const auto expect = [&](const char* role, const Access& access, Memory memory) {
    if (access.memory() == memory) return;
    throw UserError(place(call), std::string("dest-first (dst, stationary, moving): operand ") + role + " is " +
                                     access.text() + ", expected " + std::string(name(memory)));
  };
  expect("dst", dst, Memory::psum);
  expect("stationary", stationary, Memory::sbuf);
  expect("moving", moving, Memory::sbuf);
  require_same(call, "partitions of stationary and moving (K) differ", stationary.partitions(), moving.partitions());
  require_same(call, "partitions of dst and elements of stationary (M) differ", dst.partitions(),
               stationary.elements());
  require_same(call, "elements of dst and of moving (N) differ", dst.elements(), moving.elements());
  const auto to = operand(call, "dst", dst);
  const auto with = operand(call, "stationary", stationary);
  const auto from = operand(call, "moving", moving);
  Operation& operation = add(call, Engine::pe);
  auto& instruction = operation.instruction;
  instruction.opcode = Opcode::matmul;
  instruction.flags = static_cast<std::uint8_t>(
      (options.start ? neuroncore::matmul_start : neuroncore::matmul_accumulate) |
      (options.stop ? neuroncore::matmul_stop : 0) | (options.reuse ? neuroncore::matmul_reuse : 0));
  instruction.partitions = static_cast<std::uint8_t>(dst.partitions());
  instruction.source_partitions = static_cast<std::uint8_t>(moving.partitions());
  instruction.dtype = dst.dtype();
  instruction.source0_dtype = moving.dtype();
  instruction.source1_dtype = stationary.dtype();
  instruction.destination = to;
  instruction.source0 = from;
  instruction.source1 = with;
  add_region(operation, region_of(stationary, false));
  operation.regions.push_back(region_of(moving, false));
  operation.regions.push_back(region_of(dst, true));
}

Operation& Kernel::elementwise(const char* call, Engine engine, Opcode opcode, const Access& dst, const Access& src) {
  require_same(call, "partitions of dst and source differ", dst.partitions(), src.partitions());
  require_same(call, "elements of dst and source differ", dst.elements(), src.elements());
  const auto to = operand(call, "dst", dst);
  const auto from = operand(call, "src", src);
  Operation& operation = add(call, engine);
  one_source(operation, opcode, dst, to, src, from);
  return operation;
}

void Kernel::nc_transpose(const Access& dst, const Access& src, Engine engine) {
  constexpr const char* call = "nc_transpose";
  require_same(call, "partitions of dst and elements of source differ", dst.partitions(), src.elements());
  require_same(call, "elements of dst and partitions of source differ", dst.elements(), src.partitions());
  const auto to = operand(call, "dst", dst);
  const auto from = operand(call, "src", src);
  Operation& operation = add(call, engine);
  one_source(operation, Opcode::transpose, dst, to, src, from);
}

void Kernel::tensor_reduce(const Access& dst, AluOp op, const Access& src) {
  constexpr const char* call = "tensor_reduce";
  require_same(call, "partitions of dst and source differ", dst.partitions(), src.partitions());
  const std::int64_t run = src.elements() / dst.elements();
  require_same(call, "elements of source are no multiple of those of dst", src.elements(), run * dst.elements());
  const ReducedPattern pattern = reduced_pattern(src, run);
  require(pattern.cut, call, src.text() + ": no dimension ends after " + std::to_string(run) + " elements");
  const auto to = operand(call, "dst", dst);
  const auto from = operand(call, "src", src, pattern.pairs);
  Operation& operation = add(call, Engine::vector);
  one_source(operation, Opcode::tensor_reduce, dst, to, src, from);
  operation.instruction.flags = static_cast<std::uint8_t>(pattern.reduced);
  operation.instruction.op0 = op;
}

void Kernel::tensor_copy(const Access& dst, const Access& src, Engine engine) {
  elementwise("tensor_copy", engine, Opcode::tensor_copy, dst, src);
}

void Kernel::tensor_tensor(const Access& dst, const Access& a, const Access& b, AluOp op, Engine engine) {
  constexpr const char* call = "tensor_tensor";
  require_same(call, "partitions of the sources differ", a.partitions(), b.partitions());
  require_same(call, "elements of the sources differ", a.elements(), b.elements());
  const auto second = operand(call, "b", b);
  Operation& operation = elementwise(call, engine, Opcode::tensor_tensor, dst, a);
  operation.instruction.op0 = op;
  operation.instruction.source1 = second;
  operation.instruction.source1_dtype = b.dtype();
  operation.regions.push_back(region_of(b, false));
}

void Kernel::tensor_scalar(const Access& dst, const Access& src, AluOp op0, float operand0, AluOp op1, float operand1,
                           Engine engine) {
  Operation& operation = elementwise("tensor_scalar", engine, Opcode::tensor_scalar, dst, src);
  operation.instruction.op0 = op0;
  operation.instruction.op1 = op1;
  operation.instruction.scalar0.immediate = operand0;
  operation.instruction.scalar1.immediate = operand1;
}

void Kernel::memset(const Access& dst, float value, Engine engine) {
  const auto to = operand("memset", "dst", dst);
  Operation& operation = add("memset", engine);
  auto& instruction = operation.instruction;
  instruction.opcode = Opcode::memset;
  instruction.partitions = static_cast<std::uint8_t>(dst.partitions());
  instruction.source_partitions = instruction.partitions;
  instruction.dtype = dst.dtype();
  instruction.destination = to;
  instruction.scalar0.immediate = value;
  operation.regions.push_back(region_of(dst, true));
}

void Kernel::activation(const Access& dst, neuroncore::Function function, const Access& src, float scale, float bias) {
  Operation& operation = elementwise("activation", Engine::scalar, Opcode::activation, dst, src);
  operation.instruction.function = function;
  operation.instruction.scalar0.immediate = scale;
  operation.instruction.scalar1.immediate = bias;
}

void Kernel::dma_copy(std::vector<CopyPart> parts, QueueClass queue_class, Engine trigger) {
  constexpr const char* call = "dma_copy";
  require(!parts.empty(), call, "a copy needs at least one part");
  for (const CopyPart& part : parts) {
    require_same(call, "outermost elements (partitions) of dst and source differ", part.destination.partitions(),
                 part.source.partitions());
    require_same(call, "elements of dst and source differ", part.destination.elements(), part.source.elements());
  }
  add_copy(call, std::move(parts), queue_class, trigger);
}

void Kernel::dma_transpose(std::vector<CopyPart> parts, QueueClass queue_class, Engine trigger) {
  constexpr const char* call = "dma_transpose";
  require(!parts.empty(), call, "a transpose needs at least one part");
  require(machine_.has_dma_transpose(), call,
          "NC-v" + std::to_string(machine_.generation) + " has no DMA transposes; NC-v3 and later have");
  for (CopyPart& part : parts) {
    part.transposes = true;
    const std::int64_t tiles = part.source.elements() / part.destination.partitions();
    require_same(call, "elements of source are no multiple of the partitions of dst", part.source.elements(),
                 tiles * part.destination.partitions());
    require_same(call, "elements of dst and rows of source times tiles differ", part.destination.elements(),
                 tiles * part.source.partitions());
    require(part.destination.memory() == Memory::sbuf, call, part.destination.text() + ": a transpose ends in SBUF");
    require(part.destination.free().size() <= 2 && part.source.free().size() == 1, call,
            part.destination.text() + ": a part has tiles and rows, no more");
  }
  add_copy(call, std::move(parts), queue_class, trigger);
}

void Kernel::add_copy(const char* call, std::vector<CopyPart> parts, QueueClass queue_class, Engine trigger) {
  for (const CopyPart& part : parts) {
    for (const Access* access : {&part.destination, &part.source})
      require(access->memory() != Memory::psum, call,
              access->text() + ": copies reach HBM and SBUF; PSUM is drained by the vector or scalar engine");
  }
  Operation& operation = add(call, trigger);
  operation.is_copy = true;
  operation.queue_class = queue_class;
  for (const CopyPart& part : parts) add_region(operation, region_of(part.destination, true));
  for (const CopyPart& part : parts) add_region(operation, region_of(part.source, false));
  operation.parts = std::move(parts);
}

void Kernel::dma_copy(const Access& dst, const Access& src, QueueClass queue_class, Engine trigger) {
  dma_copy({CopyPart{dst, src}}, queue_class, trigger);
}

void Kernel::barrier() { add("barrier", Engine::sync).is_barrier = true; }

}  // namespace tilevp::neuron
