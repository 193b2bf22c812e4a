#include "pool_support.hpp"

#include "support/catch.hpp"

#include <basal/priority/evaluation.hpp>

#include <optional>
#include <stdexcept>

using namespace test;
using basal::executors::stop_mode;
using basal::priority::evaluation;
using basal::priority::route;

TEST_CASE("evaluations are counted once a thread, however deeply they are nested") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  auto active = [&] { return pool.stats().evaluations_now; };
  CHECK(active() == 0);
  {
    evaluation outer{pool};
    CHECK(active() == 1);
    {
      evaluation inner{pool};
      evaluation innermost{pool};
      CHECK(active() == 1);
    }
    CHECK(active() == 1);
    std::size_t with_other = 0;
    std::thread other{[&] {
      evaluation theirs{pool};
      with_other = active();
    }};
    other.join();
    CHECK(with_other == 2);
    CHECK(active() == 1);
  }
  CHECK(active() == 0);
}

TEST_CASE("an evaluation that ends by an exception is counted out") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  try {
    evaluation outer{pool};
    evaluation inner{pool};
    throw std::runtime_error{"evaluation failed"};
  } catch (const std::runtime_error&) {
  }
  CHECK(pool.stats().evaluations_now == 0);
}

TEST_CASE("evaluations of fibers of one thread end in any order") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  std::optional<evaluation> a, b, c;
  a.emplace(pool);
  b.emplace(pool);
  c.emplace(pool);
  a.reset();
  CHECK(pool.stats().evaluations_now == 1);
  c.reset();
  CHECK(pool.stats().evaluations_now == 1);
  b.reset();
  CHECK(pool.stats().evaluations_now == 0);
}

TEST_CASE("two pools count their own evaluations") {
  executor_pool one{executors_config(1)}, two{executors_config(1)};
  auto& a = background_pool::of(one);
  auto& b = background_pool::of(two);
  evaluation in_a{a};
  evaluation in_b{b};
  CHECK(a.stats().evaluations_now == 1);
  CHECK(b.stats().evaluations_now == 1);
}

TEST_CASE("spawn goes past the queue below two evaluations, and both ways are timed") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  evaluation mine{pool};
  CHECK(pool.spawn({}, [] { return 1; }).get() == 1); // the evaluation that spawns is no competitor
  CHECK(pool.stats().plain == 1);
  int result = 0;
  std::thread other{[&] {
    evaluation theirs{pool};
    result = pool.spawn({}, [] { return 2; }).get();
  }};
  other.join();
  CHECK(result == 2);
  CHECK(pool.stats().plain == 1);
  CHECK(pool.spawn({}, [] { return 3; }).get() == 3);
  CHECK(pool.stats().plain == 2);
  CHECK(pool.stats().submitted == 3);
  CHECK(pool.stats().done == 3);
  CHECK(pool.stats().runtimes.recorded == 3);
  auto failing = pool.spawn({}, [] { throw std::domain_error{"x"}; });
  CHECK_THROWS_AS(failing.get(), std::domain_error);
}

TEST_CASE("the way can be fixed") {
  for (const auto way : {route::plain, route::priority}) {
    executor_pool executors{executors_config(1)};
    auto& pool = background_pool::build(executors, {.spawns = way});
    pool.spawn({}, [] {}).get();
    std::thread other{[&] {
      evaluation theirs{pool};
      evaluation mine{pool};
      pool.spawn({}, [] {}).get();
    }};
    other.join();
    CHECK(pool.stats().plain == (way == route::plain ? 2 : 0));
  }
}

TEST_CASE("a task on the plain way can be cancelled, and is part of a shutdown") {
  std::atomic<int> ran{0};
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  {
    blocker busy{pool};
    auto cancelled = pool.spawn({}, [&] { ++ran; });
    auto kept = pool.spawn({}, [&] { ++ran; });
    CHECK(cancelled.cancel());
    busy.open();
    CHECK(pool.shutdown(stop_mode::drain, 10s).complete);
    CHECK(kept.is_ready());
  }
  CHECK(ran == 1);
  CHECK(pool.stats().cancelled == 1);
}
