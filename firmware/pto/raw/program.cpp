#include "tilevp/pto/raw/program.hpp"

#include <algorithm>
#include <charconv>

#include "tilevp/assembly/file.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/cube/isa.hpp"
#include "tilevp/pto/assembler/text.hpp"
#include "tilevp/pto/driver.hpp"

namespace tilevp::pto::raw {
namespace {

struct Setting {
  unsigned gpr = 0;
  std::uint64_t value = 0;
};

std::uint64_t parse_value(const std::string& item, std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size())
    throw UserError("--gpr", "expected a number of 64 bits, found '" + item + "'");
  return value;
}

Setting parse_setting(const std::string& item) {
  const std::size_t equals = item.find('=');
  if (equals == std::string::npos) throw UserError("--gpr", "expected NAME=VALUE, found '" + item + "'");
  for (unsigned g = 1; g < cube::gprs; ++g)
    if (cube::gpr_name(g) == std::string_view(item).substr(0, equals))
      return {g, parse_value(item, std::string_view(item).substr(equals + 1))};
  throw UserError("--gpr", "expected a GPR: sp, a0 to a7, ra, s0 to s8 or x0 to x3; found '" + item + "'");
}

std::vector<Setting> parse_settings(const std::string& text) {
  std::vector<Setting> settings;
  for (std::size_t at = 0; !text.empty() && at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    settings.push_back(parse_setting(text.substr(at, comma - at)));
    at = comma + 1;
  }
  return settings;
}

class Raw final : public runtime::Program {
 public:
  std::string_view name() const override { return "cube/raw"; }
  std::string_view summary() const override { return "exactly the instructions of a file"; }
  std::string_view machine() const override { return "cube"; }
  std::string_view positional() const override { return "file"; }
  std::vector<runtime::OptionDescription> options() const override {
    return {{"file", "FILE", "", "what to run: assembler text, or words as tilevp asm writes them"},
            {"gpr", "NAME=VALUE,...", "", "GPRs that are set before the start: a0=0x1000,a1=64"}};
  }

  void prepare(const runtime::RunRequest& request) override {
    if (request.check.kind != runtime::CheckRequest::Kind::none)
      throw UserError("--check", "cube/raw does not know what its results should be");
    const std::string file = request.options.text("file");
    if (file.empty()) throw UserError("cube/raw", "expected a file to run: tilevp run cube/raw FILE");
    settings_ = parse_settings(request.options.text("gpr"));
    words_ = assembler::words_of(file, assembly::read_file(file));
    if (words_.empty()) throw UserError(file, "expected at least one instruction, found none");
  }

  // With the addresses that faults name.
  std::string describe(runtime::Host& host) override { return assembler::listing(words_, place(Driver(host))); }

  runtime::ProgramResult run(runtime::Host& host) override {
    Driver driver(host);
    for (const Setting& setting : settings_) driver.set_gpr(setting.gpr, setting.value);
    runtime::ProgramResult result;
    result.kernel_ps = driver.run_at(place(driver), words_);
    const WorkCounters counted = driver.counters();
    result.result = {{"macs", counted.macs},    {"issued_macs", counted.issued_macs}, {"bundles", counted.bundles},
                     {"loads", counted.loads},  {"stores", counted.stores},           {"instructions", counted.words},
                     {"flags", driver.flags()}, {"kernel_ps", result.kernel_ps}};
    return result;
  }

 private:
  // At the end of memory: its begin is the user's, for --load and --dump.
  std::uint64_t place(const Driver& driver) const { return driver.last_place("the program", words_.size()); }

  std::vector<Setting> settings_;
  assembler::Words words_;
};

}  // namespace

std::unique_ptr<runtime::Program> make_program() { return std::make_unique<Raw>(); }

}  // namespace tilevp::pto::raw
