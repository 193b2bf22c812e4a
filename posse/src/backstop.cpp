#include "backstop.hpp"

#include <pthread.h>

namespace basal::posse {

runtime::backstop::backstop(runtime& host) : host_(host), thread_([this] { thread_main(); }) {
  pthread_setname_np(thread_.native_handle(), "basal.backstop");
}

runtime::backstop::~backstop() {
  {
    std::lock_guard guard{mutex_};
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void runtime::backstop::wake() noexcept {
  {
    std::lock_guard guard{mutex_};
    awake_.store(true, std::memory_order_relaxed);
  }
  changed_.notify_one();
}

void runtime::backstop::thread_main() noexcept {
  std::unique_lock guard{mutex_};
  int quiet_ticks = 0;
  while (!stopping_) {
    if (!awake_.load(std::memory_order_relaxed)) {
      changed_.wait(guard);
      quiet_ticks = 0;
      continue;
    }
    changed_.wait_for(guard, tick);
    if (raise_attention())
      quiet_ticks = 0;
    else if (++quiet_ticks == ticks_to_sleep)
      awake_.store(false, std::memory_order_relaxed);
  }
}

/// @returns whether any executor runs a member.
bool runtime::backstop::raise_attention() noexcept {
  bool result = false;
  auto pools = host_.pool_count_.load(std::memory_order_acquire);
  for (std::size_t p = 0; p < pools; ++p) {
    auto& pool = *host_.pools_[p];
    for (std::size_t i = 0; i < pool.size(); ++i) {
      auto& e = pool.at(i);
      if (e.attentive().load(std::memory_order_relaxed)) {
        result = true;
        e.raise_attention();
      }
    }
  }
  return result;
}

} // namespace basal::posse
