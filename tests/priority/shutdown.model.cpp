// The life of a background pool under controlled schedules: submit, run, cancel
// and shut down at the same time. Whatever was accepted ends exactly once, no
// shutdown returns before that, and nobody hangs.
//
// Gate, queue, task word and sleepers are the code that ships; what stands here
// is the order in which background_pool.cpp and executor.cpp use them.

#include "model_support.hpp"

using namespace model;
using basal::priority::task_state;

namespace {

constexpr int tasks = 3;

/// Differences from the pool that ships: bugs are put in by changing them.
struct sound {
  static constexpr bool looks_before_sleep = true; ///< executors, at the queue
  static constexpr bool counts_queued = true;      ///< a task is inside before it is queued
  static constexpr bool claims = true;             ///< run and cancel agree who was first
};

template <class Parts = sound>
class pool {
public:
  explicit pool(std::size_t executors, std::size_t parts)
    : queue_{{.capacity = 8, .parts = parts, .refresh = 1}}, idle_{executors} {
  }

  void run_executor(std::size_t index) {
    queue::consumer c{queue_, index};
    bool searching = false;
    for (;;) {
      if (auto t = queue_.try_pop(c)) {
        if (searching)
          idle_.stop_searching([&] { return !queue_.empty(); });
        searching = false;
        end(*t, discarding_.load(std::memory_order_relaxed) ? task_state::discarded
                                                            : task_state::running);
        continue;
      }
      if (idle_.prepare_sleep(index, searching,
                              [&] { return Parts::looks_before_sleep && !queue_.empty(); }))
        idle_.sleep(index);
      searching = true;
    }
  }

  /// @returns whether the task was accepted
  bool submit(int t, std::size_t home) {
    if (Parts::counts_queued && !gate_.enter())
      return false;
    check(queue_.try_push(t, t, home), "no room");
    if (!Parts::counts_queued && !gate_.enter())
      return false;
    idle_.notify();
    return true;
  }

  /// @returns whether it will not run
  bool cancel(int t) {
    if (!words_[at(t)].claim(task_state::cancelled))
      return words_[at(t)].get() == task_state::cancelled;
    note_end(t);
    return true;
  }

  void shutdown(bool drain) {
    if (gate_.close())
      all_ended_.set();
    if (!drain) {
      discarding_.store(true, std::memory_order_relaxed);
      queue::consumer c{queue_, 0};
      while (auto t = queue_.try_pop(c))
        end(*t, task_state::discarded);
    }
    all_ended_.wait();
    check(gate_.inside() == 0, "has ended while tasks are inside");
  }

  task_state state(int t) {
    return words_[at(t)].get();
  }

  void expect_ended_once(int t, bool accepted) {
    check(ended_[at(t)] == (accepted ? 1 : 0), accepted ? "did not end once:" : "ended:", t);
  }

  /// Written by the tasks, each read by a thread that has seen its task end.
  std::array<plain<int>, tasks + 1> results;

private:
  static std::size_t at(int t) {
    return static_cast<std::size_t>(t);
  }

  void end(int t, task_state how) {
    auto& word = words_[at(t)];
    if (word.claim(how)) {
      if (how == task_state::running) {
        results[at(t)] = t;
        word.finish(task_state::done);
      }
      note_end(t);
    } else if (!Parts::claims) {
      note_end(t);
    }
    if (gate_.leave())
      all_ended_.set();
  }

  void note_end(int t) {
    check(++ended_[at(t)] == 1, "ended twice:", t);
  }

  queue queue_;
  sleepers idle_;
  basal::priority::detail::basic_gate<atomic> gate_;
  std::array<basal::priority::detail::basic_task_word<atomic>, tasks + 1> words_;
  atomic<bool> discarding_{false};
  signal all_ended_;
  std::array<int, tasks + 1> ended_{};
};

/// `submitters` threads submit one task each, from an own one on; one is
/// cancelled, and the pool is shut down meanwhile.
template <class Parts = sound>
scenario shutdown_meets_submit(std::size_t executors, int submitters, bool drain, bool cancels) {
  return [=](run& r) {
    pool<Parts> p{executors, executors};
    std::array<bool, tasks + 1> accepted{};
    for (std::size_t i = 0; i < executors; ++i)
      r.thread(
        "executor " + std::to_string(i), [&, i] { p.run_executor(i); }, true);
    for (int t = 1; t <= submitters; ++t)
      r.thread("submitter " + std::to_string(t), [&, t] {
        accepted[static_cast<std::size_t>(t)] = p.submit(t, static_cast<std::size_t>(t));
        if (cancels && t == 1 && accepted[1])
          check(p.cancel(1) || p.state(1) != task_state::queued, "neither cancelled nor begun");
      });
    r.thread("shutdown", [&] {
      p.shutdown(drain);
      for (int t = 1; t <= submitters; ++t)
        if (p.state(t) == task_state::done)
          check(p.results[static_cast<std::size_t>(t)] == t, "does not see the result of", t);
    });
    r.go();
    for (int t = 1; t <= submitters; ++t)
      p.expect_ended_once(t, accepted[static_cast<std::size_t>(t)]);
    if (drain && !cancels)
      for (int t = 1; t <= submitters; ++t)
        check(!accepted[static_cast<std::size_t>(t)] || p.state(t) == task_state::done,
              "was accepted, but a drain did not run it:", t);
  };
}

/// A shutdown after another one returns at once.
scenario two_shutdowns() {
  return [](run& r) {
    pool<> p{1, 1};
    std::array<bool, 2> accepted{};
    r.thread(
      "executor", [&] { p.run_executor(0); }, true);
    r.thread("submitter", [&] { accepted[1] = p.submit(1, 0); });
    r.thread("drain", [&] { p.shutdown(true); });
    r.go();
    p.shutdown(false); // after the first: returns at once
    p.expect_ended_once(1, accepted[1]);
  };
}

struct no_last_look : sound {
  static constexpr bool looks_before_sleep = false;
};
struct queued_before_counted : sound {
  static constexpr bool counts_queued = false;
};
struct nobody_claims : sound {
  static constexpr bool claims = false;
};

} // namespace

TEST_CASE("shutdown: drain") {
  verify("drain, 1 executor", shutdown_meets_submit(1, 2, true, false),
         {.preemptions = 2, .anomalies = 0});
  verify("drain, 1 executor and task", shutdown_meets_submit(1, 1, true, false));
  verify("drain, 2 executors", shutdown_meets_submit(2, 2, true, false),
         {.preemptions = 1, .anomalies = 0});
  verify("drain, cancel", shutdown_meets_submit(1, 2, true, true),
         {.preemptions = 2, .anomalies = 0});
}

TEST_CASE("shutdown: discard") {
  verify("discard, 1 executor", shutdown_meets_submit(1, 2, false, false),
         {.preemptions = 2, .anomalies = 0});
  verify("discard, 2 executors", shutdown_meets_submit(2, 2, false, false),
         {.preemptions = 1, .anomalies = 0});
  verify("discard, cancel", shutdown_meets_submit(1, 1, false, true));
}

TEST_CASE("shutdown: twice") {
  verify("drain, then discard", two_shutdowns());
}

TEST_CASE("shutdown: bugs that were put in are caught") {
  expect_failure("bug: no look before sleep",
                 shutdown_meets_submit<no_last_look>(1, 1, true, false), "sleeps for ever");
  expect_failure("bug: queued, then counted",
                 shutdown_meets_submit<queued_before_counted>(1, 1, true, false), "");
  expect_failure("bug: cancelled and run", shutdown_meets_submit<nobody_claims>(1, 1, true, true),
                 "ended twice");
}
