// The end of a pool: what was accepted runs, whatever the moment it came at.

#include "stepped_pool.hpp"
#include "support/catch.hpp"
#include "support/in_child.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

pool_config one_thread() {
  pool_config config;
  config.name = "test";
  return config;
}

/// Lets the only executor of a pool find nothing, then lets `add` happen, then a stop, then lets
/// the executor go on: it has seen no work, and the stop.
void stop_after(std::function<void(executor_pool&, pieces&)> add) {
  executor_pool pool{one_thread()};
  pieces* source = nullptr;
  completion stopped;
  auto made = std::make_unique<pieces>([&] {
    on_another_thread([&] {
      add(pool, *source);
      CHECK(pool.stop(stop_mode::drain, 0ns).size() == 1);
    });
    stopped.set();
  });
  source = made.get();
  pool.adopt_background(std::move(made));
  if (!pool.submit(task::make([](executor&) {}))) // so that it looks
    throw std::logic_error("the pool was stopped");
  stopped.wait();
  pool.stop(stop_mode::drain);
  CHECK(source->times_closed == 2);
  CHECK(source->times_abandoned == 1);
}

} // namespace

TEST_CASE("what came from outside before the stop runs, although its executor had found nothing") {
  std::atomic<int> ran{0}, discarded{0};
  stop_after([&](executor_pool& pool, pieces&) {
    CHECK(pool.submit(task::make([&](executor&) { ++ran; }, &discarded)));
  });
  CHECK(ran == 1);
  CHECK(discarded == 0);
}

TEST_CASE("what was delivered before the stop runs, although its executor had found nothing") {
  std::atomic<int> ran{0};
  inbox_node letter{nullptr, task::make([&](executor&) { ++ran; })};
  stop_after([&](executor_pool& pool, pieces&) { pool.at(0).deliver(letter); });
  CHECK(ran == 1);
}

TEST_CASE("background work from before the stop runs, although its executor had found nothing") {
  std::atomic<int> ran{0};
  stop_after([&](executor_pool& pool, pieces& source) {
    CHECK(pool.add_background([&] { return source.add(task::make([&](executor&) { ++ran; })); }));
  });
  CHECK(ran == 1);
}

TEST_CASE("an executor with suspended work does not leave") {
  std::atomic<bool> went_on{false};
  executor_pool pool{one_thread()};
  completion event;
  REQUIRE(pool.submit(task::make([&](executor&) {
    event.wait();
    went_on.store(true);
  })));
  while (pool.at(0).stats().suspensions == 0 || pool.num_runnable() > 0)
    std::this_thread::yield();
  CHECK(pool.stop(stop_mode::discard, 0ns).size() == 1);
  event.set();
  pool.stop(stop_mode::discard);
  CHECK(went_on.load());
}

TEST_CASE("a stop wakes those who sleep") {
  pool_config config = one_thread();
  config.executors = 3;
  executor_pool pool{config};
  while (pool.num_runnable() > 0)
    std::this_thread::yield();
  pool.stop(stop_mode::drain);
  CHECK_FALSE(pool.any_idle());
}

TEST_CASE("a task that is blocked until another has run gets it, although only one had a thread") {
  std::latch stopped{1};
  pool_config config;
  config.name = "test";
  config.executors = 2;
  config.hooks.context = &stopped;
  config.hooks.thread_starts
    = [](void* context, executor&) noexcept { static_cast<std::latch*>(context)->wait(); };
  std::atomic<int> begun{0}, met{0};
  executor_pool pool{config};
  const auto give_up = std::chrono::steady_clock::now() + 20s;
  for (int i = 0; i < 2; ++i) // the second one wakes nobody, since one is awake and will look
    REQUIRE(pool.submit(task::make([&](executor&) {
      ++begun;
      while (begun < 2 && std::chrono::steady_clock::now() < give_up)
        std::this_thread::yield();
      met += begun == 2 ? 1 : 0;
    })));
  CHECK(pool.stop(stop_mode::drain, 0ns).size() == 2);
  stopped.count_down();
  pool.stop(stop_mode::drain);
  CHECK(met == 2);
}

TEST_CASE(
  "a task that is blocked until another is gone sees it discarded, with one thread so far") {
  auto config = one_thread();
  config.executors = 2;
  config.hooks.has_cpu = [](void*) noexcept { return false; }; // so the second one stays asleep
  std::atomic<int> ran{0}, discarded{0};
  executor_pool pool{config};
  completion pushed;
  const auto give_up = std::chrono::steady_clock::now() + 20s;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_back(task::make([&](executor&) { ++ran; }, &discarded));
    pushed.set();
    while (ran + discarded == 0 && std::chrono::steady_clock::now() < give_up)
      std::this_thread::yield();
    CHECK(ran + discarded == 1); // it may have run: the backstop comes after some milliseconds
  })));
  pushed.wait();
  pool.stop(stop_mode::discard);
}

TEST_CASE("work that its table cannot discard runs even then") {
  static constexpr work_ops must_run{task::ops.run, nullptr};
  std::atomic<int> discarded{0};
  executor_pool pool{stepped(1)};
  int ran = 0;
  auto one = task::make([&](executor&) { ++ran; });
  one.ops = &must_run;
  REQUIRE(pool.submit(one));
  REQUIRE(pool.submit(task::make([&](executor&) { ++ran; }, &discarded)));
  pool.stop(stop_mode::discard);
  CHECK(ran == 1);
  CHECK(discarded == 1);
}

TEST_CASE("a pool that was stopped takes nothing from its own threads either") {
  std::atomic<bool> release{false};
  executor_pool pool{one_thread()};
  bool accepted = true;
  completion begun;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    begun.set();
    while (!release.load())
      std::this_thread::yield();
    auto late = task::make([](executor&) {});
    accepted = self.pool().submit(late);
    if (!accepted)
      late.ops->discard(late.object);
  })));
  begun.wait();
  CHECK(pool.stop(stop_mode::drain, 0ns).size() == 1);
  release.store(true);
  pool.stop(stop_mode::drain);
  CHECK_FALSE(accepted);
}

TEST_CASE("the first background source stays, and a pool that was stopped takes none") {
  executor_pool pool{stepped(1)};
  CHECK(pool.background() == nullptr);
  auto& first = pool.adopt_background(std::make_unique<pieces>());
  CHECK(&pool.adopt_background(std::make_unique<pieces>()) == &first);
  CHECK(pool.background() == &first);
  pool.stop(stop_mode::drain);
  CHECK_THROWS_AS(pool.adopt_background(std::make_unique<pieces>()), std::logic_error);
}

TEST_CASE("a pool that one of its own executors stops ends the program with a sentence") {
  auto [said, signal] = basal::test::in_child([] {
    executor_pool pool{one_thread()};
    completion never;
    (void)pool.submit(task::make([&](executor&) { pool.stop(stop_mode::drain); }));
    never.wait();
  });
  CHECK(signal == SIGABRT);
  CHECK_THAT(said, ContainsSubstring("must not be stopped by one of its own executors"));
}
