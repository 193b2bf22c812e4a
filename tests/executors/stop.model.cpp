// Stopping a pool under controlled schedules: every executor leaves, and what
// was accepted has run.

#include "model_pool.hpp"

using namespace model;

namespace {

/// A producer submits `items`, a third thread stops the pool meanwhile. Item 1
/// pushes two more.
template <std::size_t Executors, class Parts = sound>
scenario stop_meets_submit(int items) {
  return [=](run& r) {
    pool<Executors, Parts> p;
    tally<8> seen;
    int accepted = 0;
    for (std::size_t i = 0; i < Executors; ++i)
      r.thread(
        "executor " + std::to_string(i),
        [&, i] {
          p.run_executor(i, [&](auto& self, int number) {
            seen.see(number);
            if (number == 1) {
              p.push_newest(self, 7);
              p.push_newest(self, 8);
            }
          });
        },
        Parts::begins_unborn);
    r.thread("producer", [&] {
      for (int k = 1; k <= items && p.submit(k); ++k)
        accepted = k;
    });
    r.thread("stopper", [&] { p.stop(); });
    r.go();
    seen.expect_all(accepted);
    p.expect_all_left();
    check(p.idle.num_parked() == 0, "an executor that has left is in the idle set");
    check(p.idle.num_searching() == 0, "nobody searches, but somebody is counted");
  };
}

/// A letter to an executor, which may have no thread yet or get none, while the pool stops.
template <class Parts>
scenario stop_meets_letter() {
  return [](run& r) {
    pool<2, Parts> p;
    tally<1> seen;
    letter one{1};
    atomic<int> delivered{0};
    for (std::size_t i = 0; i < 2; ++i)
      r.thread(
        "executor " + std::to_string(i),
        [&, i] { p.run_executor(i, [&](auto&, int number) { seen.see(number); }); }, true);
    r.thread("sender", [&] {
      if (p.offer(one))
        delivered.store(1, std::memory_order_relaxed);
    });
    r.thread("stopper", [&] { p.stop(); });
    r.go();
    seen.expect_all(delivered.load(std::memory_order_relaxed));
    p.expect_all_left();
  };
}

/// Item 1 suspends its fiber; a letter from outside ends that wait, before the
/// stop or after it.
template <std::size_t Executors>
scenario stop_meets_suspended() {
  return [](run& r) {
    pool<Executors> p;
    tally<2> seen;
    letter resume{2};
    atomic<std::uint32_t> waits_on; // 1 + the executor whose fiber waits
    auto waiting_executor = [&] {
      std::uint32_t found = 0;
      while ((found = waits_on.load(std::memory_order_acquire)) == 0)
        waits_on.futex_wait(0);
      waits_on.futex_wake_one(&waits_on); // the other one who waits for this
      return found - 1;
    };
    for (std::size_t i = 0; i < Executors; ++i)
      r.thread("executor " + std::to_string(i), [&, i] {
        p.run_executor(i, [&](auto& self, int number) {
          seen.see(number);
          if (number == 1) {
            ++self.suspended;
            waits_on.store(static_cast<std::uint32_t>(self.index + 1), std::memory_order_release);
            waits_on.futex_wake_one(&waits_on);
          } else {
            check(self.suspended == 1, "resumed on another executor");
            --self.suspended;
          }
        });
      });
    r.thread("waker", [&] {
      p.submit(1);
      p.deliver(waiting_executor(), resume);
    });
    r.thread("stopper", [&] {
      waiting_executor(); // item 1 has been accepted by then
      p.stop();
    });
    r.go();
    seen.expect_all();
    check(p.idle.num_searching() == 0, "nobody searches, but somebody is counted");
  };
}

/// The backstop moves what a long task left in its executor's newest-first
/// slot, while the pool stops.
scenario stop_meets_backstop() {
  return [](run& r) {
    pool<1> p;
    tally<2> seen;
    p.backstop_busy.store(1);
    p.submit(1);
    r.thread("executor", [&] {
      p.run_executor(0, [&](auto& self, int number) {
        seen.see(number);
        if (number == 1)
          p.push_newest(self, 2);
      });
    });
    r.thread("backstop", [&] { p.backstop_look(0); });
    r.thread("stopper", [&] { p.stop(); });
    r.go();
    seen.expect_all();
  };
}

} // namespace

TEST_CASE("stop: what was accepted runs, and nobody hangs") {
  verify("stop, 1 executor", stop_meets_submit<1>(2));
  verify("stop, 2 executors", stop_meets_submit<2>(2), {.preemptions = 1});
  verify("stop, 2 executors, thieves at slots", stop_meets_submit<2, patient>(1),
         {.preemptions = 1, .anomalies = 0});
  verify("stop, 3 executors", stop_meets_submit<3>(2), {.preemptions = 0, .anomalies = 0});
}

TEST_CASE("stop: executors that were never woken get no thread, and nobody waits for them") {
  verify("stop, 1 unborn of 2 executors", stop_meets_submit<2, unborn>(2),
         {.preemptions = 1, .anomalies = 0});
  verify("stop, 1 refused of 2 executors", stop_meets_submit<2, refused>(2),
         {.preemptions = 1, .anomalies = 0});
  verify("stop, a claim of an unborn executor", stop_meets_letter<unborn>(),
         {.preemptions = 1, .anomalies = 0});
  verify("stop, a claim of an executor that is refused", stop_meets_letter<refused>(),
         {.preemptions = 1, .anomalies = 0});
}

TEST_CASE("stop: an executor with a suspended fiber waits for it") {
  verify("stop, suspended, 1 executor", stop_meets_suspended<1>(), {.anomalies = 0});
  verify("stop, suspended, 2 executors", stop_meets_suspended<2>(),
         {.preemptions = 1, .anomalies = 0});
}

TEST_CASE("stop: what the backstop has in hand is not left behind") {
  verify("stop, backstop", stop_meets_backstop());
}
