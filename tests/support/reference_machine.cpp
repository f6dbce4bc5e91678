#include "support/reference_machine.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tilevp/neuroncore/registers.hpp"
#include "tilevp/numeric/ordered_gemm.hpp"
#include "tilevp/numeric/strided_tile.hpp"

namespace tilevp::test {
namespace {

using neuroncore::AluOp;
using neuroncore::Instruction;
using neuroncore::Opcode;
using neuroncore::Operand;
using neuroncore::Space;

constexpr std::size_t psum_partition_bytes = neuroncore::psum_banks * neuroncore::psum_bank_bytes;
constexpr std::size_t most_flying = 4;
constexpr std::byte poison{0xff};

void expect(bool condition, const std::string& what) {
  if (!condition) throw MachineError(what);
}

numeric::MutableStridedTile view_of(std::byte* base, const Operand& operand, std::ptrdiff_t partition_stride,
                                    unsigned partitions, numeric::DType dtype) {
  numeric::MutableStridedTile view;
  view.base = base;
  view.partition_stride_bytes = partition_stride;
  view.partitions = partitions;
  view.dim_count = 3;
  for (std::size_t d = 0; d < 3; ++d) view.dims[d] = {operand.dims[d].num, operand.dims[d].step};
  view.dtype = dtype;
  return view;
}

numeric::StridedTile reading(const numeric::MutableStridedTile& view) {
  numeric::StridedTile tile;
  tile.base = view.base;
  tile.partition_stride_bytes = view.partition_stride_bytes;
  tile.partitions = view.partitions;
  tile.dims = view.dims;
  tile.dim_count = view.dim_count;
  tile.dtype = view.dtype;
  return tile;
}

std::size_t reduced_run(const Instruction& instruction) {
  std::size_t run = 1;
  for (unsigned d = 0; d < instruction.flags; ++d) run *= instruction.source0.dims[2 - d].num;
  return run;
}

float apply(AluOp op, float a, float b) {
  switch (op) {
    case AluOp::add:
      return a + b;
    case AluOp::subtract:
      return a - b;
    case AluOp::multiply:
      return a * b;
    case AluOp::max:
      return a > b ? a : b;
    case AluOp::min:
      return a < b ? a : b;
    case AluOp::bypass:
      return a;
  }
  return a;
}

}  // namespace

ReferenceMachine::ReferenceMachine(const neuron::Machine& machine, std::size_t hbm_bytes, std::uint64_t seed)
    : hbm(hbm_bytes, poison),
      queue_bytes(machine.dma_queues, 0),
      machine_(machine),
      sbuf_(std::size_t{machine.partitions} * machine.sbuf_bytes, poison),
      psum_(machine.partitions * psum_partition_bytes, poison),
      from_matmul_(psum_.size() / 4, 0),
      semaphores_(neuroncore::registers::semaphores, 0),
      sequencers_(neuroncore::engines),
      queues_(std::size_t{machine.dma_queues} * machine.dma_engines),
      random_(seed) {}

void ReferenceMachine::run(const neuron::Schedule& schedule) {
  schedule_ = &schedule;
  std::vector<std::size_t> order(2 * neuroncore::engines + queues_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // The agents of higher rank go as far as they can before the others move; now and then the ranks change.
  for (std::uint64_t left = 0;; --left) {
    if (left == 0) {
      std::shuffle(order.begin(), order.end(), random_);
      left = 1 + random_() % 200;
    }
    if (std::any_of(order.begin(), order.end(), [&](std::size_t agent) { return step(agent); })) continue;
    break;
  }
  for (std::size_t e = 0; e < neuroncore::engines; ++e)
    expect(sequencers_[e].next == schedule.streams[e].size(),
           std::string("deadlock: ") + name(static_cast<neuroncore::Engine>(e)) + " at instruction " +
               std::to_string(sequencers_[e].next) + " of " + std::to_string(schedule.streams[e].size()));
  for (const Queue& queue : queues_) expect(queue.head == queue.tail, "a DMA queue was left with descriptors");
}

bool ReferenceMachine::step(std::size_t agent) {
  if (agent < neuroncore::engines) return issue(agent);
  agent -= neuroncore::engines;
  if (agent < neuroncore::engines) return complete(agent);
  agent -= neuroncore::engines;
  return copy(agent / machine_.dma_engines, agent % machine_.dma_engines);
}

bool ReferenceMachine::ready(const Instruction& instruction) const {
  return std::all_of(instruction.waits.begin(), instruction.waits.end(), [&](const neuroncore::Wait& wait) {
    return wait.condition == neuroncore::Condition::none || semaphores_[wait.semaphore] >= wait.value;
  });
}

bool ReferenceMachine::issue(std::size_t engine) {
  Sequencer& sequencer = sequencers_[engine];
  if (sequencer.next == schedule_->streams[engine].size() || sequencer.flying.size() == most_flying) return false;
  const Instruction& instruction = schedule_->streams[engine][sequencer.next];
  switch (instruction.opcode) {
    case Opcode::halt:
    case Opcode::drain:
      if (!sequencer.flying.empty()) return false;
      break;
    case Opcode::semaphore:
      if (!ready(instruction)) return false;
      update(instruction);
      break;
    case Opcode::dma_trigger:
      if (!ready(instruction)) return false;
      for (std::size_t e = 0; e < machine_.dma_engines; ++e)
        queues_[instruction.queue * machine_.dma_engines + e].tail += instruction.descriptors;
      break;
    default:
      sequencer.flying.push_back(sequencer.next);
  }
  ++sequencer.next;
  return true;
}

bool ReferenceMachine::complete(std::size_t engine) {
  Sequencer& sequencer = sequencers_[engine];
  if (sequencer.flying.empty()) return false;
  const Instruction& instruction = schedule_->streams[engine][sequencer.flying.front()];
  sequencer.flying.erase(sequencer.flying.begin());
  execute(instruction);
  update(instruction);
  return true;
}

void ReferenceMachine::update(const Instruction& instruction) {
  if (instruction.update.kind == neuroncore::UpdateKind::add)
    semaphores_[instruction.update.semaphore] += instruction.update.value;
}

bool ReferenceMachine::copy(std::size_t queue, std::size_t engine) {
  Queue& state = queues_[queue * machine_.dma_engines + engine];
  if (state.head == state.tail) return false;
  const auto& ring = schedule_->rings[queue][engine];
  expect(state.head < ring.size(), "a trigger runs past the end of its ring");
  const dma::Descriptor& descriptor = ring[state.head++];
  if (!descriptor.empty) {
    std::vector<std::byte> bytes;
    bytes.reserve(descriptor.source.bytes());
    descriptor.source.for_each_run([&](std::uint64_t address, std::uint64_t count) {
      const std::byte* from = at(address, count);
      bytes.insert(bytes.end(), from, from + count);
    });
    expect(bytes.size() == descriptor.destination.bytes(), "a descriptor's two sides differ in size");
    std::size_t done = 0;
    descriptor.destination.for_each_run([&](std::uint64_t address, std::uint64_t count) {
      std::memcpy(at(address, count), bytes.data() + done, count);
      done += count;
    });
    queue_bytes[queue] += bytes.size();
  }
  if (descriptor.signals) semaphores_[descriptor.semaphore] += descriptor.increment;
  return true;
}

std::byte* ReferenceMachine::at(std::uint64_t address, std::uint64_t bytes) {
  if (address >= machine_.core_base) {
    const std::uint64_t partition = (address - machine_.core_base) >> neuroncore::sbuf_partition_shift;
    const std::uint64_t offset = (address - machine_.core_base) & ((1U << neuroncore::sbuf_partition_shift) - 1);
    expect(partition < machine_.partitions && offset + bytes <= machine_.sbuf_bytes, "a copy leaves SBUF");
    return sbuf_.data() + partition * machine_.sbuf_bytes + offset;
  }
  expect(address + bytes <= hbm.size(), "a copy leaves HBM");
  return hbm.data() + address;
}

std::byte* ReferenceMachine::tile(const Operand& operand, unsigned partitions, numeric::DType dtype) {
  const bool in_sbuf = operand.space == Space::sbuf;
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (const auto& dim : operand.dims) {
    const std::int64_t reach = std::int64_t{dim.step} * (dim.num - 1);
    (reach < 0 ? low : high) += reach;
  }
  const auto size = static_cast<std::int64_t>(numeric::size_bytes(dtype));
  const std::int64_t first = operand.offset + low * size;
  const std::int64_t end = operand.offset + (high + 1) * size;
  const std::int64_t limit = in_sbuf ? machine_.sbuf_bytes : static_cast<std::int64_t>(psum_partition_bytes);
  expect(operand.partition + partitions <= machine_.partitions, "an operand leaves the partitions");
  expect(first >= 0 && end <= limit, "an operand leaves its partition");
  expect(in_sbuf || first / neuroncore::psum_bank_bytes == (end - 1) / neuroncore::psum_bank_bytes,
         "an operand crosses a PSUM bank");
  // Partition starts that compute engines allow (AWS Neuron documentation, Trainium architecture guide).
  const unsigned grain = partitions > 64 ? 128 : partitions > 32 ? 64 : 32;
  expect(operand.partition % grain == 0, "an operand starts at a partition that engines cannot start at");
  return (in_sbuf ? sbuf_.data() + operand.partition * std::size_t{machine_.sbuf_bytes}
                  : psum_.data() + operand.partition * psum_partition_bytes) +
         operand.offset;
}

void ReferenceMachine::execute(const Instruction& instruction) {
  if (instruction.opcode == Opcode::nop) return;
  if (instruction.opcode == Opcode::matmul)
    matmul(instruction);
  else if (instruction.opcode == Opcode::transpose)
    transpose(instruction);
  else
    elementwise(instruction);
}

void ReferenceMachine::matmul(const Instruction& instruction) {
  const auto stride = static_cast<std::ptrdiff_t>(machine_.sbuf_bytes);
  const unsigned rows = instruction.source_partitions;
  const auto view = [&](const Operand& operand, numeric::DType dtype) {
    expect(operand.space == Space::sbuf, "a matmul reads PSUM");
    return reading(view_of(tile(operand, rows, dtype), operand, stride, rows, dtype));
  };
  const auto moving = view(instruction.source0, instruction.source0_dtype);
  const auto stationary = view(instruction.source1, instruction.source1_dtype);
  expect(stationary.free_size() == instruction.partitions && instruction.partitions <= 128, "matmul: M");
  expect(moving.free_size() == instruction.destination.elements() && moving.free_size() <= 512, "matmul: N");
  expect(instruction.destination.space == Space::psum, "a matmul writes SBUF");
  std::byte* out = tile(instruction.destination, instruction.partitions, numeric::DType::fp32);
  const bool start = (instruction.flags & neuroncore::matmul_start) != 0;
  const auto cell = static_cast<std::size_t>(out - psum_.data()) / 4;
  for (std::size_t m = 0; m < instruction.partitions; ++m)
    for (std::size_t n = 0; n < moving.free_size(); ++n) {
      std::uint8_t& mark = from_matmul_[cell + m * psum_partition_bytes / 4 + n];
      expect(start || mark != 0, "a matmul adds to what no matmul wrote");
      mark = 1;
    }
  numeric::PackedStationary a;
  a.pack(stationary);
  numeric::PackedMoving b;
  b.pack(moving, a);
  numeric::multiply(a, b, reinterpret_cast<float*>(out), psum_partition_bytes / 4, !start);
  ++matmuls;
  macs += std::uint64_t{rows} * instruction.partitions * moving.free_size();
  pe_cycles += (instruction.source0_dtype == numeric::DType::fp32 ? 4 : 1) *
               std::max<std::uint64_t>(moving.free_size(), std::min<std::uint64_t>(64, instruction.partitions));
}

// Element by element, and through fp32: none of the types loses a value on the way.
void ReferenceMachine::transpose(const Instruction& instruction) {
  const auto view = [&](const Operand& operand, unsigned partitions, numeric::DType dtype) {
    const std::size_t stride = operand.space == Space::sbuf ? machine_.sbuf_bytes : psum_partition_bytes;
    return view_of(tile(operand, partitions, dtype), operand, static_cast<std::ptrdiff_t>(stride), partitions, dtype);
  };
  const unsigned rows = instruction.source_partitions;
  const unsigned columns = instruction.partitions;
  expect(instruction.source0.elements() == columns && instruction.destination.elements() == rows, "transpose: sizes");
  expect(instruction.source0_dtype == instruction.dtype, "a transpose changes the type");
  const auto from = reading(view(instruction.source0, rows, instruction.dtype));
  std::vector<float> values(std::size_t{rows} * columns);
  for (unsigned p = 0; p < rows; ++p) numeric::gather_row(from, p, values.data() + std::size_t{p} * columns);
  const auto to = view(instruction.destination, columns, instruction.dtype);
  std::vector<float> row(rows);
  for (unsigned f = 0; f < columns; ++f) {
    for (unsigned p = 0; p < rows; ++p) row[p] = values[std::size_t{p} * columns + f];
    numeric::scatter_row(to, f, row.data());
  }
  ++transposes;
}

void ReferenceMachine::elementwise(const Instruction& instruction) {
  const std::size_t count = instruction.destination.elements();
  const auto view = [&](const Operand& operand, numeric::DType dtype) {
    const std::size_t stride = operand.space == Space::sbuf ? machine_.sbuf_bytes : psum_partition_bytes;
    return view_of(tile(operand, instruction.partitions, dtype), operand, static_cast<std::ptrdiff_t>(stride),
                   instruction.partitions, dtype);
  };
  const auto to = view(instruction.destination, instruction.dtype);
  std::vector<float> a(count, instruction.scalar0.immediate);
  std::vector<float> b(count);
  for (unsigned p = 0; p < instruction.partitions; ++p) {
    if (instruction.opcode != Opcode::memset) {
      const std::size_t run = instruction.opcode == Opcode::tensor_reduce ? reduced_run(instruction) : 1;
      expect(instruction.source0.elements() == count * run, "sizes of destination and source differ");
      a.resize(count * run);
      numeric::gather_row(reading(view(instruction.source0, instruction.source0_dtype)), p, a.data());
    }
    if (instruction.opcode == Opcode::tensor_tensor) {
      expect(instruction.source1.elements() == count, "sizes of the sources differ");
      expect(instruction.source0.space == Space::sbuf || instruction.source1.space == Space::sbuf,
             "both sources in PSUM");
      numeric::gather_row(reading(view(instruction.source1, instruction.source1_dtype)), p, b.data());
      for (std::size_t i = 0; i < count; ++i) a[i] = apply(instruction.op0, a[i], b[i]);
    } else if (instruction.opcode == Opcode::tensor_reduce) {
      const std::size_t run = a.size() / count;
      for (std::size_t i = 0; i < count; ++i) {
        float value = a[i * run];
        for (std::size_t r = 1; r < run; ++r) value = apply(instruction.op0, value, a[i * run + r]);
        a[i] = value;
      }
    } else if (instruction.opcode == Opcode::tensor_scalar) {
      for (float& value : a)
        value = apply(instruction.op1, apply(instruction.op0, value, instruction.scalar0.immediate),
                      instruction.scalar1.immediate);
    } else if (instruction.opcode == Opcode::activation) {
      for (float& value : a) {
        value = value * instruction.scalar0.immediate + instruction.scalar1.immediate;
        if (instruction.function == neuroncore::Function::relu && value < 0) value = 0;
      }
    }
    numeric::scatter_row(to, p, a.data());
  }
  if (instruction.destination.space == Space::psum) {
    const auto first = static_cast<std::size_t>(to.base - psum_.data()) / 4;
    for (unsigned p = 0; p < instruction.partitions; ++p)
      for (std::size_t i = 0; i < count; ++i) from_matmul_[first + p * psum_partition_bytes / 4 + i] = 0;
  }
}

}  // namespace tilevp::test
