#include "support/vcd_reader.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace tilevp::test {

class VcdParser {
 public:
  explicit VcdParser(const std::string& text) : stream_(text) {}

  VcdFile parse() {
    read_header();
    read_changes();
    if (!timed_) fail("no time at all");
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("VCD line " + std::to_string(line_) + ": " + what);
  }
  void require(bool condition, const std::string& what) const {
    if (!condition) fail(what);
  }

  bool next_line(std::vector<std::string>& words) {
    std::string text;
    if (!std::getline(stream_, text)) return false;
    ++line_;
    std::istringstream split(text);
    words.assign(std::istream_iterator<std::string>(split), {});
    return true;
  }

  void read_header() {
    std::vector<std::string> words;
    while (next_line(words)) {
      if (words.empty()) continue;
      require(words.back() == "$end", "a header line without $end");
      if (words[0] == "$enddefinitions") {
        require(scopes_.empty(), "an open $scope");
        require(!file_.timescale_.empty(), "no $timescale");
        return;
      }
      header_line(words);
    }
    fail("no $enddefinitions");
  }

  void header_line(const std::vector<std::string>& words) {
    if (words[0] == "$timescale") {
      file_.timescale_ = words.at(1);
    } else if (words[0] == "$scope") {
      require(words.size() == 4 && words[1] == "module", "expected $scope module NAME $end");
      scopes_.push_back(words[2]);
    } else if (words[0] == "$upscope") {
      require(!scopes_.empty(), "$upscope without $scope");
      scopes_.pop_back();
    } else if (words[0] == "$var") {
      declare(words);
    } else {
      require(words[0] == "$version" || words[0] == "$date" || words[0] == "$comment", "unknown keyword " + words[0]);
    }
  }

  void declare(const std::vector<std::string>& words) {
    require(words.size() == 6 || words.size() == 7, "expected $var KIND BITS CODE NAME [RANGE] $end");
    const auto bits = static_cast<unsigned>(std::stoul(words[2]));
    require(bits >= 1 && bits <= 64, "bits out of range");
    if (words.size() == 7)
      require(words[5] == "[" + std::to_string(bits - 1) + ":0]", "a range that does not fit the bits");
    std::string name;
    for (const auto& scope : scopes_) name += scope + ".";
    name += words[4];
    require(!file_.traces_.contains(name), "declared twice: " + name);
    require(codes_.emplace(words[3], name).second, "code used twice: " + words[3]);
    file_.traces_[name].bits = bits;
  }

  void read_changes() {
    std::vector<std::string> words;
    bool dumping = false;
    while (next_line(words)) {
      if (words.empty()) continue;
      const std::string& word = words[0];
      if (word[0] == '#') {
        set_time(std::stoull(word.substr(1)));
      } else if (word == "$dumpvars") {
        dumping = true;
      } else if (word == "$end") {
        require(std::exchange(dumping, false), "$end without $dumpvars");
        for (const auto& [name, trace] : file_.traces_) require(!trace.changes.empty(), "not in $dumpvars: " + name);
      } else {
        change(words);
      }
    }
    require(!dumping, "$dumpvars without $end");
  }

  void set_time(std::uint64_t time) {
    require(!timed_ || time > file_.end_ps_, "time does not go on: " + std::to_string(time));
    if (!timed_) file_.start_ps_ = time;
    timed_ = true;
    file_.end_ps_ = time;
  }

  void change(const std::vector<std::string>& words) {
    require(timed_, "a change before the first time");
    const bool vector = words[0][0] == 'b';
    require(words.size() == (vector ? 2U : 1U), "expected a value and a code");
    const std::string digits = vector ? words[0].substr(1) : words[0].substr(0, 1);
    const auto code = codes_.find(vector ? words[1] : words[0].substr(1));
    require(code != codes_.end(), "unknown code");
    auto& trace = file_.traces_.at(code->second);
    require(vector == (trace.bits > 1), "a value of the wrong width for " + code->second);
    require(!digits.empty() && digits.size() <= trace.bits, "digits beyond the width of " + code->second);
    std::optional<std::uint64_t> value;
    if (digits != "x") {
      require(digits.find_first_not_of("01") == std::string::npos, "digits other than 0, 1");
      value = std::stoull(digits, nullptr, 2);
    }
    require(trace.changes.empty() || trace.changes.back().time_ps < file_.end_ps_ || trace.changes.size() == 1,
            "two changes at one time of " + code->second);
    trace.changes.push_back({file_.end_ps_, value});
  }

  std::istringstream stream_;
  std::size_t line_ = 0;
  bool timed_ = false;
  std::vector<std::string> scopes_;
  std::map<std::string, std::string> codes_;
  VcdFile file_;
};

VcdFile VcdFile::parse(const std::string& text) { return VcdParser(text).parse(); }

VcdFile VcdFile::read(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + file);
  return parse({std::istreambuf_iterator<char>(stream), {}});
}

std::vector<std::string> VcdFile::names() const {
  std::vector<std::string> result;
  result.reserve(traces_.size());
  for (const auto& [name, trace] : traces_) result.push_back(name);
  return result;
}

const VcdTrace& VcdFile::trace(const std::string& name) const {
  const auto found = traces_.find(name);
  if (found == traces_.end()) throw std::runtime_error("no signal " + name);
  return found->second;
}

std::optional<std::uint64_t> VcdFile::value_at(const std::string& name, std::uint64_t time_ps) const {
  std::optional<std::uint64_t> value;
  for (const auto& change : trace(name).changes) {
    if (change.time_ps > time_ps) break;
    value = change.value;
  }
  return value;
}

std::size_t VcdFile::pulses(const std::string& name) const {
  std::size_t count = 0;
  bool high = false;
  for (const auto& change : trace(name).changes) {
    const bool now = change.value.value_or(0) != 0;
    if (now && !high) ++count;
    high = now;
  }
  return count;
}

std::uint64_t VcdFile::busy_ps(const std::string& name) const {
  const auto& changes = trace(name).changes;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::uint64_t until = i + 1 < changes.size() ? changes[i + 1].time_ps : end_ps_;
    if (changes[i].value.value_or(0) != 0) total += until - changes[i].time_ps;
  }
  return total;
}

std::size_t VcdFile::redundant_changes() const {
  std::size_t count = 0;
  for (const auto& [name, trace] : traces_)
    for (std::size_t i = 1; i < trace.changes.size(); ++i)
      if (trace.changes[i].value == trace.changes[i - 1].value) ++count;
  return count;
}

}  // namespace tilevp::test
