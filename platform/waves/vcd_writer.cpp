#include "tilevp/platform/waves/vcd_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "tilevp/base/errors.hpp"

namespace tilevp::platform {

VcdWriter::VcdWriter(const std::string& file, const VcdOptions& options) : file_(file), options_(options) {
  descriptor_ = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw UserError(file_, std::string("cannot write: ") + std::strerror(errno));
}

VcdWriter::~VcdWriter() { emergency_close(); }

unsigned VcdWriter::declare(std::string_view name, unsigned bits, SignalKind kind, std::optional<std::uint64_t> initial,
                            std::span<const ValueName> names) {
  const std::string path = vcd_name(name);
  if (started_) throw Defect("signal '" + path + "' declared after the first flush of " + file_);
  if (bits < 1 || bits > 64)
    throw Defect("signal '" + path + "' of " + std::to_string(bits) + " bits, expected 1 to 64");
  const auto id = static_cast<unsigned>(signals_.size());
  if (!ids_.emplace(path, id).second) throw Defect("signal '" + path + "' declared twice");
  signals_.push_back({.name = path, .bits = bits, .kind = kind, .names = names});
  State state;
  state.mask = ~std::uint64_t{0} >> (64 - bits);
  state.known = initial.has_value();
  state.value = initial.value_or(0);
  state.tail = (bits > 1 ? " " : "") + vcd_code(id) + '\n';
  states_.push_back(std::move(state));
  return id;
}

void VcdWriter::record(unsigned id, std::uint64_t time_ps, std::uint64_t value) {
  if (time_ps < flushed_ps_)
    throw Defect("signal '" + signals_.at(id).name + "' recorded at " + std::to_string(time_ps) +
                 " ps, waves are written up to " + std::to_string(flushed_ps_) + " ps");
  if ((value & ~states_.at(id).mask) != 0)
    throw Defect("signal '" + signals_[id].name + "' of " + std::to_string(signals_[id].bits) + " bits set to " +
                 std::to_string(value));
  heap_.push_back({time_ps, sequence_++, value, id});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

void VcdWriter::flush_before(std::uint64_t now_ps) {
  if (!started_) start();
  if (now_ps > flushed_ps_) flushed_ps_ = now_ps;
  drain(flushed_ps_, false);
}

void VcdWriter::close(std::uint64_t end_ps) {
  if (descriptor_ < 0) return;
  if (!started_) start();
  drain(end_ps, true);
  const std::uint64_t last = std::min(std::max(end_ps, flushed_ps_), options_.to_ps);
  if (!dumping_) begin_dump(std::min(options_.from_ps, last));
  if (!written_ps_ || last > *written_ps_) append_time(last);
  write_out();
  if (::close(std::exchange(descriptor_, -1)) != 0)
    throw UserError(file_, std::string("cannot write: ") + std::strerror(errno));
}

void VcdWriter::emergency_close() noexcept {
  try {
    close(flushed_ps_);
  } catch (...) {
    // The disk may be full: what was written before stays readable.
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
}

void VcdWriter::start() {
  started_ = true;
  out_ = vcd_header(signals_);
  write_out();
}

void VcdWriter::drain(std::uint64_t end_ps, bool inclusive) {
  while (!heap_.empty() && (heap_.front().time_ps < end_ps || (inclusive && heap_.front().time_ps == end_ps))) {
    const Record record = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
    if (record.time_ps != instant_ps_) {
      finish_instant();
      instant_ps_ = record.time_ps;
    }
    State& state = states_[record.id];
    state.next = record.value;
    if (std::exchange(state.touched, true)) continue;
    touched_.push_back(record.id);
  }
  finish_instant();
}

void VcdWriter::finish_instant() {
  if (touched_.empty()) return;
  const bool shown = instant_ps_ >= options_.from_ps && instant_ps_ <= options_.to_ps;
  if (shown && !dumping_) begin_dump(options_.from_ps);
  for (const unsigned id : touched_) {
    State& state = states_[id];
    state.touched = false;
    if (instant_ps_ > options_.to_ps || (state.known && state.value == state.next)) continue;
    state.value = state.next;
    state.known = true;
    if (!shown) continue;
    append_time(instant_ps_);
    append_value(state);
    auto& changes = signals_[id].changes;
    if (!changes) changes = VcdChanges{.first_ps = instant_ps_};
    changes->last_ps = instant_ps_;
  }
  touched_.clear();
  if (out_.size() >= options_.flush_bytes) write_out();
}

void VcdWriter::begin_dump(std::uint64_t time_ps) {
  dumping_ = true;
  append_time(time_ps);
  out_ += "$dumpvars\n";
  for (const State& state : states_) append_value(state);
  out_ += "$end\n";
}

void VcdWriter::append_time(std::uint64_t time_ps) {
  if (written_ps_ == time_ps) return;
  written_ps_ = time_ps;
  std::array<char, 24> digits{};
  out_ += '#';
  out_.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), time_ps).ptr);
  out_ += '\n';
}

void VcdWriter::append_value(const State& state) {
  const bool vector = state.mask != 1;
  if (vector) out_ += 'b';
  if (!state.known) {
    out_ += 'x';
  } else {
    std::array<char, 64> digits;
    const int count = std::max(1, static_cast<int>(std::bit_width(state.value)));
    for (int i = 0; i < count; ++i)
      digits[static_cast<std::size_t>(i)] = static_cast<char>('0' + (state.value >> (count - 1 - i) & 1));
    out_.append(digits.data(), static_cast<std::size_t>(count));
  }
  out_ += state.tail;
}

void VcdWriter::write_out() {
  std::string_view rest = out_;
  while (!rest.empty()) {
    const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno != EINTR) throw UserError(file_, std::string("cannot write: ") + std::strerror(errno));
    if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
  }
  out_.clear();
}

}  // namespace tilevp::platform
