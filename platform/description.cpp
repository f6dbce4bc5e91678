#include "tilevp/platform/description.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tilevp/base/hex_text.hpp"
#include "tilevp/described/describe.hpp"
#include "tilevp/neuroncore/registers.hpp"
#include "tilevp/platform/sha256.hpp"

namespace tilevp::platform {
namespace {

using described::KeyError;
using described::path_to_key;

void require_positive(double value, const std::string& path, std::string_view key) {
  if (!(value > 0))
    throw KeyError(path_to_key(path, key), "expected a positive number, found " + described::number_text(value));
}

void require_not_negative(double value, const std::string& path, std::string_view key) {
  if (!(value >= 0))
    throw KeyError(path_to_key(path, key), "expected a number from 0, found " + described::number_text(value));
}

void require_range(std::uint64_t value, std::uint64_t low, std::uint64_t high, const std::string& path,
                   std::string_view key) {
  if (value < low || value > high)
    throw KeyError(path_to_key(path, key), "expected " + std::to_string(low) + " to " + std::to_string(high) +
                                               ", found " + std::to_string(value));
}

// Times are 64 bits of picoseconds, 213 days: these bounds keep an operation within seconds, so that a run of millions
// stays within. One cycle lasts at least 1 ps.
constexpr std::uint64_t min_hz = 1'000'000, max_hz = 1'000'000'000'000;
constexpr std::uint64_t max_cycles = 1u << 20;
constexpr double max_latency_ns = 1e9;
constexpr double min_bytes_per_ns = 0.001;

void require_latency(double nanoseconds, const std::string& path, std::string_view key) {
  require_not_negative(nanoseconds, path, key);
  if (nanoseconds > max_latency_ns)
    throw KeyError(path_to_key(path, key), "expected at most " + described::number_text(max_latency_ns) + ", found " +
                                               described::number_text(nanoseconds));
}

void check_engine(const neuroncore::EngineParameters& engine, const std::string& path) {
  require_range(engine.clock_hz, min_hz, max_hz, path, "clock_hz");
  require_range(engine.min_interval_cycles, 1, max_cycles, path, "min_interval_cycles");
  require_range(engine.latency_cycles, 0, max_cycles, path, "latency_cycles");
}

// Partition p of SBUF stands at p << 18, so a partition holds at most 256 KiB.
constexpr std::uint32_t max_partition_bytes = 1u << 18;

void check_core(const neuroncore::Parameters& core, const std::string& path) {
  require_range(core.generation, 2, 4, path, "generation");
  require_range(core.sbuf_partition_bytes, 1, max_partition_bytes, path, "sbuf_partition_bytes");
  require_range(core.sbuf_reserved_bytes, 0, core.sbuf_partition_bytes - 1, path, "sbuf_reserved_bytes");
  const auto pe = path_to_key(path, "pe");
  require_range(core.pe.clock_hz, min_hz, max_hz, pe, "clock_hz");
  require_range(core.pe.fill_cycles, 0, max_cycles, pe, "fill_cycles");
  require_range(core.pe.min_interval_cycles, 1, max_cycles, pe, "min_interval_cycles");
  require_range(core.pe.weight_load_columns_per_cycle, 1, 128, pe, "weight_load_columns_per_cycle");
  require_range(core.pe.fp32_passes, 1, 1024, pe, "fp32_passes");
  check_engine(core.vector, path_to_key(path, "vector"));
  check_engine(core.scalar, path_to_key(path, "scalar"));
  check_engine(core.gpsimd, path_to_key(path, "gpsimd"));
  check_engine(core.sync, path_to_key(path, "sync"));
  const auto sequencer = path_to_key(path, "sequencer");
  require_range(core.sequencer.issue_cycles, 0, max_cycles, sequencer, "issue_cycles");
  require_range(core.sequencer.fetch_instructions, 1, 65'536, sequencer, "fetch_instructions");
}

void check_dma(const dma::Parameters& dma, const std::string& path) {
  require_range(dma.engines, 1, 16, path, "engines");
  require_range(dma.clock_hz, min_hz, max_hz, path, "clock_hz");
  require_positive(dma.bytes_per_ns, path, "bytes_per_ns");
  require_latency(dma.start_latency_ns, path, "start_latency_ns");
  require_not_negative(dma.run_floor_ns, path, "run_floor_ns");
  require_not_negative(dma.packet_floor_ns, path, "packet_floor_ns");
  require_range(dma.packet_bytes, 1, 1u << 30, path, "packet_bytes");
  require_range(dma.packet_runs, 1, 1u << 30, path, "packet_runs");
  require_range(dma.outstanding_packets, 1, 65'536, path, "outstanding_packets");
  require_range(dma.prefetch_descriptors, 1, 65'536, path, "prefetch_descriptors");
}

// Whatever a program aligns within a region must be aligned in the address space too.
constexpr std::uint64_t base_alignment = 4096;

void require_aligned(std::uint64_t base, const std::string& path, std::string_view key) {
  if (base % base_alignment != 0)
    throw KeyError(path_to_key(path, key),
                   "expected a multiple of " + std::to_string(base_alignment) + ", found " + std::to_string(base));
}

void check_map(const Description& d, const std::string& path) {
  const std::uint64_t hbm_end = d.map.hbm_base + d.hbm.size_bytes;
  const std::uint64_t core_end = d.map.core0_base + neuroncore::registers::window_bytes;
  if (hbm_end < d.map.hbm_base) throw KeyError(path_to_key(path, "hbm_base"), "hbm ends beyond 2^64");
  if (core_end < d.map.core0_base) throw KeyError(path_to_key(path, "core0_base"), "core0 ends beyond 2^64");
  if (d.map.core0_base < hbm_end && d.map.hbm_base < core_end)
    throw KeyError(path_to_key(path, "core0_base"), "core0 at " + hex_text(d.map.core0_base) + ".." +
                                                        hex_text(core_end - 1) + " overlaps hbm at " +
                                                        hex_text(d.map.hbm_base) + ".." + hex_text(hbm_end - 1));
  require_aligned(d.map.hbm_base, path, "hbm_base");
  require_aligned(d.map.core0_base, path, "core0_base");
}

// The bandwidth model names the key in its message; here it becomes a key error, which the file's line can be added to.
void check_bandwidth(const memory::BandwidthModel& model, const std::string& path) {
  try {
    memory::validate(model, path);
  } catch (const UserError& error) {
    const std::string text = error.what();
    const auto colon = text.find(": ");
    throw KeyError(text.substr(0, colon), text.substr(colon + 2));
  }
}

void check_memory(const memory::MemoryParameters& memory, const std::string& path) {
  require_range(memory.size_bytes, 4096, std::uint64_t{1} << 44, path, "size_bytes");
  require_range(memory.clock_hz, min_hz, max_hz, path, "clock_hz");
  require_latency(memory.latency_ns, path, "latency_ns");
  check_bandwidth(memory.bandwidth, path_to_key(path, "bandwidth"));
}

// Every path of a description, and every part that holds some.
std::vector<std::string> known_paths() {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& path) {
    if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
  };
  for (const auto& field : described::describe_fields<Description>()) {
    for (std::size_t dot = field.path.find('.'); dot != std::string::npos; dot = field.path.find('.', dot + 1))
      add(field.path.substr(0, dot));
    add(field.path);
  }
  return paths;
}

constexpr std::string_view options_prefix = "hbm.options.";

void check_sources(const Description& d, const std::string& path) {
  static const std::vector<std::string> known = known_paths();
  for (const auto& [key, text] : d.sources) {
    // Those are the model's, which is not known here.
    if (!key.starts_with(options_prefix) && std::ranges::find(known, key) == known.end())
      throw KeyError(path_to_key(path, key), "no such figure" + described::nearest_hint(key, known));
    if (text.empty()) throw KeyError(path_to_key(path, key), "expected a source, found an empty text");
  }
}

void check_option_sources(const Description& d) {
  std::vector<std::string> known;
  for (const auto& field : d.hbm.implementation->fields()) known.push_back(options_prefix.data() + field.path);
  for (const auto& [key, text] : d.sources)
    if (key.starts_with(options_prefix) && std::ranges::find(known, key) == known.end())
      throw KeyError(path_to_key("sources", key), "no such figure" + described::nearest_hint(key, known));
}

// Finds the memory that the description names, and reads its options.
void resolve_memory(Description& d, const MemoryModels& models) {
  HbmParameters& hbm = d.hbm;
  if (hbm.model == builtin_memory) {
    if (!hbm.options.empty())
      throw KeyError(path_to_key("hbm.options", std::string_view(hbm.options.begin()->key())),
                     "unknown key; " + hbm.model + " has no options");
    return;
  }
  hbm.implementation = models.find(hbm.model);
  if (hbm.implementation == nullptr) {
    auto names = models.names();
    names.emplace_back(builtin_memory);
    auto hint = described::nearest_hint(hbm.model, names);
    if (hint.empty()) hint = "; there is " + described::join(names);
    throw KeyError("hbm.model", "unknown memory model '" + hbm.model + "'" + hint +
                                    (names.size() == 1 ? " (others come with --plugin)" : ""));
  }
  hbm.options = hbm.implementation->read(hbm.options, "hbm.options");
  check_option_sources(d);
}

bool is_file_name(const std::string& name) { return name.find_first_of("./") != std::string::npos; }

// "1.4 GHz".
std::string clock_text(std::uint64_t hz) { return described::number_text(static_cast<double>(hz) / 1e9) + " GHz"; }
std::string kib_text(std::uint64_t bytes) { return described::number_text(static_cast<double>(bytes) / 1024) + " KiB"; }

}  // namespace

void HostParameters::check(const std::string& path) const {
  require_latency(write_latency_ns, path, "write_latency_ns");
  require_latency(read_latency_ns, path, "read_latency_ns");
  require_positive(bytes_per_ns, path, "bytes_per_ns");
  if (bytes_per_ns < min_bytes_per_ns)
    throw KeyError(path_to_key(path, "bytes_per_ns"), "expected at least " + described::number_text(min_bytes_per_ns) +
                                                          ", found " + described::number_text(bytes_per_ns));
  require_range(access_bytes, 64, 1u << 30, path, "access_bytes");
}

void Description::check(const std::string& path) const {
  check_memory(hbm, path_to_key(path, "hbm"));
  check_core(core, path_to_key(path, "core"));
  check_dma(dma, path_to_key(path, "dma"));
  check_map(*this, path_to_key(path, "map"));
  check_sources(*this, path_to_key(path, "sources"));
}

LoadedDescription load_description(const std::string& name_or_file, const std::vector<std::string>& overrides,
                                   const MemoryModels& models) {
  const std::string text(shipped_description(name_or_file));
  const bool shipped = !text.empty();
  if (!shipped && !is_file_name(name_or_file)) {
    const auto names = shipped_descriptions();
    throw UserError("--platform", "unknown platform '" + name_or_file + "'" +
                                      described::nearest_hint(name_or_file, names) +
                                      " (a file's name has a dot or a slash)");
  }
  auto document = shipped ? described::Document::from_text(name_or_file + ".json", text)
                          : described::Document::from_file(name_or_file);
  for (const auto& assignment : overrides) document.override_with(assignment);
  auto description = document.read<Description>();
  document.check([&] { resolve_memory(description, models); });
  return {std::move(description), sha256(document.text()), overrides};
}

std::vector<ClockDomain> clock_domains(const Description& description) {
  const auto& core = description.core;
  return {ClockDomain("pe", core.pe.clock_hz),         ClockDomain("vector", core.vector.clock_hz),
          ClockDomain("scalar", core.scalar.clock_hz), ClockDomain("gpsimd", core.gpsimd.clock_hz),
          ClockDomain("sync", core.sync.clock_hz),     ClockDomain("dma", description.dma.clock_hz)};
}

std::string description_text(const Description& d) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << d.name << ": " << d.summary << "\n\n";
  out << "  memory    hbm " << d.hbm.size_bytes / (1u << 30) << " GiB at " << hex_text(d.map.hbm_base) << "; core0 at "
      << hex_text(d.map.core0_base) << "\n";
  if (d.hbm.implementation != nullptr)
    out << "  model     hbm is " << d.hbm.model << " (" << d.hbm.implementation->summary() << ") "
        << described::compact(d.hbm.options) << "\n";
  out << "  core      NC-v" << d.core.generation << ", 128 partitions of " << kib_text(d.core.sbuf_partition_bytes)
      << " (" << d.core.sbuf_reserved_bytes << " bytes reserved)\n";
  for (const auto& clock : clock_domains(d))
    out << "  clock     " << clock.name() << " " << clock_text(clock.numerator_hz()) << "\n";
  out << "  dma       " << d.dma.engines << " engines of " << described::number_text(d.dma.bytes_per_ns)
      << " bytes/ns, start " << described::number_text(d.dma.start_latency_ns) << " ns, run at least "
      << described::number_text(d.dma.run_floor_ns) << " ns\n";
  out << "\nsources\n";
  for (const auto& [path, source] : d.sources) out << "  " << path << ": " << source << "\n";
  out << "\nnot modelled\n";
  for (const auto& item : d.not_modelled) out << "  " << item << "\n";
  return out.str();
}

}  // namespace tilevp::platform
