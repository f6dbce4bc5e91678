#pragma once
// What a CUBE core tells of each bundle that commits, for timelines, lists and tests.
#include <cstdint>

#include "tilevp/cube/isa.hpp"

namespace tilevp::cube {

// Times in ps. [begin, end) is the occupation of the unit that executes it: the matrix units of the PEs in `mask`, or
// the transfer unit. A strict no-op (mask zero) occupies nothing: begin = end.
struct BundleRecord {
  Operation operation = Operation::tgemv;
  PeMask mask = 0;
  std::uint64_t index = 0;  // in program order since the core was built
  std::uint64_t pc = 0;     // of its BSTART
  std::uint64_t id = 0;
  std::uint64_t fetch = 0;  // id of the fetch that brought what closed it
  std::uint64_t cause = 0;  // id of the last bundle that defined a source of it, else of what started the program
  std::uint64_t requested_ps = 0;  // its header was closed
  std::uint64_t ready_ps = 0;      // its preflight had passed
  std::uint64_t begin_ps = 0;
  std::uint64_t end_ps = 0;
  std::uint64_t commit_ps = 0;  // its results are visible from here
};

class BundleObserver {
 public:
  // When the bundle commits; in program order.
  virtual void committed(const BundleRecord& record) = 0;

 protected:
  ~BundleObserver() = default;
};

}  // namespace tilevp::cube
