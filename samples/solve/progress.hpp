#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace solve {

/// Says on standard error how far long work is. On a terminal it is one line, which appears after
/// half a second, changes ten times a second and is wiped at the end; elsewhere a line every five
/// seconds. A thread of its own writes, so that the time is seen to pass while nothing is finished.
class progress {
public:
  /// @param what e.g. "solving"; @param units e.g. "right-hand sides"
  progress(std::string what, std::string units);
  ~progress();

  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// Any thread; costs a lock.
  void show(std::uint64_t done, std::uint64_t total);

private:
  using clock = std::chrono::steady_clock;

  void run();

  const std::string what_, units_;
  const bool terminal_;
  const clock::time_point start_ = clock::now();

  std::mutex mutex_;
  std::condition_variable ended_;
  std::uint64_t done_ = 0, total_ = 0; ///< guarded, as `end_`
  bool end_ = false;

  std::thread writer_; // last: it uses all of the above
};

/// "solving: 120 of 1000 right-hand sides (12 %), 3 s left"; before the first one
/// "solving: 0 of 1000 right-hand sides, 3 s so far"
std::string progress_text(const std::string& what, const std::string& units, std::uint64_t done,
                          std::uint64_t total, double seconds);

} // namespace solve
