#include "tilevp/platform/neuron_state.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "tilevp/base/hex_text.hpp"
#include "tilevp/neuroncore/opcode_names.hpp"
#include "tilevp/neuroncore/registers.hpp"
#include "tilevp/neuroncore/tile_geometry.hpp"

namespace tilevp::platform {
namespace {

namespace core_map = neuroncore::registers;
using neuroncore::Engine;
using neuroncore::Instruction;
using neuroncore::Operand;
using neuroncore::Space;

// Of a tile: so many partitions, so many values of each.
constexpr unsigned shown_rows = 4;
constexpr std::uint64_t shown_values = 8;
constexpr std::array all_engines{Engine::pe, Engine::scalar, Engine::gpsimd, Engine::vector, Engine::sync};

std::string number(float value) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

std::string count_text(std::uint64_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

class State {
 public:
  State(const NeuronParts& parts, const BreakReached& where) : parts_(parts), where_(where) {}

  std::string text() {
    if (const auto engine = stopped_engine())
      operands(parts_.core.sequencer(*engine).stopped_before());
    else
      copy(stopped_descriptor());
    sequencers();
    queues();
    semaphores();
    return std::move(out_);
  }

  std::string stopped() const {
    if (const auto engine = stopped_engine())
      return neuroncore::disassemble(parts_.core.sequencer(*engine).stopped_before());
    const dma::Descriptor& d = stopped_descriptor();
    if (d.empty) return "an empty descriptor";
    return std::string(d.transposes ? "transpose of " : "copy of ") + std::to_string(d.destination.bytes()) +
           " bytes from " + hex_text(d.source.start()) + " to " + hex_text(d.destination.start());
  }

 private:
  std::optional<Engine> stopped_engine() const {
    for (const Engine engine : all_engines)
      if (where_.unit() == neuroncore::name(engine)) return engine;
    return std::nullopt;
  }

  const dma::Descriptor& stopped_descriptor() const {
    for (const auto& engine : parts_.engines)
      for (unsigned q = 0; q < dma::registers::queues; ++q)
        if (where_.unit() == std::string(engine->name()) + ".q" + std::to_string(q))
          return engine->queue(q).waiting.front().descriptor;
    throw Defect("stopped at " + where_.unit() + ", which is no unit");
  }

  // ---- Tiles

  void operands(const Instruction& i) {
    using neuroncore::Opcode;
    if (i.opcode < Opcode::matmul) return;
    out_ += "operands\n";
    const bool two = i.opcode == Opcode::matmul || i.opcode == Opcode::tensor_tensor;
    const bool matmul = i.opcode == Opcode::matmul;
    if (i.opcode != Opcode::memset)
      tile(matmul ? "moving" : "source 0", i.source0, i.source_partitions, i.source0_dtype);
    if (two) tile(matmul ? "stationary" : "source 1", i.source1, i.source_partitions, i.source1_dtype);
    for (const auto* scalar : {&i.scalar0, &i.scalar1})
      if (scalar->is_address)
        tile(scalar == &i.scalar0 ? "scalar 0" : "scalar 1", neuroncore::scalar_tile(*scalar, i.source0.partition),
             i.partitions, numeric::DType::fp32);
    tile("destination", i.destination, i.partitions, i.dtype);
  }

  void tile(const char* role, const Operand& operand, unsigned partitions, numeric::DType dtype) {
    out_ += "  " + std::string(role) + "  " + (operand.space == Space::sbuf ? "sbuf" : "psum") + ", " +
            count_text(partitions, "partition") + " from " + std::to_string(operand.partition) + " of " +
            count_text(operand.elements(), "element");
    std::string shape;
    for (const auto& dim : operand.dims)
      if (dim.num != 1) shape += (shape.empty() ? "" : " x ") + std::to_string(dim.num);
    out_ += (shape.empty() ? "" : " (" + shape + ")") + ", " + std::string(numeric::name(dtype)) + ", from byte " +
            std::to_string(operand.offset) + "\n";
    for (unsigned p = 0; p < std::min(partitions, shown_rows); ++p) row(operand, operand.partition + p, dtype);
    if (partitions > shown_rows) out_ += "    ...\n";
  }

  void row(const Operand& operand, unsigned partition, numeric::DType dtype) {
    out_ += "    partition " + std::to_string(partition) + ":";
    std::uint64_t shown = 0;
    for (unsigned a = 0; a < operand.dims[0].num; ++a)
      for (unsigned b = 0; b < operand.dims[1].num; ++b)
        for (unsigned c = 0; c < operand.dims[2].num; ++c) {
          if (shown++ == shown_values) {
            out_ += " ...\n";
            return;
          }
          const std::int64_t element = std::int64_t{a} * operand.dims[0].step + std::int64_t{b} * operand.dims[1].step +
                                       std::int64_t{c} * operand.dims[2].step;
          const auto bytes = static_cast<std::int64_t>(numeric::size_bytes(dtype));
          out_ += " " + on_chip(operand.space, partition, operand.offset + element * bytes, dtype);
        }
    out_ += "\n";
  }

  std::string on_chip(Space space, unsigned partition, std::int64_t offset, numeric::DType dtype) const {
    const bool sbuf = space == Space::sbuf;
    const neuroncore::Scratchpad& memory =
        sbuf ? static_cast<const neuroncore::Scratchpad&>(parts_.core.sbuf()) : parts_.core.psum();
    const auto bytes = static_cast<std::uint32_t>(numeric::size_bytes(dtype));
    if (offset < 0 || offset + bytes > memory.usable_bytes() || partition >= neuroncore::max_partitions)
      return "(outside)";
    if (!memory.is_defined(partition, static_cast<std::uint32_t>(offset), bytes)) return "?";
    const std::uint64_t window = sbuf ? core_map::sbuf_window : core_map::psum_window;
    const unsigned shift = sbuf ? neuroncore::sbuf_partition_shift : neuroncore::psum_partition_shift;
    return value(parts_.core_base + window + (std::uint64_t{partition} << shift) + static_cast<std::uint64_t>(offset),
                 dtype);
  }

  std::string value(std::uint64_t address, numeric::DType dtype) const {
    std::array<std::byte, 8> bytes{};
    const std::span used(bytes.data(), numeric::size_bytes(dtype));
    return parts_.read(address, used) ? number(numeric::load_element(dtype, bytes.data())) : "(outside)";
  }

  // ---- Descriptors

  void copy(const dma::Descriptor& d) {
    if (d.signals)
      out_ +=
          "  adds " + std::to_string(d.increment) + " to semaphore " + std::to_string(d.semaphore) + " at its end\n";
    if (d.empty) return;
    out_ += "operands\n";
    side("source", d.source, d.source_dtype);
    side("destination", d.destination, d.destination_dtype);
  }

  void side(const char* role, const memory::AccessPattern& pattern, numeric::DType dtype) {
    out_ += "  " + std::string(role) + "  " + count_text(pattern.bytes(), "byte") + " from " +
            hex_text(pattern.start()) + " in " + count_text(pattern.runs(), "run") + " of " +
            std::to_string(pattern.run_bytes()) + ", " + std::string(numeric::name(dtype));
    for (const auto& loop : pattern.loops())
      out_ += (&loop == &pattern.loops().front() ? ", [" : ", ") + std::to_string(loop.size) + " by " +
              std::to_string(loop.stride) + (&loop == &pattern.loops().back() ? "]" : "");
    out_ += "\n    first:";
    memory::StreamCursor cursor(pattern);
    const std::uint64_t size = numeric::size_bytes(dtype);
    for (std::uint64_t shown = 0; cursor.left() >= size; ++shown) {
      if (shown == shown_values) {
        out_ += " ...";
        break;
      }
      if (cursor.run_left() < size) break;  // a value in pieces
      out_ += " " + anywhere(cursor.take(size).address, dtype);
    }
    out_ += "\n";
  }

  std::string anywhere(std::uint64_t address, numeric::DType dtype) const {
    const std::uint64_t size = numeric::size_bytes(dtype);
    const std::uint64_t hbm = address - parts_.hbm_base;
    if (address >= parts_.hbm_base && hbm < parts_.hbm_bytes)
      return parts_.hbm == nullptr || parts_.hbm->is_defined(hbm, std::min(size, parts_.hbm_bytes - hbm))
                 ? value(address, dtype)
                 : "?";
    const std::uint64_t offset = address - parts_.core_base;
    if (address < parts_.core_base || offset >= core_map::control_window) return "(outside)";
    const bool sbuf = offset < core_map::psum_window;
    const unsigned shift = sbuf ? neuroncore::sbuf_partition_shift : neuroncore::psum_partition_shift;
    const std::uint64_t place = sbuf ? offset : offset - core_map::psum_window;
    return on_chip(sbuf ? Space::sbuf : Space::psum, static_cast<unsigned>(place >> shift),
                   static_cast<std::int64_t>(place & ((std::uint64_t{1} << shift) - 1)), dtype);
  }

  // ---- The rest of the machine

  void sequencers() {
    using Status = neuroncore::Sequencer::Status;
    out_ += "sequencers\n";
    for (const Engine engine : all_engines) {
      const auto& sequencer = parts_.core.sequencer(engine);
      std::string name = neuroncore::name(engine);
      name.resize(8, ' ');
      out_ += "  " + name;
      if (sequencer.status() == Status::idle) {
        out_ += "idle\n";
        continue;
      }
      out_ += sequencer.status() == Status::running ? "running, " : "halted, ";
      out_ += std::to_string(sequencer.executed()) + " of " + std::to_string(sequencer.records()) +
              " issued, stream at " + hex_text(sequencer.stream_base());
      in_flight(engine);
      out_ += "\n";
    }
  }

  void in_flight(Engine engine) {
    const neuroncore::ExecutionUnit* unit = parts_.core.unit(engine);
    if (unit == nullptr || unit->in_flight() == 0) return;
    out_ += ", in flight";
    for (std::size_t f = 0; f < unit->in_flight(); ++f) {
      const auto& flight = unit->flight(f);
      out_ += (f == 0 ? " #" : ", #") + std::to_string(flight.index) + " " +
              neuroncore::mnemonic(flight.instruction.opcode) + " until " + std::to_string(flight.complete_ps) + " ps";
    }
  }

  // Engines with equal figures stand together.
  void queues() {
    out_ += "dma queues\n";
    bool any = false;
    for (unsigned q = 0; q < dma::registers::queues; ++q) {
      std::string line;
      for (std::size_t e = 0; e < parts_.engines.size();) {
        const std::string figures = queue_text(e, q);
        const std::size_t first = e;
        while (e < parts_.engines.size() && queue_text(e, q) == figures) ++e;
        if (figures.empty()) continue;
        line += (line.empty() ? "" : "; ") + std::string("dma") + std::to_string(first) +
                (e - first > 1 ? ".." + std::to_string(e - 1) : "") + " " + figures;
      }
      if (line.empty()) continue;
      any = true;
      out_ += "  q" + std::to_string(q) + "  " + line + "\n";
    }
    if (!any) out_ += "  nothing was released\n";
  }

  std::string queue_text(std::size_t engine, unsigned q) const {
    const dma::Queue& queue = parts_.engines[engine]->queue(q);
    if (queue.released() == 0) return "";
    return "tail " + std::to_string(queue.released()) + ", head " + std::to_string(queue.completed()) + ", depth " +
           std::to_string(queue.released() - queue.completed()) + ", ring of " + std::to_string(queue.ring_size());
  }

  void semaphores() {
    out_ += "semaphores that are not 0\n";
    bool any = false;
    for (unsigned s = 0; s < core_map::semaphores; ++s) {
      const std::int32_t level = parts_.core.semaphores().value(s);
      if (level == 0) continue;
      out_ += (any ? ", " : "  ") + std::to_string(s) + ": " + std::to_string(level);
      any = true;
    }
    out_ += any ? "\n" : "  none\n";
  }

  const NeuronParts& parts_;
  const BreakReached& where_;
  std::string out_;
};

}  // namespace

std::string neuron_stopped_text(const NeuronParts& parts, const BreakReached& where) {
  return State(parts, where).stopped();
}

std::string neuron_state_text(const NeuronParts& parts, const BreakReached& where) {
  return State(parts, where).text();
}

}  // namespace tilevp::platform
