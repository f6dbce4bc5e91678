#include "tilevp/base/wait_board.hpp"

#include <algorithm>

namespace tilevp {

WaitBoard::Guard::Guard(WaitBoard& board, std::function<WaitingRecord()> describe) : board_(board) {
  if (board_.free_.empty()) {
    board_.free_.push_back(board_.entries_.size());
    board_.entries_.emplace_back();
  }
  index_ = board_.free_.back();
  board_.free_.pop_back();
  board_.entries_[index_] = std::move(describe);
}

WaitBoard::Guard::~Guard() {
  board_.entries_[index_] = nullptr;
  board_.free_.push_back(index_);
}

std::vector<WaitingRecord> WaitBoard::read() const {
  std::vector<WaitingRecord> records;
  for (const auto& describe : entries_)
    if (describe) records.push_back(describe());
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.who < b.who; });
  return records;
}

}  // namespace tilevp
