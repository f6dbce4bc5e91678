#pragma once
// The list of transactions: one line each, ended operations in the order of their ends (docs/records.md).
#include <cstdint>
#include <map>
#include <string>

#include "tilevp/platform/records/output_stream.hpp"
#include "tilevp/platform/records/record.hpp"

namespace tilevp::platform {

class CsvWriter final : public RecordSink {
 public:
  // `agents` names the agents by port number. UserError where the file cannot be written.
  CsvWriter(const std::string& file, const std::map<unsigned, std::string>& agents);

  void record(const Record& record) override;
  void level(const LevelChange&) override {}
  void flush() override { out_.flush(); }
  void close(std::uint64_t end_ps) override;

 private:
  OutputStream out_;
  const std::map<unsigned, std::string>& agents_;
  std::string line_;
};

// An id as files show it: `core0.pe:412`, with a part `core0.pe:412.2`; nothing for 0.
void append_id(std::uint64_t id, const std::map<unsigned, std::string>& agents, std::string& to);
void append_number(std::uint64_t number, std::string& to);

}  // namespace tilevp::platform
