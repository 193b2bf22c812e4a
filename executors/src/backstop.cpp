#include "backstop.hpp"

#include <basal/executors/executor_pool.hpp>

#include <pthread.h>

#include <string>

namespace basal::executors {

backstop::backstop(executor_pool& pool) noexcept : pool_(pool) {
}

void backstop::start() {
  seen_.resize(pool_.size());
  thread_ = std::thread{[this] { thread_main(); }};
  auto name = pool_.config().name + ".bs";
  pthread_setname_np(thread_.native_handle(), name.c_str());
}

backstop::~backstop() {
  stop();
}

void backstop::stop() {
  if (!thread_.joinable())
    return;
  {
    std::lock_guard guard{mutex_};
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void backstop::wake() noexcept {
  {
    std::lock_guard guard{mutex_};
    awake_.store(true, std::memory_order_seq_cst);
  }
  changed_.notify_one();
}

void backstop::thread_main() noexcept {
  std::unique_lock guard{mutex_};
  int quiet_ticks = 0;
  while (!stopping_) {
    if (!awake_.load(std::memory_order_relaxed)) { // written under the mutex
      changed_.wait(guard);
      quiet_ticks = 0;
      continue;
    }
    changed_.wait_for(guard, tick);
    for (std::size_t i = 0; i < pool_.size(); ++i)
      look_after(pool_.at(i), seen_[i]);
    if (!all_asleep()) {
      quiet_ticks = 0;
    } else if (++quiet_ticks == ticks_to_sleep) {
      awake_.store(false, std::memory_order_seq_cst);
      if (!all_asleep())
        awake_.store(true, std::memory_order_relaxed);
      quiet_ticks = 0;
    }
  }
}

bool backstop::all_asleep() const noexcept {
  return pool_.idle_.num_parked() == pool_.size();
}

void backstop::look_after(executor& e, snapshot& before) noexcept {
  if (e.attentive().load(std::memory_order_relaxed))
    e.raise_attention();
  snapshot now{e.counters_.tasks_run.get(), e.newest_.load(std::memory_order_relaxed)};
  if (now.newest != nullptr && now.newest == before.newest && now.tasks_run == before.tasks_run) {
    // The same task as at the last look.
    if (auto* object = e.newest_.exchange(nullptr, std::memory_order_acq_rel)) {
      work_item item{object, pool_.config().newest_ops};
      pool_.injection_.push_accepted({&item, 1});
      pool_.notify();
    }
  }
  before = now;
}

} // namespace basal::executors
