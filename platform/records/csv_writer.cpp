#include "tilevp/platform/records/csv_writer.hpp"

#include <array>
#include <charconv>

namespace tilevp::platform {
namespace {

// Quoted where a reader would take it for more than one field (RFC 4180).
void append_field(std::string_view text, std::string& to) {
  if (text.find_first_of(",\"\n") == std::string_view::npos) {
    to += text;
    return;
  }
  to += '"';
  for (const char c : text) {
    if (c == '"') to += '"';
    to += c;
  }
  to += '"';
}

}  // namespace

void append_number(std::uint64_t number, std::string& to) {
  std::array<char, 24> digits{};
  to.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void append_id(std::uint64_t id, const std::map<unsigned, std::string>& agents, std::string& to) {
  if (id == 0) return;
  const auto agent = agents.find(port_of_id(id));
  if (agent != agents.end())
    to += agent->second;
  else
    append_number(port_of_id(id), to);
  to += ':';
  append_number(count_of_id(id), to);
  if (part_of_id(id) == 0) return;
  to += '.';
  append_number(part_of_id(id), to);
}

CsvWriter::CsvWriter(const std::string& file, const std::map<unsigned, std::string>& agents)
    : out_(file, OutputStream::Format::plain), agents_(agents) {
  out_.write(
      "id,parent,cause,initiator,target,kind,name,what,bytes,requested_ps,begin_ps,end_ps,status,complete_ps,busy_ps,"
      "runs,bursts,wasted_bytes\n");
  out_.flush();
}

void CsvWriter::record(const Record& record) {
  const Transaction& is = record.is;
  line_.clear();
  for (const std::uint64_t id : {is.id, is.parent, is.cause}) {
    append_id(id, agents_, line_);
    line_ += ',';
  }
  for (const std::string_view text : {is.initiator, is.target, is.kind, is.name, std::string_view(record.what)}) {
    append_field(text, line_);
    line_ += ',';
  }
  for (const std::uint64_t number : {is.bytes, is.requested_ps, is.begin_ps, is.end_ps}) {
    append_number(number, line_);
    line_ += ',';
  }
  line_ += is.status;
  for (const std::uint64_t number : {is.complete_ps, is.busy_ps, is.runs, is.bursts, is.wasted_bytes}) {
    line_ += ',';
    append_number(number, line_);
  }
  line_ += '\n';
  out_.write(line_);
}

void CsvWriter::close(std::uint64_t) { out_.close(); }

}  // namespace tilevp::platform
