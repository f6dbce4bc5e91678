#pragma once
// Which bandwidth model holds for which port. Entries are keyed as in Stream's accelerator files (KULeuven-MICAS,
// stream/parser/accelerator_validator.py): "<core id>" covers all traffic of a core, "<core id>.<memory>.<port>" one
// port of one of its top-level memories. A port without an entry is flat at its declared width.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/memory/bandwidth.hpp"

namespace tilevp::memory {

// ---- What of a platform the keys may name.

struct PortDescription {
  std::string name;
  double width_bits_per_cycle = 0;
  // Ports of the same physical name are one port: memories shared between cores, or aliases. Empty: a port of its own.
  std::string physical;
};

struct MemoryDescription {
  std::string name;
  std::vector<PortDescription> ports;
};

struct CoreDescription {
  std::int64_t id = 0;
  bool models_ports = true;
  std::vector<MemoryDescription> top_memories;
};

// A key, taken apart. Without memory and port it names the whole core.
struct BandwidthKey {
  std::int64_t core = 0;
  std::string memory;
  std::string port;
  bool whole_core() const { return memory.empty(); }
};

// Throws UserError at `place` for a key that is neither digits nor digits.word.word (words of letters, digits, _ and
// -).
BandwidthKey parse_bandwidth_key(std::string_view key, std::string_view place);

class BandwidthTable {
 public:
  using Entries = std::map<std::string, BandwidthModel, std::less<>>;

  // Checks keys and models; throws UserError at `place`[key] where a model or key is malformed, a core, memory or port
  // does not exist, a core models no ports, a core with an entry of its own has a port entry too, or two entries for
  // one physical port differ. An entry for one alias of a physical port holds for the others.
  BandwidthTable(const Entries& entries, const std::vector<CoreDescription>& cores,
                 std::string_view place = "bandwidth");

  // The core's own model, which replaces the models of its ports; nullptr where it has none.
  const Bandwidth* core(std::int64_t id) const;
  // The model of a port: its entry or flat at its width. nullptr where the core has an entry of its own. Throws Defect
  // for a port that does not exist.
  const Bandwidth* port(std::int64_t core, std::string_view memory, std::string_view port) const;

  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void add_port_entry(const BandwidthKey& key, const BandwidthModel& model, const CoreDescription& core,
                      const std::string& place);
  void fill_ports(const CoreDescription& core);

  std::map<std::int64_t, Bandwidth> cores_;
  std::map<std::string, Bandwidth, std::less<>> ports_;  // by "<core id>.<memory>.<port>"
  std::map<std::string, BandwidthModel> physical_;       // entries by physical port
  std::map<std::string, std::string> first_place_;       // where each of those was given
  std::vector<std::string> warnings_;
};

}  // namespace tilevp::memory
