#pragma once

#include <atomic>
#include <memory>

#include <basal/executors/detail/collector.hpp>
#include <basal/executors/executor.hpp>

namespace basal::posse::detail {

/// A value for each executor that asks for it, made then. Its own thread alone uses it; all of them
/// ask at the same time.
template <class Value>
class per_executor {
public:
  struct place : executors::visible_to_collector {
    explicit place(const executors::executor& executor) noexcept : where(&executor) {
    }

    const executors::executor* where;
    place* next = nullptr;
    alignas(64) Value value{}; ///< all read what precedes it
  };

  per_executor() = default;

  per_executor(const per_executor&) = delete;
  per_executor& operator=(const per_executor&) = delete;

  ~per_executor() {
    for (auto* p = places_.load(std::memory_order_acquire); p != nullptr;) {
      const std::unique_ptr<place> gone{p};
      p = gone->next;
    }
  }

  /// That of `self`, on its thread. Costs a comparison for each executor that has asked, and no
  /// lock, unless it must be made.
  /// @throws std::bad_alloc
  place& at(const executors::executor& self) {
    auto* first = places_.load(std::memory_order_acquire);
    for (auto* p = first; p != nullptr; p = p->next)
      if (p->where == &self)
        return *p;
    // Only this thread adds one for this executor.
    auto added = std::make_unique<place>(self);
    do {
      added->next = first;
    } while (!places_.compare_exchange_weak(first, added.get(), std::memory_order_release,
                                            std::memory_order_acquire));
    return *added.release();
  }

  /// Calls `f(value)` for each. Executors' uses must happen before.
  template <class F>
  void for_each(F f) {
    for (auto* p = places_.load(std::memory_order_acquire); p != nullptr; p = p->next)
      f(p->value);
  }

private:
  /// Grows at its head, by any executor; places stay until the end. The release
  /// in at() makes `where` and `next` visible to the acquire loads.
  std::atomic<place*> places_{nullptr};
};

} // namespace basal::posse::detail
