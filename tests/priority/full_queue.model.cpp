// A full queue under controlled schedules: who waits for room gets in or is told
// of the shutdown, once, and nobody sleeps for ever.
//
// Queue, gate and parker are the code that ships; what stands here is the order
// in which background_pool.cpp uses them.

#include "model_support.hpp"

#include <mutex>

using namespace model;

namespace {

/// Differences from the pool that ships: bugs are put in by changing them.
struct sound {
  static constexpr bool looks_again = true;      ///< a submitter that waits, for room
  static constexpr bool looks_at_closed = true;  ///< a submitter that waits, before it sleeps
  static constexpr bool admits_after_pop = true; ///< executors
};

template <class Parts = sound>
class pool {
public:
  explicit pool(int capacity) : queue_{{.capacity = static_cast<std::size_t>(capacity)}} {
  }

  /// As enqueue(). @returns whether it was accepted
  bool submit(int t) {
    if (!gate_.enter())
      return false;
    if (queue_.try_push(t, t, 0) || wait_for_room(t))
      return true;
    gate_.leave();
    return false;
  }

  /// As discard_queued(), which admits nobody. @returns 0 when there is none
  int discard() {
    queue::consumer c{queue_, 0};
    return queue_.try_pop(c).value_or(0);
  }

  /// As take(). @returns 0 when there is none
  int take() {
    const auto t = queue_.try_pop(consumer_);
    if (Parts::admits_after_pop && waiting_.load(std::memory_order_relaxed) != 0)
      admit_waiting();
    return t.value_or(0);
  }

  void close() {
    gate_.close();
    std::lock_guard guard{door_mutex_};
    for (auto& e : door_)
      if (e.here)
        wake(e);
  }

private:
  struct entry {
    bool here = false;
    bool admitted = false;
    atomic<std::uint32_t> claimed{0};
    basal::executors::basic_parker<atomic<std::uint32_t>> sleeper;
  };

  bool wait_for_room(int t) {
    auto& self = door_[static_cast<std::size_t>(t)];
    {
      std::lock_guard guard{door_mutex_};
      self.here = true;
      waiting_.store(++count_, std::memory_order_relaxed);
    }
    if (Parts::looks_again)
      admit_waiting();
    if (Parts::looks_at_closed) {
      std::lock_guard guard{door_mutex_};
      if (gate_.closed())
        wake(self);
    }
    self.sleeper.park();
    std::lock_guard guard{door_mutex_};
    if (self.admitted)
      return true;
    self.here = false;
    waiting_.store(--count_, std::memory_order_relaxed);
    return false;
  }

  void admit_waiting() {
    std::lock_guard guard{door_mutex_};
    for (std::size_t t = 1; t < door_.size(); ++t) {
      auto& e = door_[t];
      if (!e.here)
        continue;
      if (!queue_.try_push(static_cast<double>(t), static_cast<int>(t), 0))
        break;
      e.here = false;
      e.admitted = true;
      --count_;
      wake(e);
    }
    waiting_.store(count_, std::memory_order_relaxed);
  }

  static void wake(entry& e) {
    if (e.claimed.exchange(1, std::memory_order_acq_rel) == 0)
      e.sleeper.unpark();
  }

  queue queue_;
  queue::consumer consumer_{queue_, 0};
  basal::priority::detail::basic_gate<atomic> gate_;
  basal::interleave::mutex door_mutex_;
  atomic<std::uint32_t> waiting_{0};
  std::array<entry, 4> door_;
  std::uint32_t count_ = 0; ///< under the mutex
};

/// Threads beside the submitters.
enum class by { an_executor, an_executor_and_shutdown, abandon };

/// `submitters` tasks for a queue of `capacity`. An executor takes until all have
/// submitted; a shutdown discards what it finds; a pool that is abandoned has no
/// executor any more, and discards until all who were inside have left.
template <class Parts = sound>
scenario submit_more_than_fits(std::uint32_t submitters, int capacity, by whom) {
  return [=](run& r) {
    pool<Parts> p{capacity};
    std::array<int, 4> seen{};
    std::array<bool, 4> accepted{};
    atomic<std::uint32_t> ended{0};
    auto until_all_ended = [&](auto take) {
      for (;;) {
        const auto before = ended.load(std::memory_order_seq_cst);
        bool found = false;
        while (const int t = take()) {
          found = true;
          check(++seen[static_cast<std::size_t>(t)] == 1, "came out twice:", t);
        }
        if (!found && before == submitters)
          return;
        if (!found)
          ended.futex_wait(before);
      }
    };
    for (std::uint32_t t = 1; t <= submitters; ++t)
      r.thread("submitter " + std::to_string(t), [&, t] {
        accepted[t] = p.submit(static_cast<int>(t));
        ended.fetch_add(1, std::memory_order_seq_cst);
        atomic<std::uint32_t>::futex_wake_one(&ended);
      });
    if (whom != by::abandon)
      r.thread("executor", [&] { until_all_ended([&] { return p.take(); }); });
    if (whom == by::abandon)
      r.thread("abandon", [&] {
        p.close();
        until_all_ended([&] { return p.discard(); });
      });
    if (whom == by::an_executor_and_shutdown)
      r.thread("shutdown", [&] {
        p.close();
        while (const int t = p.discard())
          check(++seen[static_cast<std::size_t>(t)] == 1, "came out twice:", t);
      });
    r.go();
    for (std::size_t t = 1; t <= submitters; ++t) {
      const auto number = static_cast<std::int64_t>(t);
      check(seen[t] == (accepted[t] ? 1 : 0),
            accepted[t] ? "is lost:" : "refused, but ran:", number);
      check(accepted[t] || whom != by::an_executor, "refused without reason:", number);
    }
  };
}

struct no_second_look : sound {
  static constexpr bool looks_again = false;
};
struct no_look_at_closed : sound {
  static constexpr bool looks_at_closed = false;
};
struct forgets_the_door : sound {
  static constexpr bool admits_after_pop = false;
};

} // namespace

TEST_CASE("full queue: who waits gets in") {
  verify("full queue, 1 place", submit_more_than_fits(3, 1, by::an_executor),
         {.preemptions = 1, .anomalies = 0});
  verify("full queue, 2 places", submit_more_than_fits(3, 2, by::an_executor),
         {.preemptions = 1, .anomalies = 0});
}

TEST_CASE("full queue: who waits gets in or is told of the end") {
  verify("full queue, shutdown", submit_more_than_fits(2, 1, by::an_executor_and_shutdown),
         {.preemptions = 1, .anomalies = 0});
  verify("full queue, abandon", submit_more_than_fits(2, 1, by::abandon),
         {.preemptions = 2, .anomalies = 0});
}

TEST_CASE("full queue: bugs that were put in are caught") {
  expect_failure("bug: waits without a look for room",
                 submit_more_than_fits<no_second_look>(2, 1, by::an_executor), "sleeps for ever",
                 {.preemptions = 2, .anomalies = 0});
  expect_failure("bug: waits without a look whether it is closed",
                 submit_more_than_fits<no_look_at_closed>(2, 1, by::abandon), "sleeps for ever",
                 {.preemptions = 2, .anomalies = 0});
  expect_failure("bug: a pop admits nobody",
                 submit_more_than_fits<forgets_the_door>(2, 1, by::an_executor), "sleeps for ever",
                 {.preemptions = 2, .anomalies = 0});
}
