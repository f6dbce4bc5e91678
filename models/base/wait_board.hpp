#pragma once
// Who waits for what since when: the story told when a run does not reach its end (exit code 4).
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tilevp/base/errors.hpp"

namespace tilevp {

// One agent that is blocked.
struct WaitingRecord {
  std::string who;   // hierarchical name of the agent, with the instruction it is at
  std::string what;  // what it waits for: "semaphore 12 of core0"
  std::uint64_t since_ps = 0;
  std::string has;    // the present value
  std::string wants;  // the value it needs
};

// The end was not reached: deadlock, starvation or the time limit.
class NoEnd : public Error {
 public:
  NoEnd(const std::string& message, std::vector<WaitingRecord> waiting)
      : Error(Outcome::no_end, message), waiting_(std::move(waiting)) {}
  const std::vector<WaitingRecord>& waiting() const { return waiting_; }

 private:
  std::vector<WaitingRecord> waiting_;
};

class WaitBoard {
 public:
  // While alive, the agent counts as blocked. `describe` is called only when the board is read. Nothing is allocated
  // here but what std::function needs: capture one pointer.
  class Guard {
   public:
    Guard(WaitBoard& board, std::function<WaitingRecord()> describe);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    WaitBoard& board_;
    std::size_t index_;
  };

  // The agents blocked now, ordered by name.
  std::vector<WaitingRecord> read() const;

 private:
  std::vector<std::function<WaitingRecord()>> entries_;
  std::vector<std::size_t> free_;
};

}  // namespace tilevp
