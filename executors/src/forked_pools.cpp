#include "forked_pools.hpp"

#include <basal/executors/executor_pool.hpp>

#include <pthread.h>

#include <mutex>
#include <vector>

namespace basal::executors {

namespace {

struct registry {
  std::mutex mutex;
  std::vector<executor_pool*> pools; ///< guarded by the mutex
};

/// Never destroyed: static pools end after whatever is made later than they.
registry& all() {
  static auto* const result = new registry;
  return *result;
}

} // namespace

void forked_pools::add(executor_pool& pool) {
  auto& r = all();
  static std::once_flag registered;
  std::call_once(registered, [] { pthread_atfork(&before_fork, &in_parent, &in_child); });
  std::lock_guard guard{r.mutex};
  r.pools.push_back(&pool);
}

void forked_pools::remove(executor_pool& pool) noexcept {
  auto& r = all();
  std::lock_guard guard{r.mutex};
  std::erase(r.pools, &pool);
}

void forked_pools::before_fork() noexcept {
  all().mutex.lock();
}

void forked_pools::in_parent() noexcept {
  all().mutex.unlock();
}

void forked_pools::in_child() noexcept {
  for (auto* pool : all().pools)
    pool->forked_.store(true, std::memory_order_relaxed); // no other thread is left
  all().mutex.unlock();
}

} // namespace basal::executors
