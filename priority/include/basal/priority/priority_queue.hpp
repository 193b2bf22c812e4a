#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <basal/executors/detail/assert.hpp>
#include <basal/priority/detail/futex_lock.hpp>
#include <basal/priority/detail/order_heap.hpp>

namespace basal::priority {

/// The shape of a priority_queue.
struct queue_shape {
  std::size_t capacity = 4096; ///< values that it holds, at least 1
  std::size_t parts = 1;       ///< heaps, each behind its own lock; 1: exact order

  /// By how much a pop may prefer the part at hand over an earlier value
  /// elsewhere; in units of the key, at least 0.
  double slack = 0;

  /// A consumer looks at all parts once in this number of pops; at least 1.
  std::uint32_t refresh = 16;

  static constexpr std::size_t most_parts = 4096; ///< largest `parts`

  /// @throws std::invalid_argument naming the field, its value and its range
  void validate() const;
};

/// A bounded priority queue for many producers and many consumers: the least key
/// first, first in first out among equal keys.
///
/// With one part that order is exact. With more, producers push to the part at
/// hand, and a consumer takes from its own as long as that is near enough: then
/// threads that mostly take what they pushed share no cache line most of the
/// time. By how much the order is relaxed is bounded. Say a consumer *looks* when
/// it reads the least keys of all parts, which it does before every `refresh`-th
/// of its pops, and keeps what it saw. Then:
///
/// 1. A pop takes y only if key(y) <= key(x) + slack for every x that was in the
///    queue when this consumer last looked, and still is.
/// 2. The first pop after a look uses no slack: key(y) <= key(x).
///
/// So a value is overtaken by others that are more than `slack` behind it at most
/// `refresh - 1` times by each consumer, right after it was pushed and never
/// again, and with slack == 0 and refresh == 1 only while it is being pushed.
/// Equal keys are in order within a part; a consumer takes turns among parts at
/// its looks, so none of them waits for ever.
///
/// This is not the MultiQueue (Rihani, Sanders, Dementiev, SPAA 2015; Williams,
/// Sanders, Dementiev, ESA 2021), from which parts and stickiness are taken. That
/// one bounds ranks, in expectation, by choosing parts at random, and lets
/// consumers keep values in private buffers; a task that waits in the buffer of
/// an executor which runs a long one could be overtaken without bound.
///
/// Locks are held for a few instructions; any thread. Allocates when a part grows
/// past its largest size so far. `Atomic` and `Lock` are template parameters so
/// that tests can run the same code under a controlled scheduler.
template <class T, template <class> class Atomic = std::atomic, class Lock = detail::futex_lock>
class basic_priority_queue {
public:
  /// One consumer's view of the parts. Not shared by threads.
  class consumer {
  public:
    /// Allocates a key for each part. `queue` must outlive it.
    /// @param queue the queue from which it will take
    /// @param home the part that it prefers, modulo the number of parts
    /// @throws std::bad_alloc
    consumer(const basic_priority_queue& queue, std::size_t home)
      : home_(home % queue.shape_.parts), turn_(home_), seen_(queue.shape_.parts, no_key) {
    }

  private:
    friend class basic_priority_queue;

    std::size_t home_;
    std::size_t turn_;            ///< the part that wins ties at the next look
    std::uint32_t pops_left_ = 0; ///< until the next look
    std::vector<double> seen_;    ///< least keys: never above those of what was there
  };

  /// More parts than `shape.capacity` are not made.
  /// @throws std::invalid_argument see queue_shape::validate
  explicit basic_priority_queue(queue_shape shape)
    : shape_(validated(shape)), parts_(std::make_unique<part[]>(shape_.parts)) {
    for (std::size_t i = 0; i < shape_.parts; ++i)
      parts_[i].capacity = shape_.capacity / shape_.parts + (i < shape_.capacity % shape_.parts);
  }

  /// Adds `value`, to part `home` (modulo their number) or, if that is full, to
  /// another one.
  /// @param key not a NaN and not infinite
  /// @returns false when all parts are full; `value` is lost then
  /// @throws std::bad_alloc when a part cannot grow
  bool try_push(double key, T value, std::size_t home) {
    BASAL_ASSERT(key < no_key && key > -no_key, "a key is a finite number");
    home %= shape_.parts;
    for (std::size_t i = 0; i < shape_.parts; ++i) {
      auto& p = parts_[(home + i) % shape_.parts];
      std::lock_guard guard{p.lock};
      if (p.heap.size() == p.capacity)
        continue;
      p.heap.push(key, std::move(value));
      p.size.store(p.heap.size(), std::memory_order_relaxed);
      // seq_cst: see empty().
      if (key < p.least.load(std::memory_order_relaxed))
        p.least.store(key, std::memory_order_seq_cst);
      return true;
    }
    return false;
  }

  /// Takes the first value, or one that is near enough: see above.
  /// @returns nothing when the queue is empty
  std::optional<T> try_pop(consumer& c) noexcept {
    BASAL_ASSERT(c.seen_.size() == shape_.parts, "a consumer takes from the queue it was made for");
    if (shape_.parts == 1)
      return pop_from(parts_[0], no_key);
    for (;;) {
      const auto looks = c.pops_left_ == 0;
      if (looks)
        look(c);
      const auto [from, limit] = choose(c, looks);
      if (c.seen_[from] == no_key) {
        c.pops_left_ = 0; // the next pop looks again
        if (looks)
          return {};
        continue;
      }
      if (auto value = pop_from(parts_[from], limit)) {
        --c.pops_left_;
        c.seen_[from] = parts_[from].least.load(std::memory_order_relaxed);
        return value;
      }
      // Others have taken what was seen there. Still below what is there now:
      c.seen_[from] = parts_[from].least.load(std::memory_order_acquire);
      if (looks)
        c.pops_left_ = 0; // the pop after a look has yet to come
    }
  }

  /// Removes those for which `matches(value)`, which is called under a lock.
  /// O(capacity). @returns how many.
  template <class Predicate>
  std::size_t erase_if(Predicate matches) noexcept {
    std::size_t removed = 0;
    for (std::size_t i = 0; i < shape_.parts; ++i) {
      auto& p = parts_[i];
      std::lock_guard guard{p.lock};
      removed += p.heap.erase_if(matches);
      p.size.store(p.heap.size(), std::memory_order_relaxed);
      publish_least(p);
    }
    return removed;
  }

  /// A snapshot; usable as the last look before sleep. Its seq_cst loads pair with
  /// the store of the push that made a part non-empty.
  bool empty() const noexcept {
    for (std::size_t i = 0; i < shape_.parts; ++i)
      if (parts_[i].least.load(std::memory_order_seq_cst) != no_key)
        return false;
    return true;
  }

  /// A snapshot. Relaxed: statistics.
  std::size_t size() const noexcept {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < shape_.parts; ++i)
      sum += parts_[i].size.load(std::memory_order_relaxed);
    return sum;
  }

  /// The shape that the queue was made with. Constant.
  const queue_shape& shape() const noexcept {
    return shape_;
  }

private:
  static constexpr double no_key = std::numeric_limits<double>::infinity();

  /// One cache line for the lock and what it protects, one for what others read.
  struct part {
    alignas(64) Lock lock;
    std::size_t capacity = 0;
    detail::order_heap<T> heap;

    /// Written under the lock. Least: at most the key of every value in the heap,
    /// infinite when there is none.
    alignas(64) Atomic<double> least{no_key};
    Atomic<std::size_t> size{0};
  };

  static queue_shape validated(queue_shape shape) {
    shape.validate();
    shape.parts = std::min(shape.parts, shape.capacity);
    return shape;
  }

  void look(consumer& c) noexcept {
    for (std::size_t i = 0; i < shape_.parts; ++i)
      c.seen_[i] = parts_[i].least.load(std::memory_order_acquire);
    c.pops_left_ = shape_.refresh;
    c.turn_ = (c.turn_ + 1) % shape_.parts;
  }

  /// @returns where to pop, and the greatest key that may be popped there
  std::pair<std::size_t, double> choose(consumer& c, bool exact) noexcept {
    // Its own part changes by its own pushes most of the time, so this is cheap.
    c.seen_[c.home_] = parts_[c.home_].least.load(std::memory_order_acquire);
    std::size_t best = exact ? c.turn_ : c.home_;
    for (std::size_t i = 0; i < shape_.parts; ++i)
      if (c.seen_[i] < c.seen_[best])
        best = i;
    const auto slack = exact ? 0.0 : shape_.slack;
    if (!exact && c.seen_[c.home_] != no_key && c.seen_[c.home_] <= c.seen_[best] + slack)
      best = c.home_;
    auto limit = no_key;
    for (std::size_t i = 0; i < shape_.parts; ++i)
      if (i != best)
        limit = std::min(limit, c.seen_[i]);
    return {best, limit + slack};
  }

  std::optional<T> pop_from(part& p, double limit) noexcept {
    std::lock_guard guard{p.lock};
    if (p.heap.empty() || p.heap.least_key() > limit)
      return {};
    std::optional<T> value{p.heap.pop()};
    p.size.store(p.heap.size(), std::memory_order_relaxed);
    publish_least(p);
    return value;
  }

  /// Release: who reads "empty" sees the pop. Only a push must be seen before a
  /// sleep.
  static void publish_least(part& p) noexcept {
    p.least.store(p.heap.empty() ? no_key : p.heap.least_key(), std::memory_order_release);
  }

  const queue_shape shape_;
  const std::unique_ptr<part[]> parts_;
};

template <class T>
using priority_queue = basic_priority_queue<T>;

} // namespace basal::priority
