#pragma once
// A program: what `tilevp run NAME` runs on the host agent.
#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/runtime/host.hpp"

namespace tilevp::runtime {

// One option of a program: `--image-layout NAME`.
struct OptionDescription {
  std::string name;           // without dashes
  std::string value;          // placeholder: "FILE", "N,C,H,W"; empty: a flag
  std::string default_value;  // as text; empty: none
  std::string text;           // what it means, with units
};

// The options as given, checked against the descriptions: unknown names never get here.
class OptionValues {
 public:
  using Texts = std::map<std::string, std::string, std::less<>>;
  // `placeholders`: what messages call a value, "N,C,H,W", by the option's name.
  explicit OptionValues(Texts values, Texts placeholders = {})
      : values_(std::move(values)), placeholders_(std::move(placeholders)) {}
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  // The value; empty when the option was not given and has no default.
  std::string text(std::string_view name) const;
  // A list of integers, "2,2". Throws UserError (`--stride: expected 2 integers H,W, found 2,x`).
  std::vector<std::int64_t> integers(std::string_view name, std::size_t count) const;
  std::int64_t integer(std::string_view name, std::int64_t low, std::int64_t high) const;

 private:
  Texts values_;
  Texts placeholders_;
};

// How results are to be verified (`--check`).
struct CheckRequest {
  enum class Kind { none, exact, ulp, tolerance } kind = Kind::none;
  double bound = 0;  // ulp: a whole number; tolerance: relative to the largest magnitude of the reference
};

// What a verification found.
struct Verification {
  std::string kind{};  // "exact", "ulp 1", "tolerance 0.001"
  std::uint64_t compared = 0;
  std::uint64_t mismatches = 0;
  double max_abs_error = 0;
  std::uint64_t max_ulp = 0;
  std::vector<std::size_t> first_index{};  // of the first mismatch, in the tensor's own axes
  double first_got = 0;
  double first_expected = 0;
};

struct ProgramResult {
  std::string variant;          // of the kernel, where there are several
  std::uint64_t kernel_ps = 0;  // time of the device's own work; 0: not measured
  boost::json::object result;   // the report's `result`
  std::optional<Verification> verification;
  double reference_seconds = 0;  // host time of the plain computation, where one was made
  std::vector<std::string> warnings;
  std::map<std::string, std::string> files;  // what was written: kind -> path
};

// One of a program's kernels: `tilevp list variants`.
struct VariantDescription {
  std::string name;
  std::string full_name;  // and who calls it
  std::string summary;
  std::vector<std::string> tokens;  // of the full name, each with its meaning
};

// What a run asks of a program beside its own options.
struct RunRequest {
  OptionValues options;
  CheckRequest check{};
  std::uint64_t seed = 1;
  bool arithmetic = true;
  // Called now and then with a short text and a share of the work done in [0, 1]; may be empty.
  std::function<void(std::string_view, double)> progress{};
};

class Program {
 public:
  virtual ~Program() = default;
  virtual std::string_view name() const = 0;     // "neuron/conv2d"
  virtual std::string_view summary() const = 0;  // one line
  // The kind of machine it is written for: "neuroncore", "cube". Empty: any.
  virtual std::string_view machine() const { return ""; }
  virtual std::vector<OptionDescription> options() const = 0;
  // In the order in which they are considered; empty: it has but one way.
  virtual std::vector<VariantDescription> variants() const { return {}; }
  // The option that a word without a name gives: `tilevp run neuron/raw FILE`. Empty: there is none.
  virtual std::string_view positional() const { return ""; }
  // Checks options and files without a machine; throws UserError. Called before the platform is built.
  virtual void prepare(const RunRequest& request) = 0;
  // Runs on the host agent's thread. Tensor files are staged and written only when the caller commits them after a good
  // end.
  virtual ProgramResult run(Host& host) = 0;
  // Text of `tilevp describe program NAME ...`: how the work would be laid out on the machine, whose registers may be
  // read. Called after prepare(), on the host agent's thread.
  virtual std::string describe(Host& host) = 0;
  // Writes the staged output files (atomically). Called once after a run that ended with exit code 0 or 1.
  virtual void write_outputs() {}
};

// The programs that the command knows, by name.
class ProgramRegistry {
 public:
  using Factory = std::function<std::unique_ptr<Program>()>;
  void add(std::string name, Factory factory);
  // By full name or by a unique last part ("conv2d"). Throws UserError with the nearest names.
  std::unique_ptr<Program> make(std::string_view name) const;
  std::vector<std::string> names() const;

 private:
  std::map<std::string, Factory, std::less<>> factories_;
};

}  // namespace tilevp::runtime
