#pragma once

#include <cstddef>
#include <thread>

#include <basal/executors/completion.hpp>
#include <basal/executors/executor_pool.hpp>

/// Wakes each of the first `count` executors of an idle pool once, so that they have threads, and
/// waits until they are idle again.
inline void begin_threads(basal::executors::executor_pool& pool, std::size_t count) {
  using namespace basal::executors;
  static constexpr work_ops ops{
    [](void* object, executor&) noexcept { static_cast<completion*>(object)->set(); },
    nullptr,
  };
  for (std::size_t i = 0; i < count; ++i) {
    while (!pool.claim_idle(i))
      std::this_thread::yield();
    completion ran;
    inbox_node letter{nullptr, {&ran, &ops}};
    pool.deliver_claimed(pool.at(i), letter);
    ran.wait();
  }
  while (pool.num_idle() < pool.size())
    std::this_thread::yield();
}

/// All of them.
inline void begin_threads(basal::executors::executor_pool& pool) {
  begin_threads(pool, pool.size());
}
