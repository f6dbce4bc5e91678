#pragma once
// Reads a Value Change Dump by itself: shares nothing with the writer. Throws std::runtime_error with the line for
// whatever IEEE 1364 clause 18 does not allow in the subset we use (scopes, wires, binary values), and for times that
// go back.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilevp::test {

struct VcdTrace {
  // Value from `time_ps` on; no value: x.
  struct Change {
    std::uint64_t time_ps = 0;
    std::optional<std::uint64_t> value{};
    bool operator==(const Change&) const = default;
  };
  unsigned bits = 0;
  std::vector<Change> changes{};  // the initial value of $dumpvars first
};

class VcdFile {
 public:
  static VcdFile read(const std::string& file);
  static VcdFile parse(const std::string& text);

  const std::string& timescale() const { return timescale_; }
  std::uint64_t start_ps() const { return start_ps_; }
  std::uint64_t end_ps() const { return end_ps_; }
  std::vector<std::string> names() const;
  bool has(const std::string& name) const { return traces_.contains(name); }
  // Throws std::runtime_error for a name that is not in the file.
  const VcdTrace& trace(const std::string& name) const;

  // The value from the last change at or before `time_ps`.
  std::optional<std::uint64_t> value_at(const std::string& name, std::uint64_t time_ps) const;
  // Changes to a value other than zero from zero or x.
  std::size_t pulses(const std::string& name) const;
  // Total time with a value other than zero, up to the end of the file.
  std::uint64_t busy_ps(const std::string& name) const;
  // Changes that changed nothing.
  std::size_t redundant_changes() const;

 private:
  std::string timescale_;
  std::uint64_t start_ps_ = 0;
  std::uint64_t end_ps_ = 0;
  std::map<std::string, VcdTrace> traces_;
  friend class VcdParser;
};

}  // namespace tilevp::test
