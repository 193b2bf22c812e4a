#include "pool_support.hpp"

#include "support/catch.hpp"

using namespace basal::priority;
using namespace test;
using basal::executors::stop_mode;

TEST_CASE("tasks are counted by the level at which they were submitted") {
  CHECK(place_of(level::interactive) == 0);
  CHECK(place_of(level{4}) == 0);
  CHECK(place_of(level::normal) == 1);
  CHECK(place_of(level{9}) == 1);
  CHECK(place_of(level::background_compile) == 2);
  CHECK(place_of(level::low) == 3);
  CHECK(place_of(level::batch) == 4);
  CHECK(place_of(level{1'000'000}) == 4);
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::build(
    executors, {.max_queued = 4, .when_full = full_policy::reject, .strict = true});
  const auto at = [&](level l) { return pool.stats().levels[place_of(l)]; };
  {
    blocker busy{pool};
    CHECK(at(level::interactive).running_now == 1);
    CHECK(at(level::interactive).oldest == 0ns);
    auto unwanted = pool.submit({level::batch, {}}, [] {});
    std::this_thread::sleep_for(20ms);
    pool.post({level::low, {}}, [] { throw 1; });
    pool.post({level{7}, {}}, [] {});
    pool.post({level::normal, {}}, [] {});
    CHECK_THROWS_AS(pool.post({level::background_compile, {}}, [] {}), queue_full);
    CHECK_FALSE(pool.try_submit({level::low, {}}, [] {}).valid());
    CHECK(at(level::interactive).queued_now == 0);
    CHECK(at(level::normal).queued_now == 2);
    CHECK(at(level::normal).submitted == 2);
    CHECK(at(level::background_compile).queued_now == 0);
    CHECK(at(level::background_compile).rejected == 1);
    CHECK(at(level::low).queued_now == 1);
    CHECK(at(level::low).rejected == 1);
    CHECK(at(level::batch).queued_now == 1);
    CHECK(at(level::batch).oldest >= 20ms);
    CHECK(at(level::low).oldest < at(level::batch).oldest);
    CHECK(unwanted.cancel());
  }
  CHECK(pool.shutdown(stop_mode::drain, 10s).complete);
  CHECK(at(level::interactive).done == 1);
  CHECK(at(level::normal).done == 2);
  CHECK(at(level::low).failed == 1);
  CHECK(at(level::low).done == 0);
  CHECK(at(level::batch).cancelled == 1);
  const auto s = pool.stats();
  CHECK(s.submitted == 5);
  CHECK(s.done == 3);
  CHECK(s.failed == 1);
  CHECK(s.cancelled == 1);
  CHECK(s.rejected == 2);
  for (const auto& x : s.levels) {
    CHECK(x.queued_now == 0);
    CHECK(x.running_now == 0);
    CHECK(x.oldest == 0ns);
  }
}

TEST_CASE("a task that goes past the queue is counted at its level, and waits in none") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  blocker busy{pool};
  auto task = pool.spawn({level::low, {}}, [] {});
  auto low = pool.stats().levels[place_of(level::low)];
  CHECK(low.submitted == 1);
  CHECK(low.queued_now == 0);
  busy.open();
  task.get();
  low = pool.stats().levels[place_of(level::low)];
  CHECK(low.done == 1);
}

TEST_CASE("tasks that a shutdown discards are counted at their levels") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  {
    blocker busy{pool};
    pool.post({level::batch, {}}, [] {});
    CHECK_FALSE(pool.shutdown(stop_mode::discard, 0s).complete);
    const auto batch = pool.stats().levels[place_of(level::batch)];
    CHECK(batch.discarded == 1);
    CHECK(batch.queued_now == 0);
  }
}

TEST_CASE("a cancelled task that makes room in a full queue waits no more") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::build(
    executors, {.max_queued = 2, .when_full = full_policy::reject, .strict = true});
  blocker busy{pool};
  auto unwanted = pool.submit({level::batch, {}}, [] {});
  pool.post({level::low, {}}, [] {});
  CHECK(unwanted.cancel());
  CHECK(pool.stats().levels[place_of(level::batch)].queued_now == 1); // it is there still
  pool.post({level::low, {}}, [] {});
  const auto s = pool.stats();
  CHECK(s.levels[place_of(level::batch)].queued_now == 0);
  CHECK(s.levels[place_of(level::batch)].cancelled == 1);
  CHECK(s.levels[place_of(level::low)].queued_now == 2);
  CHECK(s.queued_now == pool.queued());
}
