#pragma once

#include <stdexcept>

namespace basal::priority {

/// Thrown to who waits for a task that was cancelled before it began.
class task_cancelled : public std::runtime_error {
public:
  task_cancelled();
};

/// Thrown to who waits for a task that had not begun when its pool was shut
/// down with stop_mode::discard, or when the deadline of a drain had passed.
class task_discarded : public std::runtime_error {
public:
  task_discarded();
};

/// Thrown to who submits to a pool that takes no more: it was shut down, or its
/// executors stop.
class pool_closed : public std::runtime_error {
public:
  pool_closed();
};

/// Thrown to a submitter when the queue is full and the policy is to reject, or to wait no longer
/// than `patience`.
class queue_full : public std::runtime_error {
public:
  /// @param limit the queue's bound, in tasks
  explicit queue_full(std::size_t limit);
};

} // namespace basal::priority
