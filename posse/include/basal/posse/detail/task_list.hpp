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

  /// Takes over `count` tasks, `first` and those that are linked to it.
  task_list(any_task* first, std::size_t count) noexcept : first_(first), count_(count) {
    BASAL_ASSERT((first != nullptr) == (count != 0), "a list of tasks has as many as it says");
  }

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

  /// Only to a list that began empty.
  void push_back(std::unique_ptr<any_task> task) noexcept {
    BASAL_ASSERT(task != nullptr, "a list holds tasks");
    BASAL_ASSERT(count_ == 0 || last_ != nullptr, "tasks are added to a list that began empty");
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

  /// The task that `index` others come before, which is walked to.
  any_task* at(std::size_t index) const noexcept {
    BASAL_ASSERT(index < count_, "the index of a task is below the list's size");
    auto* task = first_;
    while (index-- != 0)
      task = task->next;
    return task;
  }

  /// Somebody else owns all but the first `count`.
  void shorten_to(std::size_t count) noexcept {
    BASAL_ASSERT(count <= count_, "a list becomes shorter");
    count_ = count;
  }

private:
  any_task* first_ = nullptr;
  any_task* last_ = nullptr; ///< of a list that began empty
  std::size_t count_ = 0;
};

} // namespace basal::posse::detail
