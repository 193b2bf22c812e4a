#include "pool_support.hpp"

#include "support/catch.hpp"

#include <basal/priority/runtime_tracker.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

using namespace basal::priority;
using namespace test;
using basal::executors::stop_mode;

TEST_CASE("a task's result reaches whoever asks for it") {
  executor_pool executors{executors_config(2)};
  auto& pool = background_pool::of(executors);
  CHECK(pool.submit([] { return 42; }).get() == 42);
  CHECK(*pool.submit([] { return std::make_unique<int>(7); }).get() == 7);
  int side_effect = 0;
  pool.submit([&] { side_effect = 1; }).get();
  CHECK(side_effect == 1);
  const std::string text = "a copy";
  CHECK(pool.submit([&]() -> const std::string& { return text; }).get() == text);
  auto moved_in = std::make_unique<int>(9);
  CHECK(pool.submit([p = std::move(moved_in)]() mutable { return std::move(p); }).get() != nullptr);
  const auto s = pool.stats();
  CHECK(s.submitted == 5);
  CHECK(s.done == 5);
  CHECK(s.runtimes.recorded == 5);
  CHECK(s.running_now == 0);
}

TEST_CASE("what a task throws reaches whoever asks, and its executor goes on") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  auto failing = pool.submit([]() -> int { throw std::domain_error{"no such thing"}; });
  CHECK_THROWS_AS(failing.get(), std::domain_error);
  CHECK_FALSE(failing.valid());
  auto odd = pool.submit([] { throw 5; });
  odd.wait();
  CHECK(odd.state() == task_state::failed);
  CHECK_THROWS_AS(odd.try_get(), int);
  CHECK(pool.submit([] { return 1; }).get() == 1);
  CHECK(pool.stats().failed == 2);
  CHECK(pool.stats().runtimes.recorded == 3); // failures take time, too
}

TEST_CASE("on one executor tasks run in the order of their levels, then of their estimates, and "
          "equal ones as submitted") {
  executor_pool executors{executors_config(1)};
  auto& pool
    = background_pool::build(executors, {.order = {.runtime = 1, .decay = 0}, .strict = true});
  const task_key slow{"slow"}, quick{"quick"};
  for (int i = 0; i < 5; ++i) {
    pool.runtimes().record(slow, 2s);
    pool.runtimes().record(quick, 1ms);
  }
  journal ran;
  {
    blocker busy{pool};
    auto submit = [&](level at, task_key type, int number) {
      pool.post({at, type}, [&ran, number] { ran.note(number); });
    };
    submit(level::batch, quick, 60);
    submit(level::low, quick, 50);
    submit(level::background_compile, quick, 40);
    submit(level::normal, slow, 30);
    for (int i = 0; i < 5; ++i)
      submit(level::normal, quick, 20 + i);
    submit(level::interactive, slow, 11);
    submit(level::interactive, quick, 10);
    submit(level{7}, slow, 31); // a level of one's own
  }
  CHECK(pool.shutdown(stop_mode::drain, 10s).complete);
  CHECK(ran.entries() == std::vector{10, 11, 20, 21, 22, 23, 24, 30, 31, 40, 50, 60});
}

TEST_CASE("1000 equal tasks run as they were submitted, with ageing and without") {
  for (const double decay : {0.0, 0.1, 1000.0}) {
    executor_pool executors{executors_config(1)};
    auto& pool = background_pool::build(executors, {.order = {.runtime = 1, .decay = decay}});
    journal ran;
    std::vector<int> in_order(1000);
    std::iota(in_order.begin(), in_order.end(), 0);
    {
      blocker busy{pool};
      for (const int i : in_order)
        pool.post({}, [&ran, i] { ran.note(i); });
      CHECK(pool.queued() == 1000);
    }
    CHECK(pool.shutdown(stop_mode::drain, 10s).complete);
    CHECK(ran.entries() == in_order);
  }
}

TEST_CASE("what has waited long enough gets ahead of what is more urgent and new") {
  executor_pool executors{executors_config(1)};
  // A thousand levels a second: batch (50) passes interactive after 50 ms.
  auto& pool = background_pool::build(executors, {.order = {.runtime = 1, .decay = 1000}});
  journal ran;
  {
    blocker busy{pool};
    pool.post({level::batch, {}}, [&] { ran.note(1); });
    std::this_thread::sleep_for(80ms);
    pool.post({level::interactive, {}}, [&] { ran.note(2); });
  }
  CHECK(pool.shutdown(stop_mode::drain, 10s).complete);
  CHECK(ran.entries() == std::vector{1, 2});
}

TEST_CASE("a queued task can be cancelled, and releases what it holds at once") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  auto held = std::make_shared<int>(1);
  blocker busy{pool};
  auto task = pool.submit([held] { return *held; });
  CHECK(held.use_count() == 2);
  CHECK(task.state() == task_state::queued);
  CHECK(task.cancel());
  CHECK(task.cancel()); // still so
  CHECK(held.use_count() == 1);
  CHECK(task.is_ready());
  CHECK_THROWS_AS(task.get(), task_cancelled);
  busy.open();
  CHECK(pool.submit([] { return 5; }).get() == 5);
  CHECK(pool.stats().cancelled == 1);
}

TEST_CASE("a task that has begun cannot be cancelled") {
  std::latch begun{1}, go_on{1};
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  auto task = pool.submit([&] {
    begun.count_down();
    go_on.wait();
    return 3;
  });
  begun.wait();
  CHECK(task.state() == task_state::running);
  CHECK_FALSE(task.cancel());
  go_on.count_down();
  CHECK(task.get() == 3);
}

TEST_CASE("waiting ends with the limit when the task does not") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  blocker busy{pool};
  auto task = pool.submit([] { return 1; });
  CHECK_FALSE(task.try_get());
  CHECK_FALSE(task.wait_for(0s));
  CHECK_FALSE(task.wait_for(-1s));
  CHECK_FALSE(task.wait_for(std::chrono::duration<double>{std::nan("")})); // not for ever
  CHECK_FALSE(task.wait_for(10ms));
  CHECK_FALSE(task.wait_until(std::chrono::steady_clock::now() + 1ms));
  busy.open();
  CHECK(task.wait_for(24h * 365 * 10'000)); // more than fits into nanoseconds
  CHECK(task.try_get() == 1);
  CHECK_FALSE(task.valid());
  auto nothing = pool.submit([] {});
  nothing.wait();
  CHECK(nothing.try_get());
}

TEST_CASE("an empty handle says so") {
  task_handle<int> none;
  CHECK_FALSE(none.valid());
  CHECK_THROWS_AS(none.get(), std::logic_error);
  CHECK_THROWS_AS(none.cancel(), std::logic_error);
  CHECK_THROWS_AS(none.wait_for(1s), std::logic_error);
}

TEST_CASE("a task may submit tasks and wait for them, on a single executor, too") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  auto sum = pool.submit([&] {
    auto a = pool.submit([] { return 1; });
    auto b = pool.submit([&pool] { return pool.submit([] { return 2; }).get(); });
    CHECK(b.wait_for(10s)); // its fiber waits; the executor runs the others
    return a.get() + b.get();
  });
  CHECK(sum.get() == 3);
}

TEST_CASE("a fiber that waits for too long goes on at its deadline, and its executor meanwhile") {
  std::latch end{1};
  std::atomic<bool> other_ran{false};
  executor_pool executors{executors_config(2)};
  auto& pool = background_pool::of(executors);
  auto held = pool.submit([&] { end.wait(); });
  auto waiting = pool.submit([&] {
    auto other = pool.submit([&] { other_ran = true; });
    const bool ended = held.wait_for(50ms);
    return !ended && other_ran.load();
  });
  CHECK(waiting.get());
  end.count_down();
  held.get();
}

// -- a full queue -------------------------------------------------------------

TEST_CASE("a full queue, reject: the submitter is told") {
  executor_pool executors{executors_config(1)};
  auto& pool
    = background_pool::build(executors, {.max_queued = 2, .when_full = full_policy::reject});
  blocker busy{pool};
  auto a = pool.submit([] { return 1; });
  auto b = pool.submit([] { return 2; });
  CHECK_THROWS_WITH(pool.post({level::interactive, {}}, [] {}), ContainsSubstring("max_queued"));
  CHECK_THROWS_AS(pool.submit([] {}), queue_full);
  CHECK_FALSE(pool.try_submit({}, [] {}).valid());
  CHECK(pool.stats().rejected == 3);
  CHECK(pool.stats().submitted == 3);
  // A cancelled task makes room.
  CHECK(a.cancel());
  auto c = pool.submit([] { return 3; });
  busy.open();
  CHECK(b.get() + c.get() == 5);
}

TEST_CASE("a full queue, run in caller: the submitter does it") {
  executor_pool executors{executors_config(1)};
  auto& pool
    = background_pool::build(executors, {.max_queued = 1, .when_full = full_policy::run_in_caller});
  blocker busy{pool};
  auto queued = pool.submit([] { return std::this_thread::get_id(); });
  auto mine = pool.submit([] { return std::this_thread::get_id(); });
  CHECK(mine.is_ready());
  CHECK(mine.get() == std::this_thread::get_id());
  auto failing = pool.submit([] { throw std::runtime_error{"mine, too"}; });
  CHECK_THROWS_WITH(failing.get(), "mine, too");
  CHECK(pool.stats().run_in_caller == 2);
  busy.open();
  CHECK(queued.get() != std::this_thread::get_id());
}

TEST_CASE("a full queue, time-out: the submitter is told after a while") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::build(
    executors, {.max_queued = 1, .when_full = full_policy::time_out, .patience = 20ms});
  blocker busy{pool};
  auto queued = pool.submit([] { return 1; });
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(pool.submit([] {}), queue_full);
  CHECK(std::chrono::steady_clock::now() - start >= 20ms);
  CHECK(pool.stats().timed_out == 1);
  CHECK(pool.stats().waited_for_room == 1);
  busy.open();
  CHECK(queued.get() == 1);
  CHECK(pool.submit([] { return 2; }).get() == 2);
}

TEST_CASE("a full queue, wait: the most urgent of those who wait comes in first") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::build(executors, {.max_queued = 1});
  journal ran;
  std::vector<std::thread> submitters;
  {
    blocker busy{pool};
    pool.post({}, [&] { ran.note(0); });
    int waiting = 0;
    for (const auto at : {level::batch, level::low, level::interactive}) {
      submitters.emplace_back([&, at] {
        pool.post({at, {}}, [&ran, at] { ran.note(static_cast<int>(at)); });
      });
      ++waiting;
      while (pool.stats().waited_for_room < static_cast<std::uint64_t>(waiting))
        std::this_thread::sleep_for(1ms);
    }
  }
  for (auto& t : submitters)
    t.join();
  CHECK(pool.shutdown(stop_mode::drain, 10s).complete);
  CHECK(ran.entries() == std::vector{0, 0, 20, 50});
}

TEST_CASE("a full queue, wait: tasks that submit more than fits get all of it done") {
  std::atomic<int> ran{0};
  executor_pool executors{executors_config(2)};
  auto& pool = background_pool::build(executors, {.max_queued = 2});
  auto parent = [&] {
    for (int i = 0; i < 50; ++i)
      pool.post({}, [&] { ++ran; });
  };
  auto a = pool.submit(parent);
  auto b = pool.submit(parent);
  a.get();
  b.get();
  CHECK(pool.shutdown(stop_mode::drain, 10s).complete);
  CHECK(ran == 100);
}

// -- shutdown -----------------------------------------------------------------

TEST_CASE("drain runs what is queued, discard does not, and neither takes more") {
  for (const auto mode : {stop_mode::drain, stop_mode::discard}) {
    std::atomic<int> ran{0};
    executor_pool executors{executors_config(1)};
    auto& pool = background_pool::of(executors);
    std::vector<task_handle<void>> tasks;
    shutdown_report report;
    {
      blocker busy{pool};
      for (int i = 0; i < 10; ++i)
        tasks.push_back(pool.submit([&] { ++ran; }));
      std::thread opens{[&] {
        while (pool.stats().discarded < 10 && mode == stop_mode::discard)
          std::this_thread::sleep_for(1ms);
        busy.open();
      }};
      report = pool.shutdown(mode, 10s);
      opens.join();
    }
    CHECK(report.complete);
    CHECK(report.unfinished == 0);
    CHECK(report.discarded == (mode == stop_mode::discard ? 10 : 0));
    CHECK(ran == (mode == stop_mode::discard ? 0 : 10));
    for (auto& t : tasks) {
      if (mode == stop_mode::discard)
        CHECK_THROWS_AS(t.get(), task_discarded);
      else
        CHECK_NOTHROW(t.get());
    }
    CHECK_THROWS_AS(pool.submit([] {}), pool_closed);
    CHECK_THROWS_AS(pool.spawn({}, [] {}), pool_closed);
    CHECK_FALSE(pool.try_submit({}, [] {}).valid());
    CHECK(pool.shutdown(mode, 0s).complete); // again: returns at once
  }
}

TEST_CASE("a shutdown of a pool that did nothing returns at once") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  CHECK(pool.shutdown(stop_mode::drain, 0s).complete);
}

TEST_CASE("a drain that takes too long discards the rest and says what goes on") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  blocker busy{pool};
  auto queued = pool.submit([] {});
  auto report = pool.shutdown(stop_mode::drain, 10ms);
  CHECK_FALSE(report.complete);
  CHECK(report.discarded == 1);
  CHECK(report.unfinished == 1);
  CHECK_THROWS_AS(queued.get(), task_discarded);
  busy.open();
  CHECK(pool.shutdown(stop_mode::drain, 10s).complete);
}

TEST_CASE("a shutdown inside a task of the same pool does not hang") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  auto report = pool.submit([&] { return pool.shutdown(stop_mode::drain, 10ms); }).get();
  CHECK_FALSE(report.complete);
  CHECK(report.unfinished == 1);
}

TEST_CASE("who waits for room is told of the shutdown") {
  std::atomic<bool> told{false};
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::build(executors, {.max_queued = 1});
  blocker busy{pool};
  auto queued = pool.submit([] {});
  std::thread submitter{[&] {
    try {
      pool.post({}, [] {});
    } catch (const pool_closed&) {
      told = true;
    }
  }};
  while (pool.stats().waited_for_room == 0)
    std::this_thread::sleep_for(1ms);
  pool.shutdown(stop_mode::discard, 0s);
  submitter.join();
  CHECK(told);
}

TEST_CASE("when the executors stop, background work ends as they do") {
  for (const auto mode : {stop_mode::drain, stop_mode::discard}) {
    std::vector<task_handle<int>> tasks;
    {
      std::atomic<bool> goes_on{mode == stop_mode::drain}; // else not all may run before the stop
      executor_pool executors{executors_config(2)};
      auto& pool = background_pool::of(executors);
      for (int i = 0; i < 100; ++i)
        tasks.push_back(pool.submit([i, &goes_on] {
          while (!goes_on.load())
            std::this_thread::yield();
          std::this_thread::sleep_for(100us);
          return i;
        }));
      std::thread waits_for_stop{[&] {
        try {
          for (;; std::this_thread::sleep_for(1ms))
            static_cast<void>(pool.submit([] {}));
        } catch (const pool_closed&) {
          goes_on.store(true);
        }
      }};
      executors.stop(mode);
      waits_for_stop.join();
      CHECK_THROWS_AS(pool.submit([] {}), pool_closed);
    }
    // Handles outlive the pool.
    int ran = 0;
    for (auto& t : tasks) {
      CHECK(t.is_ready());
      CHECK_FALSE(t.cancel());
      if (t.state() == task_state::done)
        ++ran;
    }
    if (mode == stop_mode::drain)
      CHECK(ran == 100);
    else
      CHECK(ran < 100);
  }
}

// -- one per executor pool ----------------------------------------------------

TEST_CASE("there is one for each executor pool, built when it is first asked for") {
  executor_pool executors{executors_config(1)};
  CHECK(executors.background() == nullptr);
  auto& pool = background_pool::of(executors);
  CHECK(&background_pool::of(executors) == &pool);
  CHECK(&pool.executors() == &executors);
  CHECK_THROWS_AS(background_pool::build(executors, {}), std::logic_error);
  executor_pool others{executors_config(1)};
  auto& built = background_pool::build(others, {.max_queued = 7});
  CHECK(&background_pool::of(others) == &built);
  CHECK(built.config().max_queued == 7);
  executor_pool stopped{executors_config(1)};
  stopped.stop(stop_mode::drain);
  CHECK_THROWS_AS(background_pool::of(stopped), std::logic_error);
}

TEST_CASE("several threads that ask first get the same one") {
  for (int round = 0; round < 20; ++round) {
    std::latch start{3};
    executor_pool executors{executors_config(1)};
    background_pool* got[3];
    std::vector<std::thread> threads;
    for (auto& g : got)
      threads.emplace_back([&] {
        start.arrive_and_wait();
        g = &background_pool::of(executors);
      });
    for (auto& t : threads)
      t.join();
    CHECK((got[0] == got[1] && got[1] == got[2]));
  }
}

TEST_CASE("settings that make no sense are refused by name") {
  constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
  executor_pool executors{executors_config(1)};
  auto refused = [&](background_config config, const char* name) {
    CHECK_THROWS_WITH(background_pool::build(executors, config), ContainsSubstring(name));
    CHECK_THROWS_AS(background_pool::build(executors, config), std::invalid_argument);
  };
  refused({.max_queued = 0}, "max_queued is 0");
  refused({.max_queued = background_config::most_queued + 1}, "max_queued");
  refused({.order = {.runtime = -1}}, "weights.runtime is -1");
  refused({.order = {.runtime = 1, .decay = -0.5}}, "weights.decay is -0.5");
  refused({.order = {.runtime = nan}}, "weights.runtime");
  refused({.patience = -1ns}, "patience is -1");
  refused({.slack = nan}, "slack");
  refused({.max_types = 0}, "max_types is 0");
  CHECK(executors.background() == nullptr); // nothing of it stays
  CHECK_NOTHROW(background_pool::of(executors));
}

TEST_CASE("a million types of tasks take no more room than the cap") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::build(executors, {.max_queued = 1 << 14, .max_types = 512});
  for (std::uint64_t i = 0; i < 1'000'000; ++i)
    pool.runtimes().record(task_key{"eval", i}, 1us);
  pool.submit({level::normal, task_key{"eval", 1}}, [] {}).get();
  CHECK(pool.stats().runtimes.types <= 512);
}
