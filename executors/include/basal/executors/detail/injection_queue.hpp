#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory_resource>
#include <mutex>
#include <span>

#include <basal/executors/work_item.hpp>

namespace basal::executors {

/// A shared queue: FIFO, unbounded. A pool has one for work from outside and for what overflows an
/// executor's ring, and one for newborns that overflow. Any thread; a mutex held for a few
/// instructions; allocates when it grows past its largest size so far.
class injection_queue {
public:
  /// Appends `item`.
  /// @param ends_share whether a share ends with it: what comes behind it stays here
  /// @returns false when the queue is closed: the caller keeps the item.
  /// @throws std::bad_alloc when it cannot grow; nothing is lost then.
  bool push(work_item item, bool ends_share = false);

  /// Appends all of `items` in order. Works on a closed queue too: an
  /// executor's overflow was accepted long before.
  void push_accepted(std::span<const work_item> items);

  /// Takes the oldest item, or nothing.
  work_item pop() noexcept;

  /// Takes what comes to one of `takers` if all come: the oldest items, at least
  /// one if there is any, at most as many as fit into `out`, and none behind one that ends a share.
  /// @returns how many
  std::size_t pop_share(std::size_t takers, std::span<work_item> out) noexcept;

  /// No more push() from now on.
  void close() noexcept;

  /// Snapshot. Its seq_cst load makes it usable as the last look before sleep.
  bool empty() const noexcept {
    return size_.load(std::memory_order_seq_cst) == 0;
  }

  std::size_t size() const noexcept {
    return size_.load(std::memory_order_seq_cst);
  }

private:
  struct entry {
    work_item item;
    bool ends_share;
  };

  std::mutex mutex_;
  std::pmr::unsynchronized_pool_resource blocks_; ///< keeps what items_ has once needed
  std::pmr::deque<entry> items_{&blocks_};
  bool closed_ = false;

  /// Written under the mutex, read by anybody. The seq_cst store in push()
  /// pairs with the look before sleep (see idle_set).
  std::atomic<std::size_t> size_{0};
};

} // namespace basal::executors
