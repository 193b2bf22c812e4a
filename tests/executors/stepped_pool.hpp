#pragma once

// Parts shared by the tests of stepped pools: a clock that they move, and events at a moment of
// their choice.

#include <basal/executors/executors.hpp>

#include "closure_task.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

inline std::uint64_t time_now = 0; ///< ticks

inline void pass(std::chrono::nanoseconds time) {
  time_now += basal::executors::tick_clock::to_ticks(time);
}

/// For a pool without threads whose clock moves only in pass().
inline basal::executors::pool_config stepped(std::size_t executors, std::uint64_t seed = 1) {
  time_now = basal::executors::tick_clock::to_ticks(std::chrono::seconds{1});
  basal::executors::pool_config config;
  config.name = "test";
  config.executors = executors;
  config.simulate = {.ticks = []() noexcept { return time_now; }, .seed = seed, .stepped = true};
  return config;
}

inline basal::executors::work_item nothing_special() {
  return task::make([](basal::executors::executor&) {});
}

inline std::size_t num_awake(const basal::executors::executor_pool& pool) {
  return pool.size() - pool.num_idle();
}

/// Runs `body` as a thread that is none of the pool's, and waits for its end.
inline void on_another_thread(std::function<void()> body) {
  std::thread{std::move(body)}.join();
}

/// A clock that moves by a microsecond whenever it is read, and what happens at a given reading.
struct restless_clock {
  static inline int readings = 0;
  static inline int action_at = -1;
  static inline std::function<void()> action;

  static std::uint64_t read() noexcept {
    if (++readings == action_at)
      on_another_thread(action);
    pass(std::chrono::microseconds{1});
    return time_now;
  }
};

/// Background work in the order of submission. Any thread.
///
/// An executor asks for it when it has found nothing else, the last thing before it enters the
/// idle set: what `at_next_take` does happens exactly there, once.
class pieces : public basal::executors::background_source {
public:
  explicit pieces(std::function<void()> action = nullptr) : at_next_take(std::move(action)) {
  }

  /// Set before the executors may ask, or where there are no threads.
  std::function<void()> at_next_take;

  bool add(basal::executors::work_item item) {
    std::lock_guard guard{mutex_};
    waiting_.push_back(item);
    size_.store(waiting_.size(), std::memory_order_seq_cst);
    return true;
  }

  basal::executors::work_item take(basal::executors::executor&) noexcept override {
    auto item = pop();
    if (auto action = std::exchange(at_next_take, nullptr))
      action();
    return item;
  }

  bool empty() const noexcept override {
    return size_.load(std::memory_order_seq_cst) == 0;
  }

  void close() noexcept override {
    ++times_closed;
  }

  void abandon() noexcept override {
    ++times_abandoned;
  }

  std::atomic<int> times_closed{0};
  std::atomic<int> times_abandoned{0};

private:
  basal::executors::work_item pop() {
    std::lock_guard guard{mutex_};
    if (waiting_.empty())
      return {};
    auto item = waiting_.front();
    waiting_.pop_front();
    size_.store(waiting_.size(), std::memory_order_seq_cst);
    return item;
  }

  std::mutex mutex_;
  std::deque<basal::executors::work_item> waiting_;
  std::atomic<std::size_t> size_{0};
};
