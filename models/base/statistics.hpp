#pragma once
// Counters with definitions: what the report shows, and what `tilevp list statistics` explains.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilevp {

// One definition a figure, shared by all instances that count it.
struct StatisticDefinition {
  std::string_view name;  // as in the report: "busy_cycles"
  std::string_view unit;  // "cycles", "bytes", "ps", "1"
  std::string_view text;  // what exactly is counted, and when
};

// A counter of one instance. Counted by the models at commit.
class Counter {
 public:
  Counter& operator+=(std::uint64_t amount) {
    value_ += amount;
    return *this;
  }
  std::uint64_t value() const { return value_; }
  void set_max(std::uint64_t value) { value_ = value > value_ ? value : value_; }

 private:
  std::uint64_t value_ = 0;
};

// Finds a platform's counters by (path of the module, definition).
class StatisticsRegistry {
 public:
  struct Entry {
    std::string path;
    const StatisticDefinition* definition;
    const Counter* counter;
  };
  void add(std::string path, const StatisticDefinition& definition, const Counter& counter);
  // Ordered by (path, name), whatever the construction order.
  std::vector<Entry> all() const;
  // The value of one counter; throws Defect when there is none.
  std::uint64_t value(std::string_view path, std::string_view name) const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace tilevp
