#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include <basal/priority/detail/event.hpp>

namespace basal::priority::detail {

/// Wakes waiters when their deadlines have passed. One thread for the process,
/// made when somebody first waits with a deadline; it sleeps while nobody does,
/// and until the first deadline otherwise. Any thread.
class alarm {
public:
  /// @throws std::system_error when the kernel refuses the thread
  static alarm& instance();

  ~alarm();

  alarm(const alarm&) = delete;
  alarm& operator=(const alarm&) = delete;

  struct setting;
  using settings = std::multimap<clock::time_point, setting*>;

  /// Whom to wake; lives in the waiting frame.
  struct setting {
    waiter& who;
    settings::iterator at = {}; ///< valid until it has gone off
    bool gone_off = false;
  };

  /// Wakes `s.who` at `deadline`, unless it is removed before.
  /// @throws std::bad_alloc
  void add(setting& s, clock::time_point deadline);

  /// Afterwards neither `s` nor its waiter is touched any more.
  void remove(setting& s) noexcept;

private:
  alarm();

  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  settings settings_; ///< those that have not gone off
  std::thread thread_;
};

} // namespace basal::priority::detail
