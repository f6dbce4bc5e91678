#pragma once
// How a run can end other than well. Each class is one of the command's exit codes (docs/errors.md).
// Throw these, never std::runtime_error; catch them only where a run is set up or ended.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tilevp {

// The exit codes of the command.
enum class Outcome : int {
  finished = 0,             // ran to its end and, where asked, verified
  verification_failed = 1,  // ran to its end; the numbers differ from the reference
  user_error = 2,           // a file, option, key or shape is wrong
  fault = 3,                // the simulated machine did something its hardware forbids
  no_end = 4,               // deadlock, starvation or --max-time
  defect = 5,               // a mistake of ours
};

class Error : public std::runtime_error {
 public:
  Error(Outcome outcome, const std::string& message) : std::runtime_error(message), outcome_(outcome) {}
  Outcome outcome() const { return outcome_; }

 private:
  Outcome outcome_;
};

// The user's mistake. The message is one line: where (a file with line, a key path, an option), what was expected and
// what was found: `dram.ports[1].rate: expected a positive number, found -3`.
class UserError : public Error {
 public:
  UserError(std::string_view where, const std::string& what)
      : Error(Outcome::user_error, where.empty() ? what : std::string(where) + ": " + what) {}
};

// What the simulated hardware would reject or leave undefined. `rule` is an id of the rule table
// (docs/reference/rules.md). The message names the instruction, the operand and both numbers: `nc_matmul #412: moving
// free size 640 exceeds 512`.
class Fault : public Error {
 public:
  Fault(std::string_view rule, const std::string& message) : Error(Outcome::fault, message), rule_(rule) {}
  const std::string& rule() const { return rule_; }
  // The module that raised the fault and the simulated time; filled in by the agent whose thread it leaves.
  std::string module;
  std::uint64_t time_ps = 0;

 private:
  std::string rule_;
};

// A mistake of ours: an invariant of the platform itself does not hold.
class Defect : public Error {
 public:
  explicit Defect(const std::string& message) : Error(Outcome::defect, message) {}
};

}  // namespace tilevp
