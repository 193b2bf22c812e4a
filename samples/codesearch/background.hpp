#pragma once

#include <basal/actors/run_pure.hpp>
#include <basal/priority/background_pool.hpp>

#include <caf/actor_system.hpp>

#include <chrono>
#include <utility>

namespace codesearch {

/// Kinds of work in the background, and their urgency:
///
/// - a query's search is interactive, the lines that it shows are normal;
/// - merges and rankings are batch work: queries get by without them.
///
/// All of it comes after the indexing of texts, which is offloaded.
namespace background {

using basal::priority::level;
using basal::priority::task_handle;
using basal::priority::task_key;

inline constexpr basal::priority::task_options search{level::interactive, task_key{"search"}};
inline constexpr basal::priority::task_options show{level::normal, task_key{"show"}};
inline constexpr basal::priority::task_options merge{level::batch, task_key{"merge"}};
inline constexpr basal::priority::task_options rank{level::batch, task_key{"rank"}};

inline basal::priority::background_pool& pool_of(caf::actor_system& system) {
  return basal::priority::background_pool::of(basal::actors::runtime_of(system).compute());
}

/// The result of `task`, which does `work()`; if no executor has begun it, the caller does it. So
/// somebody who waits is not kept waiting by executors that have more to do than they can.
template <class T, class Work>
T get_or_do(basal::priority::background_pool& pool, task_handle<T> task, Work&& work) {
  // Enough for a sleeping executor to wake up and begin, where a hypervisor has a part in it.
  constexpr std::chrono::microseconds wake_up{1000};
  const bool begins = pool.executors().any_idle() && task.wait_for(wake_up);
  if (!begins && task.cancel()) {
    return std::forward<Work>(work)();
  }
  return task.get();
}

} // namespace background

} // namespace codesearch
