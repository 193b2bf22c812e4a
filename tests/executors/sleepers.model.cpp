// Going to sleep and being woken, under controlled schedules: no item waits
// beside sleeping executors, and when all have come to rest the counts agree.

#include "model_pool.hpp"

using namespace model;

namespace {

/// Executors that run for ever, and `producers` threads that submit `each`
/// items. Items in `spawning` push two more onto their executor's own ring.
template <std::size_t Executors, class Parts = sound>
scenario producers(int count, int each, int spawning = 0) {
  return [=](run& r) {
    constexpr int max_items = 12;
    pool<Executors, Parts> p;
    tally<max_items> seen;
    auto submitted = count * each;
    for (std::size_t i = 0; i < Executors; ++i)
      r.thread(
        "executor " + std::to_string(i),
        [&, i] {
          p.run_executor(i, [&](auto& self, int number) {
            seen.see(number);
            if (number <= spawning)
              for (int k = 0; k < 2; ++k)
                p.push_back(self, submitted + 2 * number - k);
          });
        },
        true);
    for (int t = 0; t < count; ++t)
      r.thread("producer " + std::to_string(t), [&, t] {
        for (int k = 1; k <= each; ++k)
          p.submit(t * each + k);
      });
    r.go();
    p.expect_at_rest();
    seen.expect_all(submitted + 2 * spawning);
  };
}

/// Items that cannot end before a later one has run. As long as one executor is
/// left for that one, it must be awake. `inside`: item 1 pushes the others onto
/// its executor's ring, else they come from outside. `with_letter`: somebody
/// also writes to executor 0, which wakes it for another reason. Where CPUs are shared, the other
/// pool's executor goes to sleep at some time.
template <std::size_t Executors, class Parts = sound>
scenario depending(bool inside, bool with_letter = false) {
  return [=](run& r) {
    constexpr int items = static_cast<int>(Executors);
    pool<Executors, Parts> p;
    tally<items + 1> seen;
    letter other{items + 1};
    atomic<std::uint32_t> last_ran;
    for (std::size_t i = 0; i < Executors; ++i)
      r.thread(
        "executor " + std::to_string(i),
        [&, i] {
          p.run_executor(i, [&](auto& self, int number) {
            seen.see(number);
            if (inside && number == 1)
              for (int k = 2; k <= items; ++k)
                p.push_back(self, k);
            if (number > items)
              return;
            if (number == items)
              last_ran.store(1, std::memory_order_relaxed);
            while (last_ran.load(std::memory_order_relaxed) == 0)
              last_ran.futex_wait(0);
            last_ran.futex_wake_one(&last_ran);
          });
        },
        true);
    if (Parts::cpus != 0)
      r.thread("elsewhere", [&] { p.end_elsewhere(); });
    r.thread("producer", [&] {
      for (int k = 1; k <= (inside ? 1 : items); ++k)
        p.submit(k);
      if (with_letter)
        p.deliver(0, other);
    });
    r.go();
    p.expect_at_rest();
    seen.expect_all(items + (with_letter ? 1 : 0));
  };
}

/// Letters from outside to one executor, while items go to anybody.
template <std::size_t Executors>
scenario letters(bool offer) {
  return [=](run& r) {
    pool<Executors> p;
    tally<3> seen;
    letter first{1}, second{2};
    for (std::size_t i = 0; i < Executors; ++i)
      r.thread(
        "executor " + std::to_string(i),
        [&, i] { p.run_executor(i, [&](auto&, int number) { seen.see(number); }); }, true);
    r.thread("sender", [&] {
      p.deliver(0, first);
      if (!offer || !p.offer(second))
        p.deliver(Executors - 1, second);
    });
    r.thread("producer", [&] { p.submit(3); });
    r.go();
    p.expect_at_rest();
    seen.expect_all();
  };
}

/// A claim meets the executor that takes itself out of the idle set.
scenario claim_meets_leave(int claimers) {
  return [=](run& r) {
    sleepers idle{2};
    atomic<int> work; // makes the last look say: stay awake
    for (std::size_t i = 0; i < 2; ++i)
      r.thread(
        "executor " + std::to_string(i),
        [&, i] {
          for (;;) {
            bool must_sleep = idle.prepare_sleep(
              i, false, [&] { return work.load(std::memory_order_seq_cst) != 0; });
            if (must_sleep)
              idle.sleep(i);
            int seen = work.load(std::memory_order_seq_cst);
            while (seen != 0
                   && !work.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel,
                                                  std::memory_order_acquire)) {
            }
            idle.stop_searching([&] { return work.load(std::memory_order_seq_cst) != 0; });
          }
        },
        true);
    for (int t = 0; t < claimers; ++t)
      r.thread("claimer " + std::to_string(t), [&] {
        work.fetch_add(1, std::memory_order_seq_cst);
        idle.notify();
      });
    r.go();
    check(work.load() == 0, "work waits, and everybody sleeps");
    check(idle.num_parked() == 2, "a sleeping executor is not in the idle set");
    check(idle.num_searching() == 0, "nobody searches, but somebody is counted");
    check(idle.num_coming() == 0, "nobody is coming, but somebody is counted");
  };
}

/// One who sleeps twice, and one who hands over two tokens, the second when the
/// first was taken. The owner looks for each a while before it sleeps.
scenario tokens(int looks) {
  return [=](run& r) {
    parker sleeper;
    atomic<std::uint32_t> taken;
    plain<int> data;
    r.thread("owner", [&] {
      for (std::uint32_t t = 0; t < 2; ++t) {
        for (int i = 0; i < looks && !sleeper.has_token(); ++i) {
        }
        check(sleeper.park() == parker::first_token + t, "another token than was handed over");
        check(data == static_cast<int>(t), "does not see what came before the token");
        taken.store(1, std::memory_order_release);
        taken.futex_wake_one(&taken);
      }
    });
    r.thread("waker", [&] {
      sleeper.unpark(parker::first_token);
      while (taken.load(std::memory_order_acquire) == 0)
        taken.futex_wait(0);
      data = 1;
      sleeper.unpark(parker::first_token + 1);
    });
    r.go();
  };
}

} // namespace

TEST_CASE("sleepers: a parker hands over each token") {
  verify("parker", tokens(0));
  verify("parker, with looks before", tokens(2));
}

TEST_CASE("sleepers: one executor misses nothing") {
  verify("1 executor, 1 producer", producers<1>(1, 3));
  verify("1 executor, 2 producers", producers<1>(2, 1));
  verify("1 executor, spawning", producers<1>(1, 2, 2));
}

TEST_CASE("sleepers: two executors miss nothing") {
  verify("2 executors, 1 producer", producers<2>(1, 2), {.anomalies = 0});
  verify("2 executors, 1 producer, old values", producers<2>(1, 2), {.preemptions = 1});
  verify("2 executors, 2 producers", producers<2>(2, 1), {.preemptions = 1});
  verify("2 executors, spawning", producers<2>(1, 1, 1), {.preemptions = 1});
}

TEST_CASE("sleepers: three executors miss nothing") {
  verify("3 executors, 1 producer", producers<3>(1, 3), {.preemptions = 1, .anomalies = 0});
  verify("3 executors, spawning", producers<3>(1, 2, 2), {.preemptions = 1, .anomalies = 0});
}

TEST_CASE("sleepers: no executor sleeps beside an item that waits") {
  verify("2 executors needed", depending<2>(false), {.anomalies = 0});
  verify("2 executors needed, old values", depending<2>(false), {.preemptions = 1});
  verify("2 executors needed, and a letter", depending<2>(false, true), {.anomalies = 0});
  verify("2 executors needed from inside", depending<2>(true), {.anomalies = 0});
  verify("3 executors needed", depending<3>(false), {.preemptions = 1, .anomalies = 0});
  verify("3 executors needed from inside", depending<3>(true), {.preemptions = 1, .anomalies = 0});
}

TEST_CASE("sleepers: thieves that wait leave nothing behind") {
  verify("2 executors, spawning, patient thieves", producers<2, patient>(1, 1, 1),
         {.preemptions = 1});
  verify("3 executors, spawning, patient thieves", producers<3, patient>(1, 2, 2),
         {.preemptions = 1, .anomalies = 0});
  verify("2 executors needed, patient thieves", depending<2, patient>(true), {.anomalies = 0});
  verify("2 executors needed, and a letter, patient thieves", depending<2, patient>(true, true),
         {.preemptions = 1, .anomalies = 0});
  verify("3 executors needed, patient thieves", depending<3, patient>(true),
         {.preemptions = 1, .anomalies = 0});
}

TEST_CASE("sleepers: executors without a thread get one when there is work") {
  verify("1 unborn of 2 executors, 2 producers", producers<2, unborn>(2, 1),
         {.preemptions = 1, .anomalies = 0});
  verify("1 unborn of 2 executors needed", depending<2, unborn>(false),
         {.preemptions = 1, .anomalies = 0});
  verify("1 unborn of 2 executors needed from inside", depending<2, unborn>(true),
         {.preemptions = 1, .anomalies = 0});
  verify("2 unborn of 3 executors needed", depending<3, unborn>(false),
         {.preemptions = 1, .anomalies = 0});
}

TEST_CASE("sleepers: executors that get no thread leave their work to the others") {
  verify("1 refused of 2 executors, 2 producers", producers<2, refused>(2, 1),
         {.preemptions = 2, .anomalies = 0});
  verify("1 refused of 2 executors, 3 producers", producers<2, refused>(3, 1),
         {.preemptions = 1, .anomalies = 0});
  verify("1 refused of 2 executors, spawning", producers<2, refused>(1, 2, 1),
         {.preemptions = 1, .anomalies = 0});
  verify("1 refused of 3 executors, 2 producers", producers<3, refused>(2, 1),
         {.preemptions = 1, .anomalies = 0});
}

TEST_CASE("sleepers: work that waits for a CPU has one once there is one") {
  verify("a CPU is freed", depending<2, sharing>(false), {.preemptions = 1});
  verify("a CPU is freed, work from inside", depending<2, sharing>(true), {.preemptions = 1});
}

TEST_CASE("sleepers: letters reach the executor they are for") {
  verify("letters, 1 executor", letters<1>(false), {.preemptions = 1});
  verify("letters, 2 executors", letters<2>(false), {.preemptions = 1, .anomalies = 0});
  verify("letters, one to a claimed executor", letters<2>(true),
         {.preemptions = 1, .anomalies = 0});
}

TEST_CASE("sleepers: a claim and the last look decide by one operation") {
  verify("claim meets leave", claim_meets_leave(1));
  verify("two claims meet leave", claim_meets_leave(2), {.preemptions = 2, .anomalies = 0});
}
