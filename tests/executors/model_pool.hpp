#pragma once

#include "model_support.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <span>

#include <basal/executors/detail/cpu_wish.hpp>
#include <basal/executors/detail/inbox.hpp>
#include <basal/executors/detail/sleepers.hpp>

namespace model {

using basal::executors::basic_cpu_wish;
using basal::executors::basic_idle_set;
using basal::executors::basic_inbox;
using basal::executors::basic_parker;
using basal::executors::basic_sleepers;
using basal::executors::inbox_list;
using basal::executors::inbox_node;

using cpu_wish = basic_cpu_wish<atomic>;
using parker = basic_parker<atomic<std::uint32_t>>;
using sleepers = basic_sleepers<basic_idle_set<atomic>, parker>;

/// As injection_queue: a mutex, a queue, and a size that anybody may look at.
class shared_queue {
public:
  bool push(int number) {
    std::lock_guard guard{mutex_};
    if (closed_)
      return false;
    append(number);
    return true;
  }

  void push_accepted(int number) {
    std::lock_guard guard{mutex_};
    append(number);
  }

  /// 0 when there is none.
  int pop() {
    std::array<int, 1> one;
    return pop_share(1, one) == 0 ? 0 : one[0];
  }

  /// @returns how many
  std::size_t pop_share(std::size_t takers, std::span<int> out) {
    std::lock_guard guard{mutex_};
    if (first_ == last_)
      return 0;
    auto waiting = static_cast<std::size_t>(last_ - first_);
    auto count = std::clamp<std::size_t>(waiting / takers, 1, out.size());
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = items_[static_cast<std::size_t>(first_)];
      first_ = first_ + 1;
    }
    size_.store(last_ - first_, std::memory_order_seq_cst);
    return count;
  }

  void close() {
    std::lock_guard guard{mutex_};
    closed_ = true;
  }

  bool empty() const {
    return size_.load(std::memory_order_seq_cst) == 0;
  }

private:
  void append(int number) {
    items_[static_cast<std::size_t>(last_)] = number;
    last_ = last_ + 1;
    size_.store(last_ - first_, std::memory_order_seq_cst);
  }

  basal::interleave::mutex mutex_;
  std::array<item, 16> items_;
  item first_, last_;
  plain<bool> closed_;
  atomic<int> size_;
};

/// Something addressed to one executor.
struct letter {
  inbox_node node;
  item number;

  explicit letter(int n) : number(n) {
    node.item.object = this;
  }
};

/// Differences between pools. The defaults are those of the runtime; bugs are put in by replacing
/// them.
struct sound {
  using sleepers_type = sleepers;
  using ring = basal::executors::run_queue<item, 4, atomic>;
  using inbox = basic_inbox<atomic>;

  /// Whether an executor looks at its queues again before it sleeps.
  static constexpr bool looks_again = true;

  /// Whether an executor that comes out of the idle set owes what a searcher owes.
  static constexpr bool searches_when_out = true;

  /// Whether an executor that sees the stop looks at the shared queue again.
  static constexpr bool leaves_with_look = true;

  /// How often a thief looks again at a ring with fewer than `many_items` before
  /// it takes from it: the time in pool_config::steal_after. 0: it does not wait.
  static constexpr int patience = 0;
  static constexpr std::uint32_t many_items = 3;

  /// Whether who goes to sleep, or ends the last search, counts items that a
  /// thief would leave to their owner.
  static constexpr bool last_look_sees_few = true;

  /// Whether stop() wakes those who sleep.
  static constexpr bool stop_wakes = true;

  /// Whether only executor 0 has a thread from the start.
  static constexpr bool begins_unborn = false;

  /// Which executors get no thread, bit by bit.
  static constexpr unsigned without_thread = 0;

  /// CPUs that its executors share with one of another pool; 0: there are always enough.
  static constexpr std::size_t cpus = 0;

  /// Whether stop() waits for the backstop before executors may leave.
  static constexpr bool stop_waits_for_backstop = true;
};

/// As sound; each executor's thread but the first begins when it is first claimed.
struct unborn : sound {
  static constexpr bool begins_unborn = true;
};

/// And executor 1 gets none.
struct refused : unborn {
  static constexpr unsigned without_thread = 0b10;
};

/// As sound, with thieves that wait.
struct patient : sound {
  static constexpr int patience = 2;
};

/// As sound, with two CPUs, of which another pool's executor has one at first.
struct sharing : sound {
  static constexpr std::size_t cpus = 2;
};

/// executor_pool and executor, reduced to what takes part in the protocols: the
/// order in which queues, idle set and stop flag are touched is that of
/// executor.cpp and executor_pool.cpp. Items and letters are numbers; the loop
/// hands them to the test.
template <std::size_t Executors, class Parts = sound>
class pool {
public:
  struct executor {
    std::size_t index;
    bool searching = false;
    int suspended = 0;
    inbox_list pinned;
  };

  pool() : idle(make_idle(this)) {
    if constexpr (Parts::begins_unborn)
      idle.begin(0, [this] { make_thread(this, 0); });
  }

  // -- outside ----------------------------------------------------------------

  bool submit(int number) {
    if (!injection_.push(number))
      return false;
    notify();
    return true;
  }

  void deliver(std::size_t index, letter& l) {
    inboxes_[index].push(l.node);
    idle.wake(index);
  }

  /// As claim_idle() and deliver_claimed().
  bool offer(letter& l) {
    auto index = idle.claim();
    if (!index)
      return false;
    check((Parts::without_thread >> *index & 1) == 0, "a letter to an executor without a thread");
    inboxes_[*index].push(l.node);
    idle.wake_claimed(*index);
    return true;
  }

  void stop() {
    injection_.close();
    if (Parts::stop_waits_for_backstop)
      while (backstop_busy.load(std::memory_order_acquire) != 0)
        backstop_busy.futex_wait(1);
    stopping_.store(true, std::memory_order_seq_cst);
    for (std::size_t i = 0; i < Executors && Parts::stop_wakes; ++i)
      if (idle.dismiss(i))
        ++dismissed;
  }

  /// One look of the backstop, at an executor whose task takes long, and its
  /// end.
  void backstop_look(std::size_t index) {
    if (auto number = newest_[index].exchange(0, std::memory_order_acq_rel)) {
      injection_.push_accepted(number);
      notify();
    }
    backstop_busy.store(0, std::memory_order_release);
    backstop_busy.futex_wake_one(&backstop_busy);
  }

  /// The other pool's executor goes to sleep.
  void end_elsewhere() {
    elsewhere_.store(0, std::memory_order_seq_cst);
    if (wish_.is_there() && wish_.take() && work_for_searchers())
      notify();
  }

  // -- on an executor ---------------------------------------------------------

  void push_back(executor& self, int number) {
    if (!rings_[self.index].push_back(number))
      injection_.push_accepted(number);
    notify();
  }

  void push_newest(executor& self, int number) {
    if (auto older = newest_[self.index].exchange(number, std::memory_order_acq_rel))
      push_back(self, older);
  }

  /// The loop; `work(executor&, number)` runs an item or letter. Returns when
  /// the pool has stopped.
  template <class Work>
  void run_executor(std::size_t index, Work work) {
    executor self{.index = index, .pinned = {}};
    if (Parts::begins_unborn)
      be_born(self);
    for (;;) {
      if (auto number = next(self)) {
        work(self, number);
        continue;
      }
      if (stopping_.load(std::memory_order_seq_cst) && self.suspended == 0
          && inboxes_[index].empty() && (!Parts::leaves_with_look || injection_.empty()))
        break;
      park(self);
    }
    found(self);
    num_left.fetch_add(1, std::memory_order_relaxed);
  }

  // -- afterwards -------------------------------------------------------------

  /// Everybody sleeps, nobody is believed to search, nothing waits.
  void expect_at_rest() {
    for (std::size_t i = 0; i < Executors; ++i)
      check(rings_[i].empty() && inboxes_[i].empty(), "work waits, and everybody sleeps");
    check(injection_.empty(), "work waits, and everybody sleeps");
    check(idle.num_awake() == 0, "a sleeping executor is not in the idle set");
    check(idle.num_searching() == 0, "nobody searches, but somebody is counted");
    check(idle.num_coming() == 0, "nobody is coming, but somebody is counted");
  }

  /// After stop(): all that were born have left, and nobody is born later.
  void expect_all_left() {
    std::size_t born = 0;
    for (auto& each : born_)
      born += each.load(std::memory_order_relaxed);
    check(!Parts::begins_unborn || num_left.load(std::memory_order_relaxed) == born,
          "an executor that was born has not left");
    check(!Parts::begins_unborn
            || born + dismissed + num_refused.load(std::memory_order_relaxed) == Executors,
          "an executor is neither born nor dismissed nor refused");
  }

  typename Parts::sleepers_type idle;

  atomic<std::size_t> num_left{0};
  atomic<std::size_t> num_refused{0};
  std::size_t dismissed = 0; ///< by stop()

  /// 1 from the start in scenarios with a backstop, until it has ended.
  atomic<std::uint32_t> backstop_busy{0};

private:
  static typename Parts::sleepers_type make_idle(pool* self) {
    using sleepers_type = typename Parts::sleepers_type;
    if constexpr (Parts::begins_unborn)
      return sleepers_type{Executors, {self, &make_thread}};
    else
      return sleepers_type{Executors};
  }

  /// The test has a thread for each executor, which waits for this.
  static bool make_thread(void* self, std::size_t index) noexcept {
    auto& mine = *static_cast<pool*>(self);
    if ((Parts::without_thread >> index & 1) != 0) {
      mine.num_refused.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    auto& born = mine.born_[index];
    check(born.exchange(1, std::memory_order_acq_rel) == 0, "an executor is born twice");
    born.futex_wake_one(&born);
    return true;
  }

  void be_born(executor& self) {
    auto& born = born_[self.index];
    while (born.load(std::memory_order_acquire) == 0)
      born.futex_wait(0);
    idle.sleep(self.index);
    self.searching = true;
  }

  int next(executor& self) {
    auto number = next_own(self);
    return number != 0 ? number : next_shared(self);
  }

  int next_own(executor& self) {
    auto i = self.index;
    if (newest_[i].load(std::memory_order_relaxed) != 0)
      if (auto number = newest_[i].exchange(0, std::memory_order_acq_rel))
        return found(self, number);
    item number;
    if (rings_[i].pop_front(number))
      return found(self, number);
    if (!inboxes_[i].empty())
      inboxes_[i].take_all(self.pinned);
    if (auto* node = self.pinned.pop_front())
      return found(self, static_cast<letter*>(node->item.object)->number);
    return 0;
  }

  int next_shared(executor& self) {
    if (auto number = pop_injected(self))
      return number;
    if (Executors == 1)
      return 0;
    if (!self.searching) {
      if (!idle.start_searching())
        return 0;
      self.searching = true;
    }
    item number;
    for (std::size_t i = 1; i < Executors; ++i) {
      auto& ring = rings_[(self.index + i) % Executors];
      if (!leaves_to_owner(self, ring) && ring.steal_into(rings_[self.index], number).count > 0)
        return found(self, number);
    }
    // After its patience with an executor that runs one and the same item.
    for (std::size_t i = 1; i < Executors && Parts::patience > 0; ++i) {
      auto& slot = newest_[(self.index + i) % Executors];
      if (slot.load(std::memory_order_relaxed) != 0)
        if (auto newest = slot.exchange(0, std::memory_order_acq_rel))
          return found(self, newest);
    }
    return pop_injected(self);
  }

  bool leaves_to_owner(executor& self, const typename Parts::ring& ring) {
    if (Parts::patience == 0)
      return false;
    for (int looks = 0; !ring.empty(); ++looks) {
      if (ring.size() >= Parts::many_items)
        return false;
      if (!inboxes_[self.index].empty() || !injection_.empty()
          || stopping_.load(std::memory_order_relaxed))
        return true;
      if (looks == Parts::patience)
        return false;
    }
    return true;
  }

  int pop_injected(executor& self) {
    if (injection_.empty())
      return 0;
    auto& ring = rings_[self.index];
    std::array<int, ring_capacity> share;
    auto count = injection_.pop_share(Executors, {share.data(), ring.empty() ? share.size() : 1});
    if (count == 0)
      return 0;
    for (std::size_t i = 1; i < count; ++i)
      check(ring.push_back(share[i]), "an empty ring has no room for a share");
    if (count > 1)
      notify();
    return found(self, share[0]);
  }

  int found(executor& self, int number = 0) {
    if (self.searching) {
      self.searching = false;
      idle.stop_searching([this] { return work_for_searchers() && !waits_for_cpu(); });
    }
    return number;
  }

  bool work_for_searchers() {
    if (!injection_.empty())
      return true;
    if (idle.num_searching() != 0)
      return false;
    for (auto& each : rings_)
      if (each.size() >= (Parts::last_look_sees_few ? 1 : Parts::many_items))
        return true;
    return false;
  }

  void notify() {
    if (!waits_for_cpu())
      idle.notify();
  }

  bool waits_for_cpu() {
    if (Parts::cpus == 0 || !idle.would_wake() || idle.num_awake() == 0)
      return false;
    return !wish_.ask([this] {
      return idle.num_awake() + elsewhere_.load(std::memory_order_seq_cst) < Parts::cpus;
    });
  }

  bool must_stay_awake(executor& self) {
    if (!inboxes_[self.index].empty() || work_for_searchers())
      return true;
    return stopping_.load(std::memory_order_seq_cst) && self.suspended == 0;
  }

  void park(executor& self) {
    auto searching = std::exchange(self.searching, false);
    auto must_sleep = idle.prepare_sleep(
      self.index, searching, [&] { return Parts::looks_again && must_stay_awake(self); });
    if (must_sleep)
      idle.sleep(self.index);
    self.searching = true;
    if (!Parts::searches_when_out) {
      self.searching = false;
      idle.stop_searching([] { return false; });
    }
  }

  static constexpr std::size_t ring_capacity = Parts::ring::capacity;

  std::array<typename Parts::ring, Executors> rings_;
  std::array<typename Parts::inbox, Executors> inboxes_;
  std::array<atomic<int>, Executors> newest_;
  std::array<atomic<std::uint32_t>, Executors> born_;
  shared_queue injection_;
  cpu_wish wish_;
  atomic<std::size_t> elsewhere_{1}; ///< executors of another pool that run
  atomic<bool> stopping_{false};
};

} // namespace model
