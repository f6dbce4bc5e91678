// `tilevp asm FILE` and `tilevp disasm FILE`.
#include <iostream>

#include "tilevp/assembly/file.hpp"
#include "tilevp/base/atomic_file.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/assembler/listing.hpp"
#include "tilevp/pto/assembler/text.hpp"
#include "tilevp/sc_main/command.hpp"
#include "tilevp/sc_main/output_files.hpp"
#include "tilevp/sc_main/run_plan.hpp"

namespace tilevp::command {
namespace {

using neuron::assembler::Bases;
using neuron::assembler::Listing;

// What both commands are asked.
struct Request {
  std::string file;
  std::string output;  // empty: standard output
  std::string machine;
  // Of the neuron machine.
  Bases bases;
  std::optional<neuroncore::Engine> engine{};  // of bare records
};

std::vector<OptionSpec> options_of(bool output_needed) {
  auto options = platform_options();
  options.push_back(
      {.name = "--machine", .placeholder = "neuron|cube", .default_value = "neuron", .text = "whose instructions"});
  options.push_back(
      {.name = "-o",
       .placeholder = "FILE",
       .text = output_needed ? "write the program there" : "write the text there, not to standard output"});
  if (!output_needed)
    options.push_back({.name = "--engine",
                       .placeholder = "NAME",
                       .text = "the engine whose stream bare 64-byte records are; without it pe"});
  options.push_back({.name = "--help", .takes = Takes::nothing, .text = "this text"});
  return options;
}

// Nothing where help was asked for.
std::optional<Request> read_request(Words words, const std::string& command, bool output_needed) {
  const auto options = options_of(output_needed);
  const auto arguments = parse_arguments(words, options, "tilevp " + command);
  if (arguments.has("--help")) {
    std::cout << "usage: tilevp " << command << (output_needed ? " FILE -o OUT" : " FILE [-o OUT]")
              << " [options]\n\n--platform and -c matter for addresses of the neuron machine only: hbm, core0, "
                 "sbuf(...), psum(...).\n\n"
              << help_lines(options);
    return std::nullopt;
  }
  if (arguments.positionals().size() != 1)
    throw UserError(command, "expected a file, found " + words_text(arguments.positionals().size()));
  const auto machine = choice("--machine", arguments.value("--machine", "neuron"), {"neuron", "cube"});
  if (machine != "neuron" && arguments.has("--engine"))
    throw UserError("--engine", "only records of the neuron machine have one");
  if (output_needed && !arguments.has("-o")) throw UserError(command, "expected -o FILE, where the program goes");
  const auto map = load_platform(arguments, machine).description.map;
  Request request{.file = arguments.positionals()[0],
                  .output = arguments.value("-o"),
                  .machine = machine,
                  .bases = {map.hbm_base, map.core0_base}};
  if (arguments.has("--engine"))
    request.engine = neuron::assembler::parse_engine("--engine", arguments.value("--engine"));
  if (arguments.has("-o")) check_files({{"-o", request.output}}, {{command, request.file}});
  return request;
}

void write(const Request& request, std::string_view text) {
  if (request.output.empty()) {
    std::cout << text;
    return;
  }
  AtomicFile out(request.output);
  out.write(text);
  out.commit();
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The program as a file, and as text.
void write_program(const Request& request, std::string_view file) {
  if (request.machine == "cube") return write(request, as_text(pto::assembler::words_of(request.file, file)));
  write(request, to_binary(neuron::assembler::listing_of(request.file, file, request.bases)));
}

void write_text(const Request& request, std::string_view file) {
  if (request.machine == "cube")
    return write(request, pto::assembler::listing(pto::assembler::words_of(request.file, file), 0));
  const Listing listing = neuron::assembler::listing_of(request.file, file, request.bases, request.engine);
  write(request, neuron::assembler::disassemble(listing, request.bases));
}

}  // namespace

int assemble(Words words) {
  const auto request = read_request(words, "asm", true);
  if (request) write_program(*request, assembly::read_file(request->file));
  return 0;
}

int disassemble(Words words) {
  const auto request = read_request(words, "disasm", false);
  if (request) write_text(*request, assembly::read_file(request->file));
  return 0;
}

}  // namespace tilevp::command
