#include "alarm.hpp"

#include <pthread.h>

#include <basal/executors/detail/assert.hpp>

namespace basal::executors {

alarm& alarm::instance() {
  static alarm result;
  return result;
}

alarm::alarm() : thread_([this] { run(); }) {
  pthread_setname_np(thread_.native_handle(), "basal.alarm");
}

alarm::~alarm() {
  {
    std::lock_guard guard{mutex_};
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void alarm::add(setting& s, clock::time_point deadline) {
  bool first = false;
  {
    std::lock_guard guard{mutex_};
    BASAL_ASSERT(!stopping_, "an alarm is not set when the program ends");
    BASAL_ASSERT(!s.gone_off, "an alarm that has gone off is not set again");
    s.at = settings_.emplace(deadline, &s);
    first = s.at == settings_.begin();
  }
  if (first)
    changed_.notify_one();
}

void alarm::remove(setting& s) noexcept {
  // The thread may wake once for a deadline that is gone: cheaper than a wake-up
  // for each removal.
  std::lock_guard guard{mutex_};
  if (!s.gone_off)
    settings_.erase(s.at);
}

void alarm::run() {
  std::unique_lock guard{mutex_};
  while (!stopping_) {
    if (settings_.empty()) {
      changed_.wait(guard);
    } else if (const auto next = settings_.begin()->first; clock::now() < next) {
      changed_.wait_until(guard, next);
    } else {
      auto& s = *settings_.begin()->second;
      settings_.erase(settings_.begin());
      s.gone_off = true;
      s.goes_off(s.context); // under the lock: its owner removes it before it goes
    }
  }
}

} // namespace basal::executors
