// Work that runs elsewhere and comes back: results, ends, and what it carries.

#include <basal/executors/executor_pool.hpp>
#include <basal/executors/hand_over.hpp>
#include <basal/executors/sequential_scope.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "closure_task.hpp"
#include "support/catch.hpp"

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

std::atomic<std::size_t> allocations{0};

pool_config named(std::size_t executors, bool stepped = false) {
  pool_config config;
  config.name = "handover";
  config.executors = executors;
  config.simulate.stepped = stepped;
  return config;
}

template <class Body>
decltype(auto) call_on(executor_pool& pool, Body body) {
  auto there = [&](executor&) -> std::invoke_result_t<Body&> { return body(); };
  awaited_call call{there};
  REQUIRE(call.run_on(pool) == errand_end::ran);
  return call.take();
}

/// Calls of the test's carrier, by function.
struct log {
  std::atomic<int> captured{0}, entered{0}, left{0}, dropped{0};
} seen;

thread_local int mark = 0; ///< the thing that the carrier carries

const carrier carries_mark{
  [](errand) noexcept -> void* {
    ++seen.captured;
    return mark != 0 ? new int{mark} : nullptr;
  },
  [](void* captured, errand) noexcept {
    ++seen.dropped;
    delete static_cast<int*>(captured);
  },
  [](void* captured, executor&, carrier_room& room) noexcept {
    ++seen.entered;
    new (&room) int{mark};
    mark = captured != nullptr ? *static_cast<int*>(captured) : 0;
  },
  [](executor&, carrier_room& room) noexcept {
    ++seen.left;
    mark = *reinterpret_cast<int*>(&room);
  },
};

[[gnu::noinline]] int mark_here() {
  return mark;
}

const struct installer {
  installer() noexcept {
    carriers::add(carries_mark);
  }
} install;

/// Detached work on a pool.
template <class Function>
struct sent : detached_work {
  static constexpr work_ops ops{
    [](void* object, executor& self) noexcept {
      const work_reference<detached_work> mine{static_cast<detached_work*>(object)};
      mine->run(&self);
      mine->announce();
    },
    [](void* object) noexcept {
      const work_reference<detached_work> mine{static_cast<detached_work*>(object)};
      mine->forget();
      mine->announce();
    },
  };
};

template <class Function>
auto send(executor_pool& pool, Function function) {
  using result = std::invoke_result_t<Function&>;
  auto* work = new detached_call<detached_work, Function>(std::move(function));
  REQUIRE(pool.submit({static_cast<detached_work*>(work), &sent<Function>::ops}));
  return work_reference<detached_result<detached_work, result>>{work};
}

} // namespace

#ifndef __SANITIZE_ADDRESS__ // which has operators of its own; nothing is counted there
// Not inlined: g++ 14 would see free() for memory of the operator new, which it does not look into.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes))
    return memory;
  throw std::bad_alloc{};
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

TEST_CASE("values, references, nothing and exceptions come back to who waits") {
  executor_pool pool{named(1)};
  CHECK(call_on(pool, [] { return 7; }) == 7);
  CHECK(*call_on(pool, [] { return std::make_unique<int>(8); }) == 8);
  int object = 0;
  CHECK(&call_on(pool, [&]() -> int& { return object; }) == &object);
  call_on(pool, [&] { object = 9; });
  CHECK(object == 9);
  CHECK_THROWS_WITH(call_on(pool, []() -> int { throw std::runtime_error("lost"); }), "lost");
  CHECK_THROWS_WITH(call_on(pool, [] { throw std::runtime_error("lost, too"); }), "lost, too");
}

TEST_CASE("who waits allocates nothing, on a thread and on a fiber") {
  executor_pool pool{named(1)};
  executor_pool clients{named(1)};
  const auto many = [&] {
    int sum = 0;
    for (int i = 0; i < 100; ++i)
      sum += call_on(pool, [=] { return i; });
    return sum;
  };
  // The fewest of some rounds: threads that have just started allocate, too.
  const auto count = [&] {
    std::size_t fewest = 1'000'000;
    for (int round = 0; round < 10 && fewest > 0; ++round) {
      const auto before = allocations.load();
      if (many() == 4950)
        fewest = std::min(fewest, allocations.load() - before);
    }
    return fewest;
  };
  many(); // queues have grown, stacks are there
  call_on(clients, many);
  CHECK(count() == 0);
  CHECK(call_on(clients, count) == 0);
}

TEST_CASE("what a pool discards or refuses is told") {
  executor_pool pool{named(1, true)};
  std::optional<errand_end> queued;
  bool ran = false;
  auto body = [&](executor&) { ran = true; };
  std::thread caller{[&] {
    awaited_call call{body};
    queued = call.run_on(pool);
  }};
  while (pool.num_runnable() < 2) // one that is awake, and what it will find
    std::this_thread::yield();
  pool.stop(stop_mode::discard);
  caller.join();
  CHECK(queued == errand_end::discarded);
  awaited_call late{body};
  CHECK(late.run_on(pool) == errand_end::refused);
  awaited_call limited{body};
  CHECK(limited.run_on(pool, {.deadline = std::chrono::steady_clock::now() + 1h})
        == errand_end::refused);
  CHECK_FALSE(ran);
}

TEST_CASE("queued work that is not begun in time is called off, while nobody runs anything") {
  executor_pool pool{named(1, true)}; // runs nothing before it is told to
  executor_pool clients{named(1)};
  int ran = 0;
  auto body = [&](executor&) { ++ran; };
  const auto try_it = [&](begin_limits limits) {
    awaited_call call{body};
    return call.run_on(pool, limits);
  };
  const auto soon = [] { return std::chrono::steady_clock::now() + 20ms; };
  CHECK(try_it({.deadline = soon()}) == errand_end::expired);
  CHECK(call_on(clients, [&] { return try_it({.deadline = soon()}); }) == errand_end::expired);
  CHECK(try_it({.deadline = std::chrono::steady_clock::now() - 1ms}) == errand_end::expired);

  std::stop_source stop;
  std::thread stops{[&] {
    while (pool.num_runnable() < 4)
      std::this_thread::yield();
    stop.request_stop();
  }};
  CHECK(try_it({.stop = stop.get_token()}) == errand_end::stopped);
  stops.join();
  CHECK(try_it({.stop = stop.get_token()}) == errand_end::stopped);

  // Items that are left in the queue are harmless.
  pool.run_until_idle();
  CHECK(ran == 0);
}

TEST_CASE("work that begins within its limits runs to its end") {
  executor_pool pool{named(1)};
  std::stop_source stop;
  auto body = [&](executor&) {
    stop.request_stop(); // too late
    std::this_thread::sleep_for(20ms);
    return 5;
  };
  awaited_call call{body};
  CHECK(
    call.run_on(pool, {.deadline = std::chrono::steady_clock::now() + 1h, .stop = stop.get_token()})
    == errand_end::ran);
  CHECK(call.take() == 5);
}

TEST_CASE("limits that meet the beginning of the work: it runs, or its caller is told that it does "
          "not") {
  executor_pool pool{named(2)};
  int expired = 0;
  int ran = 0;
  for (int i = 0; i < 2000; ++i) {
    int runs = 0;
    auto body = [&](executor&) { ++runs; };
    awaited_call call{body};
    const auto end = call.run_on(
      pool, {.deadline = std::chrono::steady_clock::now() + std::chrono::microseconds{i % 60}});
    if (end == errand_end::ran)
      ran += runs;
    else
      expired += runs == 0 && end == errand_end::expired ? 1 : 0;
  }
  CHECK(ran + expired == 2000);
}

TEST_CASE("detached work keeps its result, or what it threw, for its handle") {
  executor_pool pool{named(1)};
  auto value = send(pool, [] { return std::make_unique<int>(3); });
  auto nothing = send(pool, [] {});
  auto failure = send(pool, []() -> int { throw std::runtime_error("no luck"); });
  value->finished().wait();
  nothing->finished().wait();
  failure->finished().wait();
  CHECK(*value->take() == 3);
  nothing->take();
  CHECK_THROWS_WITH(failure->take(), "no luck");
}

TEST_CASE("detached work destroys its function when it ends, run or not") {
  auto held = std::make_shared<int>(1);
  std::vector<work_reference<detached_result<detached_work, int>>> handles;
  {
    executor_pool pool{named(1, true)};
    handles.push_back(send(pool, [held] { return *held; }));
    CHECK(held.use_count() == 2);
    pool.run_until_idle();
    CHECK(held.use_count() == 1);
    handles.push_back(send(pool, [held] { return *held; }));
    CHECK(held.use_count() == 2);
    pool.stop(stop_mode::discard);
  }
  CHECK(held.use_count() == 1);
  CHECK(handles[0]->take() == 1);
  CHECK(handles[1]->finished().is_set());
}

TEST_CASE("work carries what the thread that hands it over has, and leaves nothing behind") {
  executor_pool pool{named(1)};
  mark = 5;
  CHECK(call_on(pool, mark_here) == 5);
  auto detached = send(pool, mark_here);
  mark = 0;
  detached->finished().wait();
  CHECK(detached->take() == 5);
  CHECK(call_on(pool, mark_here) == 0); // not what was there before
  CHECK(seen.entered == seen.left);
}

TEST_CASE("what was captured is given back once, before a handle's owner is told") {
  for (const bool runs : {true, false}) {
    executor_pool pool{named(1, true)};
    mark = 6;
    const int before = seen.dropped;
    auto work = send(pool, mark_here);
    mark = 0;
    CHECK(seen.dropped == before);
    if (runs)
      pool.run_until_idle();
    else
      pool.stop(stop_mode::discard);
    REQUIRE(work->finished().is_set());
    CHECK(seen.dropped == before + 1);
    work.reset();
    CHECK(seen.dropped == before + 1);
  }
}

TEST_CASE("awaited work is a part of a sequential scope, detached work is not") {
  executor_pool pool{named(1)};
  const auto in_scope = [] { return sequential_scope::active(); };
  CHECK_FALSE(call_on(pool, in_scope));
  {
    const sequential_scope outer;
    {
      const sequential_scope inner;
      CHECK(call_on(pool, in_scope));
    }
    CHECK(sequential_scope::active());
    auto detached = send(pool, in_scope);
    detached->finished().wait();
    CHECK_FALSE(detached->take());
  }
  CHECK_FALSE(sequential_scope::active());
  CHECK_FALSE(call_on(pool, in_scope));
}

TEST_CASE("a sequential scope is its fiber's: what has a turn on the thread meanwhile is outside") {
  executor_pool pool{named(1)};
  executor_pool other{named(1)};
  const bool outside_meanwhile = call_on(pool, [&] {
    const sequential_scope scope;
    // Suspended here, while the pool's only executor runs the inner function.
    return call_on(other, [&] {
      std::atomic<bool> active{true};
      std::atomic<bool> ended{false};
      REQUIRE(pool.submit(task::make([&](executor&) {
        active = sequential_scope::active();
        ended = true;
        ended.notify_all();
      })));
      ended.wait(false);
      return !active && sequential_scope::active();
    });
  });
  CHECK(outside_meanwhile);
}
