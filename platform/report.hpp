#pragma once
// The report of a run, schema tilevp-report/1 (docs/schema/report.schema.json). Times are integer picoseconds, work is
// counted by the models; figures of the host computer stand in `host` alone, so two runs of one input differ nowhere
// else.
#include <boost/describe.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilevp/base/wait_board.hpp"
#include "tilevp/runtime/program.hpp"

namespace tilevp::platform {

inline constexpr std::string_view report_schema = "tilevp-report/1";

BOOST_DEFINE_ENUM_CLASS(Status, finished, verification_failed, fault, no_end, interrupted)

struct DomainReport {
  std::string name{};
  double hz = 0;
  std::uint64_t cycles = 0;  // whole cycles in the simulated time
};
BOOST_DESCRIBE_STRUCT(DomainReport, (), (name, hz, cycles))

struct HostReport {
  double wall_s = 0;
  double machine_s = 0;  // from the first write of the host agent to its last access
  double cpu_s = 0;
  std::uint64_t peak_rss_bytes = 0;
  unsigned threads = 1;
  double reference_s = 0;  // the plain computation on the host; 0: none was made
  double ratio = 0;        // wall_s / reference_s; 0 without a reference
};
BOOST_DESCRIBE_STRUCT(HostReport, (), (wall_s, machine_s, cpu_s, peak_rss_bytes, threads, reference_s, ratio))

struct UnitReport {
  std::string path{};
  std::string kind{};   // "pe", "vector", "dma_engine"
  std::string clock{};  // name of its domain
  std::uint64_t busy_cycles = 0;
  std::map<std::string, std::uint64_t> stalled{};  // cause -> cycles
  std::uint64_t instructions = 0;
  double utilisation = 0;  // busy share of the kernel's time
};
BOOST_DESCRIBE_STRUCT(UnitReport, (), (path, kind, clock, busy_cycles, stalled, instructions, utilisation))

struct MemoryReport {
  std::string path{};
  std::string port{};
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t wasted_bytes = 0;  // moved by bursts beyond what was asked for
  std::uint64_t busy_ps = 0;
  std::uint64_t peak_bytes = 0;               // largest number of bytes that held data at once
  std::vector<std::uint64_t> by_partition{};  // peak bytes of each partition; empty where there are none
  std::vector<std::uint64_t> by_bank{};       // and of each bank, all partitions together
};
BOOST_DESCRIBE_STRUCT(MemoryReport, (),
                      (path, port, bytes_read, bytes_written, wasted_bytes, busy_ps, peak_bytes, by_partition, by_bank))

struct DmaReport {
  std::string queue{};
  std::uint64_t descriptors = 0;
  std::uint64_t runs = 0;
  std::uint64_t bursts = 0;
  std::uint64_t bytes = 0;
  std::uint64_t wasted_bytes = 0;
  std::uint64_t busy_ps = 0;
  std::map<std::string, std::uint64_t> stalled{};  // cause -> ps
};
BOOST_DESCRIBE_STRUCT(DmaReport, (), (queue, descriptors, runs, bursts, bytes, wasted_bytes, busy_ps, stalled))

// What the arrays of a core's matrix units could have done while they were busy, in multiply-accumulates, and what came
// of it. The shares add up to 1; 0 where nothing was done.
struct MatrixReport {
  std::string path{};  // of the core
  std::uint64_t macs = 0;
  std::uint64_t row_padding_macs = 0;   // M rounded up to whole steps
  std::uint64_t step_padding_macs = 0;  // N and K
  std::uint64_t waiting_macs = 0;       // no step could begin
  double useful_share = 0;
  double row_padding_share = 0;
  double step_padding_share = 0;
  double waiting_share = 0;
};
BOOST_DESCRIBE_STRUCT(MatrixReport, (),
                      (path, macs, row_padding_macs, step_padding_macs, waiting_macs, useful_share, row_padding_share,
                       step_padding_share, waiting_share))

// Busy times and bytes by period: row i is of the time from i * period_ps on. A column added up gives the total.
struct IntervalsReport {
  std::uint64_t period_ps = 0;
  std::vector<std::string> columns{};  // "core0.pe.busy_ps", "hbm.bytes_read"
  std::vector<std::vector<std::uint64_t>> rows{};
};
BOOST_DESCRIBE_STRUCT(IntervalsReport, (), (period_ps, columns, rows))

struct FaultReport {
  std::string rule{};
  std::string module{};
  std::uint64_t time_ps = 0;
  std::string message{};
};
BOOST_DESCRIBE_STRUCT(FaultReport, (), (rule, module, time_ps, message))

struct WaitingReport {
  std::string who{};
  std::string what{};
  std::uint64_t since_ps = 0;
  std::string has{};
  std::string wants{};
};
BOOST_DESCRIBE_STRUCT(WaitingReport, (), (who, what, since_ps, has, wants))

// Where `--break` stopped the run.
struct BreakReport {
  std::string unit{};         // "vector", "dma0.q3"
  std::uint64_t number = 0;   // of the instruction or descriptor that was not executed
  std::string instruction{};  // which one
  std::uint64_t time_ps = 0;
};
BOOST_DESCRIBE_STRUCT(BreakReport, (), (unit, number, instruction, time_ps))

struct Report {
  std::string program{};
  std::map<std::string, std::string, std::less<>> program_options{};
  std::string variant{};
  std::string platform{};
  std::string description_sha256{};
  std::vector<std::string> overrides{};  // as given: "dma.engines=1"
  Status status = Status::finished;
  std::uint64_t seed = 1;
  std::uint64_t simulated_ps = 0;
  std::uint64_t kernel_ps = 0;  // of that, the device's own work; 0: the program did not measure it
  std::vector<DomainReport> domains{};
  HostReport host{};
  std::optional<runtime::Verification> verification{};
  // What was busy longest: path of a unit or memory, kind of units of which there are several (`busiest_share` is
  // their mean). bound_by is that, or "latency" where it was busy for less than half of the time. Empty: nothing was.
  std::string bound_by{};
  std::string busiest{};
  double busiest_share = 0;
  std::vector<UnitReport> units{};
  std::vector<MemoryReport> memories{};
  std::vector<DmaReport> dma{};
  std::vector<MatrixReport> matrix{};
  std::optional<IntervalsReport> intervals{};
  std::optional<FaultReport> fault{};
  std::optional<BreakReport> stopped{};  // `break` of the file; the status is then no_end
  std::vector<WaitingReport> waiting{};
  boost::json::object result{};
  std::vector<std::string> warnings{};
  std::map<std::string, std::string> files{};
};

// The report as a JSON tree, keys in the order of the schema. A number that JSON cannot hold becomes the text "nan",
// "inf" or "-inf".
boost::json::value to_json(const Report& report);

// Writes the report aside and renames it. UserError where the file cannot be written.
void write_report(const std::string& file, const Report& report);

std::vector<WaitingReport> waiting_reports(const std::vector<WaitingRecord>& records);

}  // namespace tilevp::platform
