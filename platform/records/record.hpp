#pragma once
// A transaction as it waits for its turn in a file: a copy of what the model told, with its text made.
#include <cstdint>
#include <string>
#include <string_view>

#include "tilevp/base/transaction_observer.hpp"

namespace tilevp::platform {

struct Record {
  Transaction is{};    // `what` is not valid any more
  std::string what{};  // its text
  // Where it stands in the order: its end, or when it became known where that was later.
  std::uint64_t order_ps = 0;
};

// Takes records in their final order, the same for every run of one input, at any quantum and construction order.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void record(const Record& record) = 0;
  virtual void level(const LevelChange& change) = 0;
  // What it was given can be read from now on, as far as the format allows. Called when the host likes: it must leave
  // no trace in the closed file. UserError where the file cannot be written.
  virtual void flush() {}
  // Nothing follows; the run ended at `end_ps`. UserError where the file cannot be written.
  virtual void close(std::uint64_t end_ps) = 0;
};

}  // namespace tilevp::platform
