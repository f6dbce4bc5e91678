#include "tilevp/platform/description.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tilevp/base/hex_text.hpp"
#include "tilevp/described/describe.hpp"
#include "tilevp/platform/key_checks.hpp"
#include "tilevp/platform/machine.hpp"
#include "tilevp/platform/sha256.hpp"

namespace tilevp::platform {
namespace {

using described::KeyError;
using described::path_to_key;

constexpr double min_bytes_per_ns = 0.001;

// Whatever a program aligns within a region must be aligned in the address space too.
constexpr std::uint64_t base_alignment = 4096;

void require_aligned(std::uint64_t base, const std::string& path, std::string_view key) {
  if (base % base_alignment != 0)
    throw KeyError(path_to_key(path, key),
                   "expected a multiple of " + std::to_string(base_alignment) + ", found " + std::to_string(base));
}

void check_map(const Description& d, const std::string& path) {
  const std::uint64_t hbm_end = d.map.hbm_base + d.hbm.size_bytes;
  const std::uint64_t core_end = d.map.core0_base + machine_of(d).window_bytes();
  if (hbm_end < d.map.hbm_base) throw KeyError(path_to_key(path, "hbm_base"), "hbm ends beyond 2^64");
  if (core_end < d.map.core0_base) throw KeyError(path_to_key(path, "core0_base"), "core0 ends beyond 2^64");
  if (d.map.core0_base < hbm_end && d.map.hbm_base < core_end)
    throw KeyError(path_to_key(path, "core0_base"), "core0 at " + hex_text(d.map.core0_base) + ".." +
                                                        hex_text(core_end - 1) + " overlaps hbm at " +
                                                        hex_text(d.map.hbm_base) + ".." + hex_text(hbm_end - 1));
  require_aligned(d.map.hbm_base, path, "hbm_base");
  require_aligned(d.map.core0_base, path, "core0_base");
}

void check_memory(const memory::MemoryParameters& memory, const std::string& path) {
  require_range(memory.size_bytes, 4096, std::uint64_t{1} << 44, path, "size_bytes");
  require_range(memory.clock_hz, min_hz, max_hz, path, "clock_hz");
  require_latency(memory.latency_ns, path, "latency_ns");
  check_by_model([&] { memory::validate(memory.bandwidth, path_to_key(path, "bandwidth")); });
  require_range(memory.request_queue, 1, 65'536, path, "request_queue");
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
  if (cube && (core || dma))
    throw KeyError(path_to_key(path, core ? "core" : "dma"),
                   "a description names one machine: 'cube', or 'core' and 'dma'");
  machine_of(*this).check(*this, path);
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
  if (!description.cube) {
    if (!description.core) description.core.emplace();
    if (!description.dma) description.dma.emplace();
  }
  return {std::move(description), sha256(document.text()), overrides};
}

const MachineKind& machine_of(const Description& description) {
  return description.cube ? cube_machine() : neuron_machine();
}

std::string default_description(std::string_view machine) {
  return machine == cube_machine().name() ? "pto-cube" : "trn1";
}

std::vector<ClockDomain> clock_domains(const Description& description) {
  return machine_of(description).clocks(description);
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
  out << machine_of(d).text(d);
  for (const auto& clock : clock_domains(d))
    out << "  clock     " << clock.name() << " " << clock_text(clock.numerator_hz()) << "\n";
  out << "\nsources\n";
  for (const auto& [path, source] : d.sources) out << "  " << path << ": " << source << "\n";
  out << "\nnot modelled\n";
  for (const auto& item : d.not_modelled) out << "  " << item << "\n";
  return out.str();
}

}  // namespace tilevp::platform
