#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/collector.hpp>
#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/fwd.hpp>

namespace basal::posse::detail {

/// A task that has not begun, in a list.
class any_task : public executors::visible_to_collector {
public:
  any_task() = default;
  any_task(const any_task&) = delete;
  any_task& operator=(const any_task&) = delete;
  virtual ~any_task() = default;

  /// Does it as part of `m`, and all that it spawns.
  virtual void run(member& m) = 0;

  any_task* next = nullptr;
};

/// Owns its tasks, in the order in which they begin. Not thread-safe.
class task_list {
public:
  task_list() = default;

  task_list(task_list&& other) noexcept
    : first_(std::exchange(other.first_, nullptr)),
      last_(std::exchange(other.last_, nullptr)),
      count_(std::exchange(other.count_, 0)) {
  }

  task_list& operator=(task_list&&) = delete;

  ~task_list() {
    while (count_ != 0)
      pop_front();
  }

  std::size_t size() const noexcept {
    return count_;
  }

  void push_back(std::unique_ptr<any_task> task) noexcept {
    BASAL_ASSERT(task != nullptr, "a list holds tasks");
    auto* added = task.release();
    (count_ == 0 ? first_ : last_->next) = added;
    last_ = added;
    ++count_;
  }

  /// Of a list that is not empty.
  std::unique_ptr<any_task> pop_front() noexcept {
    BASAL_ASSERT(count_ != 0, "an empty list has no first task");
    std::unique_ptr<any_task> result{first_};
    first_ = result->next;
    --count_;
    return result;
  }

private:
  any_task* first_ = nullptr;
  any_task* last_ = nullptr; ///< if there is one
  std::size_t count_ = 0;
};

} // namespace basal::posse::detail
