#pragma once
// A change-driven writer of Value Change Dump files (IEEE 1364, clause 18). A signal that does not change costs
// nothing; sc_trace compares every signal at every step.
//
// Models record values at or after the present time, in any order. Records wait in a heap by (time, sequence) until the
// present has passed them, so the file is in time order and holds, for one instant, the last value only.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/base/probe.hpp"
#include "tilevp/platform/waves/vcd_signal.hpp"

namespace tilevp::platform {

struct VcdOptions {
  std::uint64_t from_ps = 0;                                        // changes before are folded into the first values
  std::uint64_t to_ps = std::numeric_limits<std::uint64_t>::max();  // changes after are dropped
  std::size_t flush_bytes = std::size_t{256} << 10;                 // written to the file whenever so much has gathered
};

// Use: declare all signals; record and flush_before as time goes on; close. A failing file is a UserError with the
// system's reason.
class VcdWriter final : public ProbeSink {
 public:
  // Creates the file under its final name: what is flushed is readable even after a SIGKILL.
  explicit VcdWriter(const std::string& file, const VcdOptions& options = {});
  VcdWriter(const VcdWriter&) = delete;
  VcdWriter& operator=(const VcdWriter&) = delete;
  ~VcdWriter() override;

  // `name` is hierarchical ("top.pe.busy"), `bits` 1 to 64. Without an initial value the signal is x until it is set.
  // `names` of its values, for the view, must outlive the writer. Defect for a name declared before, or after the first
  // flush. Returns the id to record with.
  unsigned declare(std::string_view name, unsigned bits, SignalKind kind,
                   std::optional<std::uint64_t> initial = std::nullopt, std::span<const ValueName> names = {});

  // Defect for a time before the last flush_before, or a value wider than the signal.
  void record(unsigned id, std::uint64_t time_ps, std::uint64_t value) override;

  // Writes all records strictly before now; the caller vouches that none will come for a time before `now_ps`.
  void flush_before(std::uint64_t now_ps);

  // Hands what has been written to the system: a reader of the file sees it.
  void write_out();

  // Writes the records up to and including end_ps, drops later ones (a run that stops truncates), marks the end and
  // closes.
  void close(std::uint64_t end_ps);

  // Closes a valid file at the last flush_before. Never throws; for the way out after SIGINT, SIGTERM or an error, from
  // normal context (not from a signal handler).
  void emergency_close() noexcept;

  // As declared, and with the changes that have been written.
  const std::vector<VcdSignal>& signals() const { return signals_; }
  const std::string& file() const { return file_; }

 private:
  struct Record {
    std::uint64_t time_ps;
    std::uint64_t sequence;
    std::uint64_t value;
    unsigned id;
  };
  struct State {
    std::uint64_t value = 0;  // in the file
    std::uint64_t next = 0;   // at the instant that is being gathered
    std::uint64_t mask = 0;   // bits the signal has
    bool known = false;       // false: x
    bool touched = false;     // `next` holds
    std::string tail{};       // what follows the digits: the code and a newline
  };

  static bool later(const Record& a, const Record& b) {
    return a.time_ps != b.time_ps ? a.time_ps > b.time_ps : a.sequence > b.sequence;
  }
  void start();
  void drain(std::uint64_t end_ps, bool inclusive);
  void finish_instant();
  void begin_dump(std::uint64_t time_ps);
  void append_time(std::uint64_t time_ps);
  void append_value(const State& state);

  std::string file_;
  VcdOptions options_;
  int descriptor_ = -1;
  std::vector<VcdSignal> signals_;
  std::map<std::string, unsigned, std::less<>> ids_;
  std::vector<State> states_;
  std::vector<Record> heap_;
  std::vector<unsigned> touched_;
  std::uint64_t sequence_ = 0;
  std::uint64_t instant_ps_ = 0;  // that is being gathered
  std::uint64_t flushed_ps_ = 0;  // records before this time are in the file
  std::optional<std::uint64_t> written_ps_{};
  bool started_ = false;
  bool dumping_ = false;
  std::string out_;
};

}  // namespace tilevp::platform
