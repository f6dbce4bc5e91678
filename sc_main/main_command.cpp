#include <array>
#include <cstdio>
#include <iostream>
#include <string_view>
#include <systemc>
#include <vector>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/wait_board.hpp"
#include "tilevp/described/nearest.hpp"
#include "tilevp/platform/interrupted.hpp"
#include "tilevp/platform/version.hpp"
#include "tilevp/sc_main/command.hpp"
#include "tilevp/sc_main/messages.hpp"
#include "tilevp/sc_main/plugins.hpp"
#include "tilevp/sc_main/times.hpp"

namespace tilevp::command {
namespace {

struct Subcommand {
  std::string_view name;
  int (*run)(Words);
  std::string_view text;
};
constexpr std::array subcommands{
    Subcommand{"run", run, "run a program on a simulated machine"},
    Subcommand{"list", list, "programs, platforms, probes, statistics or rules"},
    Subcommand{"describe", describe, "a program's layout, a platform, a probe; reference pages"},
    Subcommand{"check", check, "descriptions, reports and .npy files without running anything"},
    Subcommand{"compare", compare, "two .npy files or two reports"},
    Subcommand{"waves", waves, "what each signal of a VCD file does"},
    Subcommand{"asm", assemble, "assembler text to a program for neuron/raw or cube/raw"},
    Subcommand{"disasm", disassemble, "a program of either machine, or bare instruction records, to assembler text"},
};

void print_help() {
  std::cout << "usage: tilevp COMMAND ...\n\n";
  for (const auto& subcommand : subcommands)
    std::cout << "  " << subcommand.name << std::string(10 - subcommand.name.size(), ' ') << subcommand.text << "\n";
  std::cout << "\n'tilevp COMMAND --help' says more. Exit codes: 0 finished, 1 results differ, 2 wrong input, 3 fault "
               "in the\n"
               "simulated machine, 4 the end was not reached, 5 a defect of tilevp, 130/143 interrupted.\n";
}

int dispatch(Words words) {
  if (words.empty())
    throw UserError("",
                    "expected a command: run, list, describe, check, compare, waves, asm or disasm ('tilevp --help')");
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_help();
    return 0;
  }
  if (words[0] == "--version") {
    std::cout << platform::tool_name << "\n";
    return 0;
  }
  std::vector<std::string> names;
  for (const auto& subcommand : subcommands) {
    if (words[0] == subcommand.name) return subcommand.run(words.subspan(1));
    names.emplace_back(subcommand.name);
  }
  throw UserError(words[0].empty() ? "''" : words[0], "unknown command" + described::nearest_hint(words[0], names));
}

void print_fault(const Fault& fault) {
  std::string place;
  if (!fault.module.empty()) place = "at " + std::to_string(fault.time_ps) + " ps in " + fault.module + ": ";
  print_error("fault " + place + fault.what() + " [" + fault.rule() + "]");
}

void print_no_end(const NoEnd& error) {
  print_error(error.what());
  for (const auto& record : error.waiting())
    std::cerr << "  " << record.who << " waits for " << record.what << " since " << time_text(record.since_ps)
              << " (has " << record.has << ", wants " << record.wants << ")\n";
}

int print_defect(const std::string& text) {
  print_error((plugins().empty() ? "defect of tilevp: "
                                 : "defect of tilevp or of the plug-in " + described::join(plugins()) + ": ") +
              text);
  return static_cast<int>(Outcome::defect);
}

std::string text_of(const sc_core::sc_report& report) {
  return "SystemC: " + std::string(report.get_msg_type()) + ": " + report.get_msg();
}

// SystemC's own warnings and errors, in this command's form. What leaves a process that a plug-in's model, or a
// library under it, has started comes as a report too, and the kernel takes nothing but that from one process to the
// next.
void handle_report(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  if (report.get_severity() == sc_core::SC_WARNING) print_warning(text_of(report));
  if ((actions & sc_core::SC_THROW) == 0) return;
  if (std::string_view(report.get_msg_type()) == sc_core::SC_ID_SIMULATION_UNCAUGHT_EXCEPTION_) throw report;
  throw Defect(text_of(report));
}

}  // namespace

int main_command(Words words) {
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING);
  sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
  sc_core::sc_report_handler::set_handler(handle_report);
  try {
    const int code = dispatch(words);
    std::cout.flush();
    if (!std::cout) throw UserError("standard output", "cannot write");
    return code;
  } catch (const platform::Interrupted& interrupted) {
    print_error(interrupted.what());
    return 128 + interrupted.signal();
  } catch (const Fault& fault) {
    print_fault(fault);
    return static_cast<int>(Outcome::fault);
  } catch (const NoEnd& error) {
    print_no_end(error);
    return static_cast<int>(Outcome::no_end);
  } catch (const Defect& defect) {
    return print_defect(defect.what());
  } catch (const Error& error) {
    print_error(error.what());
    return static_cast<int>(error.outcome());
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
    return static_cast<int>(Outcome::user_error);
  } catch (const sc_core::sc_report& report) {
    return print_defect(text_of(report));
  } catch (const std::exception& error) {
    return print_defect(error.what());
  } catch (...) {
    return print_defect("an exception of a type that is no std::exception");
  }
}

}  // namespace tilevp::command
