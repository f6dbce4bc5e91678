#pragma once
// The described structs the tests read.
#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilevp/described/path.hpp"

namespace tilevp::described::sample {

enum class Kind { sram, hbm, lpddr };
BOOST_DESCRIBE_ENUM(Kind, sram, hbm, lpddr)

struct Port {
  std::string name{};
  double rate_bytes_per_ns = 8;
  std::uint8_t lanes = 1;
  void check(const std::string& path) const {
    if (rate_bytes_per_ns <= 0)
      throw KeyError(path_to_key(path, "rate_bytes_per_ns"),
                     "expected a positive number, found " + std::to_string(rate_bytes_per_ns));
  }
};
BOOST_DESCRIBE_STRUCT(Port, (), (name, rate_bytes_per_ns, lanes))

struct Memory {
  Kind kind = Kind::hbm;
  std::int64_t latency_ns = 100;
  std::uint64_t size_bytes = 1u << 20;
  bool shared = true;
  float share = 0.5F;
  std::optional<int> burst_bytes{};
  std::vector<Port> ports{Port{.name = "read"}, Port{.name = "write"}};
};
BOOST_DESCRIBE_STRUCT(Memory, (), (kind, latency_ns, size_bytes, shared, share, burst_bytes, ports))

struct Base {
  std::string title = "none";
};
BOOST_DESCRIBE_STRUCT(Base, (), (title))

struct Machine : Base {
  Memory dram{};
  std::map<std::string, double> clocks_hz{};
  std::optional<Port> debug{};
};
BOOST_DESCRIBE_STRUCT(Machine, (Base), (dram, clocks_hz, debug))

}  // namespace tilevp::described::sample
