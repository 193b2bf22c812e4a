#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include <basal/solver/errors.hpp>

namespace basal::solver {

/// Kinds of events.
enum class event_kind : std::uint8_t {
  solve_started,
  solve_completed, ///< with a result, whichever its state
  solve_failed,    ///< with an error
  batch_started,
  batch_completed,
  concurrency_limit_reached, ///< a solve found no permit: it waits, or fails next
};

/// "solve_started" etc.
std::string_view to_string(event_kind kind) noexcept;

/// Something that happened to a solve or a batch. For one of either the events
/// come in the order in which it lives.
struct solve_event {
  event_kind kind = event_kind::solve_started; ///< which fields below say something depends on it
  std::uint64_t id = 0;                        ///< of the solve, or of the batch; both count from 1
  std::uint64_t count = 0;                     ///< batch: its requests; limit: permits in use
  std::uint64_t limit = 0;                     ///< concurrency_limit_reached: the permits there are
  std::chrono::nanoseconds elapsed{0};         ///< solve: from permit to result; batch: all of it
  bool converged = false;                      ///< solve_completed
  std::optional<errc> error = {};              ///< solve_failed

  friend bool operator==(const solve_event&, const solve_event&) = default;
};

/// An answer to a subscriber: an event, or the number of those that it lost just before the next
/// one because it was slow.
struct received {
  std::uint64_t lost = 0;           ///< events that gave way; 0: none
  std::optional<solve_event> event; ///< if `lost` is 0
};

/// A place where events of one publisher arrive, up to a bound: then the oldest
/// give way, as in tokio's broadcast channel. So the publisher never waits and
/// its memory is bounded. Any thread; the mutex is held for a few instructions.
class subscription {
public:
  subscription(const subscription&) = delete;
  subscription& operator=(const subscription&) = delete;

  /// The next event or loss; nothing if there is none now.
  std::optional<received> try_next();

  /// Events that gave way so far.
  std::uint64_t lost() const noexcept {
    return lost_total_.load(std::memory_order_relaxed);
  }

  static constexpr std::size_t default_capacity = 1024; ///< events that may wait

private:
  friend class event_bus;

  subscription(std::size_t capacity, std::function<void()> on_event)
    : ring_(capacity), on_event_(std::move(on_event)) {
  }

  /// @returns whether an event gave way.
  bool push(const solve_event& e);

  std::mutex mutex_;
  std::vector<solve_event> ring_;
  std::uint64_t read_ = 0;    ///< number of the next event to read; guarded, as all above
  std::uint64_t written_ = 0; ///< number of the next event to come
  std::uint64_t lost_ = 0;    ///< not yet reported
  std::atomic<std::uint64_t> lost_total_{0}; ///< relaxed: statistics
  const std::function<void()> on_event_;
};

/// The bus of a batch_solver's events. Any thread. Without subscribers an event costs a load.
class event_bus {
public:
  /// Events from now on, until the subscription is dropped.
  /// @param capacity events that may wait, at least 1
  /// @param on_event called after an event arrived while none waited, on the
  ///        publisher's thread: short, no solving, no exception.
  /// @throws error{bad_option}
  std::shared_ptr<subscription> subscribe(std::size_t capacity = subscription::default_capacity,
                                          std::function<void()> on_event = {});

  /// Appends `e` to every subscription, and calls their `on_event`. For the solver.
  /// @throws std::bad_alloc
  void publish(const solve_event& e);

  /// Whether an event would reach anybody. Relaxed.
  bool has_subscribers() const noexcept {
    return subscribers_.load(std::memory_order_relaxed) > 0;
  }

  /// Of all subscriptions, those that are gone included.
  std::uint64_t lost() const noexcept {
    return lost_.load(std::memory_order_relaxed);
  }

private:
  using list = std::vector<std::weak_ptr<subscription>>;

  std::mutex mutex_;
  std::shared_ptr<const list> list_ = std::make_shared<list>(); ///< replaced, never changed

  /// Size of the list. Relaxed: who subscribes while events are published gets
  /// them from some point on.
  std::atomic<std::size_t> subscribers_{0};
  std::atomic<std::uint64_t> lost_{0}; ///< relaxed: statistics
};

} // namespace basal::solver
