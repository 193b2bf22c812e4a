#pragma once

// Parts shared by the tests of background_pool.

#include <basal/executors/executor_pool.hpp>
#include <basal/priority/background_pool.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <latch>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace test {

using basal::executors::executor_pool;
using basal::priority::background_config;
using basal::priority::background_pool;
using basal::priority::level;
using basal::priority::task_key;
using namespace std::chrono_literals;

inline basal::executors::pool_config executors_config(std::size_t executors) {
  basal::executors::pool_config config;
  config.name = "test";
  config.executors = executors;
  return config;
}

/// Keeps an executor busy, its thread and all, until it is opened.
class blocker {
public:
  explicit blocker(background_pool& pool, level at = level::interactive) {
    pool.post({at, {}}, [this] {
      started_.count_down();
      opened_.wait();
      left_.count_down();
    });
    started_.wait();
  }

  ~blocker() {
    open();
    left_.wait();
  }

  void open() {
    if (!std::exchange(open_, true))
      opened_.count_down();
  }

private:
  bool open_ = false;
  std::latch started_{1}, opened_{1}, left_{1};
};

/// Tasks that ran, in their order.
class journal {
public:
  void note(int what) {
    std::lock_guard guard{mutex_};
    entries_.push_back(what);
  }

  std::vector<int> entries() const {
    std::lock_guard guard{mutex_};
    return entries_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<int> entries_;
};

} // namespace test
