#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace basal::executors {

/// Ends waits when their deadlines have passed. One thread for the process,
/// made when somebody first waits with a deadline; it sleeps while nobody does,
/// and until the first deadline otherwise. Any thread.
class alarm {
public:
  using clock = std::chrono::steady_clock;

  /// @throws std::system_error when the kernel refuses the thread
  static alarm& instance();

  ~alarm();

  alarm(const alarm&) = delete;
  alarm& operator=(const alarm&) = delete;

  struct setting;
  using settings = std::multimap<clock::time_point, setting*>;

  /// A function to call at a deadline; lives in the waiting frame.
  struct setting {
    /// Called once, under the alarm's mutex: must be short, and neither throw
    /// nor add or remove a setting.
    void (*goes_off)(void* context) noexcept;
    void* context;
    settings::iterator at = {}; ///< valid until it has gone off
    bool gone_off = false;
  };

  /// Calls `s.goes_off` at `deadline`, unless it is removed before.
  /// @throws std::bad_alloc
  void add(setting& s, clock::time_point deadline);

  /// Afterwards `s` is not touched any more, and has gone off or never will.
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

} // namespace basal::executors
