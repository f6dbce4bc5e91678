#include "tilevp/neuron/raw/program.hpp"

#include <algorithm>
#include <optional>

#include "tilevp/assembly/file.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/assembler/listing.hpp"
#include "tilevp/neuron/driver.hpp"

namespace tilevp::neuron::raw {
namespace {

using assembler::Bases;
using assembler::DescriptorRecord;
using assembler::Listing;

// Streams and rings begin at multiples of this.
constexpr std::uint64_t alignment = 64;

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

template <class Record>
std::span<const std::byte> bytes_of(const std::vector<Record>& records) {
  return std::as_bytes(std::span(records));
}

Bases bases_of(const runtime::Host& host) { return {host.region("hbm").base, host.region("core0").base}; }

// Every DMA engine of a core runs as many descriptors of a queue as a trigger says, so those that were given fewer than
// another get empty ones behind.
void fill_rings(Listing& listing, std::uint32_t dma_engines) {
  std::map<std::uint8_t, std::size_t> longest;
  for (const auto& [id, ring] : listing.rings) {
    if (id.second >= dma_engines)
      throw UserError(".ring", "DMA engine " + std::to_string(id.second) + " has a ring, the core has " +
                                   std::to_string(dma_engines));
    longest[id.first] = std::max(longest[id.first], ring.size());
  }
  dma::Descriptor empty;
  empty.empty = true;
  for (const auto& [queue, count] : longest)
    for (std::uint32_t e = 0; e < dma_engines; ++e)
      listing.rings[{queue, static_cast<std::uint8_t>(e)}].resize(count, encode(empty));
}

// Streams and rings, one behind the other at the end of HBM.
class Placement {
 public:
  Placement(const Listing& listing, const runtime::Region& hbm) : end_(hbm.base + hbm.bytes) {
    std::uint64_t bytes = 0;
    for (const auto& stream : listing.streams) bytes += aligned(bytes_of(stream).size());
    for (const auto& [id, ring] : listing.rings) bytes += aligned(bytes_of(ring).size());
    if (bytes > hbm.bytes)
      throw UserError(
          "HBM", "streams and rings take " + std::to_string(bytes) + " bytes, there are " + std::to_string(hbm.bytes));
    next_ = (end_ - bytes) / alignment * alignment;
    for (const auto& block : listing.data) check(block);
  }

  std::uint64_t take(std::span<const std::byte> bytes) {
    const std::uint64_t address = next_;
    next_ += aligned(bytes.size());
    return address;
  }

 private:
  void check(const assembler::DataBlock& block) const {
    if (block.bytes.empty()) return;
    if (block.address < end_ && block.address + (block.bytes.size() - 1) >= next_)
      throw UserError(".data", "bytes " + std::to_string(block.address) + " to " +
                                   std::to_string(block.address + block.bytes.size() - 1) +
                                   " reach into streams and rings, which lie from " + std::to_string(next_) + " to " +
                                   std::to_string(end_ - 1));
  }
  std::uint64_t end_;
  std::uint64_t next_ = 0;
};

class Raw final : public runtime::Program {
 public:
  std::string_view name() const override { return "neuron/raw"; }
  std::string_view summary() const override { return "exactly the instructions and descriptors of a file"; }
  std::string_view machine() const override { return "neuroncore"; }
  std::string_view positional() const override { return "file"; }
  std::vector<runtime::OptionDescription> options() const override {
    return {
        {"file", "FILE", "", "what to run: assembler text, the output of tilevp asm, or bare 64-byte records"},
        {"engine", "NAME", "", "the engine whose stream bare records are; without it pe"},
        {"start", "ENGINES", "all", "the engines to start, in that order: pe,vector; all: those that have a stream"}};
  }

  void prepare(const runtime::RunRequest& request) override {
    if (request.check.kind != runtime::CheckRequest::Kind::none)
      throw UserError("--check", "neuron/raw does not know what its results should be");
    file_ = request.options.text("file");
    if (file_.empty()) throw UserError("neuron/raw", "expected a file to run: tilevp run neuron/raw FILE");
    if (request.options.has("engine")) engine_ = assembler::parse_engine("--engine", request.options.text("engine"));
    start_ = request.options.text("start");
    bytes_ = assembly::read_file(file_);
    listing_ = assembler::listing_of(file_, bytes_, Bases{}, engine_);
    started();
  }

  std::string describe(runtime::Host& host) override {
    const Bases bases = bases_of(host);
    return assembler::disassemble(assembler::listing_of(file_, bytes_, bases, engine_), bases);
  }

  runtime::ProgramResult run(runtime::Host& host) override {
    Driver driver(host);
    // Addresses of a text are those of the platform it runs on.
    listing_ = assembler::listing_of(file_, bytes_, bases_of(host), engine_);
    fill_rings(listing_, driver.machine().dma_engines);
    Placement placement(listing_, host.region("hbm"));
    for (const auto& block : listing_.data) host.write(block.address, block.bytes);
    load_streams(host, driver, placement);
    load_rings(host, driver, placement);
    runtime::ProgramResult result;
    result.kernel_ps = driver.start(started());
    fill_result(result, driver);
    return result;
  }

 private:
  // The engines to start.
  std::vector<Engine> started() const {
    std::vector<Engine> engines;
    const auto has_stream = [&](Engine engine) { return !listing_.streams[static_cast<std::size_t>(engine)].empty(); };
    if (start_ == "all") {
      for (unsigned e = 0; e < neuroncore::engines; ++e)
        if (has_stream(static_cast<Engine>(e))) engines.push_back(static_cast<Engine>(e));
      if (engines.empty()) throw UserError(file_, "expected at least one instruction, found none");
      return engines;
    }
    for (std::size_t at = 0; at <= start_.size();) {
      const std::size_t comma = std::min(start_.find(',', at), start_.size());
      const Engine engine = assembler::parse_engine("--start", start_.substr(at, comma - at));
      const std::string engine_name = neuroncore::name(engine);
      if (!has_stream(engine)) throw UserError("--start", engine_name + " has no instruction in " + file_);
      if (std::ranges::find(engines, engine) != engines.end())
        throw UserError("--start", engine_name + " stands twice");
      engines.push_back(engine);
      at = comma + 1;
    }
    return engines;
  }

  void load_streams(runtime::Host& host, Driver& driver, Placement& placement) const {
    for (unsigned e = 0; e < neuroncore::engines; ++e) {
      const auto& stream = listing_.streams[e];
      if (stream.empty()) continue;
      const std::uint64_t address = placement.take(bytes_of(stream));
      host.write(address, bytes_of(stream));
      driver.set_stream(static_cast<Engine>(e), address, stream.size());
    }
  }

  void load_rings(runtime::Host& host, Driver& driver, Placement& placement) const {
    for (const auto& [id, ring] : listing_.rings) {
      if (ring.empty()) continue;
      const std::uint64_t address = placement.take(bytes_of(ring));
      host.write(address, bytes_of(ring));
      driver.set_ring(id.first, id.second, address, ring.size());
    }
  }

  void fill_result(runtime::ProgramResult& result, const Driver& driver) const {
    const WorkCounters counted = driver.counters();
    std::uint64_t instructions = 0;
    boost::json::object executed;
    for (const Engine engine : started()) {
      const std::uint64_t count = driver.executed(engine);
      executed[neuroncore::name(engine)] = count;
      instructions += count;
    }
    std::uint64_t dma_bytes = 0;
    for (std::uint8_t q = 0; q < driver.machine().dma_queues; ++q) dma_bytes += driver.queue_bytes(q);
    result.result = {{"macs", counted.macs},         {"matmuls", counted.matmuls},   {"pe_cycles", counted.pe_cycles},
                     {"dma_bytes", dma_bytes},       {"instructions", instructions}, {"executed", std::move(executed)},
                     {"kernel_ps", result.kernel_ps}};
  }

  std::string file_;
  std::string bytes_;  // of it
  std::string start_;
  std::optional<Engine> engine_;  // of bare records
  Listing listing_;
};

}  // namespace

std::unique_ptr<runtime::Program> make_program() { return std::make_unique<Raw>(); }

}  // namespace tilevp::neuron::raw
