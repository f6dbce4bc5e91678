// The order in which records reach the files, what a cut-off run leaves, fields that need quotes, lanes.
#include "tilevp/platform/records/record_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/csv_reader.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/platform/records/csv_writer.hpp"
#include "tilevp/platform/records/tracks.hpp"

namespace tilevp::platform {
namespace {

using testing::ElementsAre;

class Listing final : public RecordSink {
 public:
  explicit Listing(std::vector<std::string>& seen) : seen_(seen) {}
  void record(const Record& record) override {
    seen_.push_back(std::to_string(record.is.end_ps) + " " + std::to_string(count_of_id(record.is.id)) + " " +
                    std::string(record.is.status));
  }
  void level(const LevelChange& change) override { seen_.push_back("level " + std::to_string(change.time_ps)); }
  void close(std::uint64_t end_ps) override { seen_.push_back("closed " + std::to_string(end_ps)); }

 private:
  std::vector<std::string>& seen_;
};

class RecordOrder : public testing::Test {
 protected:
  RecordOrder() { stream.add(std::make_unique<Listing>(seen)); }
  void happened(std::uint64_t count, std::uint64_t begin_ps, std::uint64_t end_ps) {
    Transaction transaction{.id = id_of(7, count), .kind = "read"};
    transaction.begin_ps = begin_ps;
    transaction.end_ps = end_ps;
    stream.happened(transaction);
  }

  std::vector<std::string> seen;
  RecordStream stream;
};

TEST_F(RecordOrder, IsThatOfEndsThenIdsWithLevelsFirst) {
  happened(3, 0, 50);
  happened(2, 10, 50);
  happened(1, 0, 70);
  happened(4, 0, 20);
  stream.changed({.path = "q", .what = "depth", .time_ps = 50, .by = 1});
  stream.changed({.path = "q", .what = "depth", .time_ps = 5, .by = 1});
  stream.flush(50);
  EXPECT_THAT(seen, ElementsAre("level 5", "20 4 ok"));
  stream.flush(51);
  stream.close(100);
  EXPECT_THAT(seen, ElementsAre("level 5", "20 4 ok", "level 50", "50 2 ok", "50 3 ok", "70 1 ok", "closed 100"));
}

TEST_F(RecordOrder, ACutOffRunKeepsWhatHadBegun) {
  happened(1, 0, 40);   // ended
  happened(2, 10, 60);  // under way
  happened(3, 41, 60);  // not begun
  happened(4, 40, 40);  // at the very end, without length
  happened(5, 40, 41);  // would begin when the run ends
  stream.changed({.path = "q", .what = "depth", .time_ps = 41, .by = 1});
  stream.close(40);
  EXPECT_THAT(seen, ElementsAre("40 1 ok", "40 4 ok", "60 2 in_flight", "closed 40"));
}

std::string temporary(const char* name) {
  return (std::filesystem::temp_directory_path() / (std::string(name) + std::to_string(getpid()))).string();
}

TEST(CsvWriter, QuotesAndIdsReadBack) {
  const std::string file = temporary("tilevp_csv_");
  const std::map<unsigned, std::string> agents{{7, "core0.pe"}};
  Record record;
  record.is.id = id_of(7, 12) + 5;
  record.is.parent = id_of(7, 12);
  record.is.cause = id_of(9, 1);
  record.is.kind = "tile_read";
  record.is.bytes = UINT64_MAX;
  record.what = "sbuf[0..3, \"4\"]";
  {
    CsvWriter writer(file, agents);
    writer.record(record);
    writer.close(0);
  }
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  const auto list = test::CsvFile::parse(text.str());
  ASSERT_EQ(list.lines.size(), 1u);
  const auto& line = list.lines[0];
  EXPECT_EQ(line["id"], "core0.pe:12.5");
  EXPECT_EQ(line["parent"], "core0.pe:12");
  EXPECT_EQ(line["cause"], "9:1");  // nobody has that port
  EXPECT_EQ(line["what"], record.what);
  EXPECT_EQ(line.number("bytes"), UINT64_MAX);
}

TEST(OutputStream, AFailureIsReportedAgainAtTheEnd) {
  OutputStream out("/dev/full", OutputStream::Format::plain);
  out.write(std::string(100, 'x'));
  EXPECT_THROW(out.flush(), UserError);
  out.write("y");
  EXPECT_THROW(out.close(), UserError);
}

TEST(Tracks, WhatOverlapsTakesAnotherLane) {
  Tracks tracks;
  bool fresh = false;
  const unsigned process = tracks.process("memory", fresh);
  const auto lane = [&](std::uint64_t begin, std::uint64_t end) {
    return tracks.lane_name(tracks.place(process, "hbm", begin, end, fresh));
  };
  EXPECT_EQ(lane(0, 10), "hbm");
  EXPECT_EQ(lane(10, 20), "hbm");
  EXPECT_EQ(lane(19, 25), "hbm (2)");
  EXPECT_EQ(lane(19, 26), "hbm (3)");
  EXPECT_EQ(lane(25, 30), "hbm");
  EXPECT_FALSE(fresh);
}

}  // namespace
}  // namespace tilevp::platform
