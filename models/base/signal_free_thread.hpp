#pragma once
// Threads that take no signal: a handler runs on the thread that started them, one signal after the other.
#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace tilevp {

// A thread inherits the mask of the one that starts it. What a fault of its own raises (SIGSEGV) is not held back.
template <class Function>
std::thread signal_free_thread(Function&& function) {
  sigset_t all, before;
  sigfillset(&all);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, own);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::forward<Function>(function));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace tilevp
