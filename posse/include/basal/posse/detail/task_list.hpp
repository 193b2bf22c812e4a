#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include <basal/executors/detail/collector.hpp>
#include <basal/posse/fwd.hpp>

namespace basal::posse::detail {

/// A task that has not begun, in a list.
class any_task {
public:
  any_task() = default;
  any_task(const any_task&) = delete;
  any_task& operator=(const any_task&) = delete;
  virtual ~any_task() = default;

  /// Does it as part of `m`, and all that it spawns, and ends the object, in an exception, too.
  virtual void run_and_end(member& m) = 0;
};

/// The tasks of a group, in the order in which they begin. The first few lie in the list itself,
/// which is on a stack; others in chunks, each twice as large as the one before. A task in memory
/// of its own took twice as long to be made, begun and ended. Not thread-safe, but for what order()
/// says.
class task_list {
public:
  task_list() noexcept = default;
  task_list(const task_list&) = delete;
  task_list& operator=(const task_list&) = delete;

  ~task_list() {
    if (count_ != 0 || newest_ != nullptr)
      release_all();
  }

  std::size_t size() const noexcept {
    return count_;
  }

  /// The tasks. Whoever begins one leaves a null pointer: then the list does not end it. Different
  /// threads may begin different ones.
  any_task** order() noexcept {
    return order_;
  }

  /// Constructs a task behind the others.
  /// @throws std::bad_alloc, any exception of the constructor: nothing has changed then
  template <class Task, class... Arguments>
  void emplace_back(Arguments&&... arguments) {
    if (count_ == room_) [[unlikely]]
      make_room();
    if (std::align(alignof(Task), sizeof(Task), free_, free_bytes_) == nullptr) [[unlikely]]
      add_chunk(sizeof(Task), alignof(Task));
    order_[count_] = ::new (free_) Task(std::forward<Arguments>(arguments)...);
    ++count_;
    free_ = static_cast<std::byte*>(free_) + sizeof(Task);
    free_bytes_ -= sizeof(Task);
  }

  /// Ends the tasks that nobody has begun. Keeps a chunk for more.
  void clear() noexcept;

private:
  struct chunk;

  void make_room();

  /// The next task goes where it has room for it.
  void add_chunk(std::size_t bytes, std::size_t alignment);
  void release_all() noexcept;
  static void release(chunk* newest) noexcept;

  // Room for eight tasks that hold up to four words each. With a collected heap a chunk takes a
  // lock that all threads share.
  static constexpr std::size_t near_tasks = 8;
  static constexpr std::size_t near_bytes = near_tasks * 5 * sizeof(void*);

  alignas(std::max_align_t) std::array<std::byte, near_bytes> near_;
  std::array<any_task*, near_tasks> near_order_; ///< those in use; others have no value
  any_task** order_ = near_order_.data();
  std::size_t count_ = 0;
  std::size_t room_ = near_tasks;       ///< tasks that order_ has room for
  std::unique_ptr<any_task*[]> many_;   ///< order_, if it is not near_order_
  void* free_ = near_.data();           ///< where the next task goes,
  std::size_t free_bytes_ = near_bytes; ///< if it has room there
  chunk* newest_ = nullptr;
};

} // namespace basal::posse::detail
