// A pool in all states at once: submitters of every kind, cancellations, and a
// shutdown at a random moment. Every task ends exactly once, and nothing hangs.

#include "pool_support.hpp"

#include "support/catch.hpp"

#include <basal/priority/evaluation.hpp>

#include <cstdlib>
#include <random>

using namespace basal::priority;
using namespace test;
using basal::executors::stop_mode;

namespace {

/// 1, or the value of BASAL_STRESS_ROUNDS: times as many rounds.
int factor() {
  const char* text = std::getenv("BASAL_STRESS_ROUNDS");
  return text != nullptr ? std::max(1, std::atoi(text)) : 1;
}

struct counts {
  std::atomic<std::uint64_t> ran{0}, accepted{0}, done{0}, cancelled{0}, discarded{0}, wrong{0};
};

/// Submits until the pool is closed, waits for what it has, and counts ends.
void submitter(background_pool& pool, counts& c, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<task_handle<unsigned>> tasks;
  auto settle = [&] {
    for (auto& t : tasks) {
      try {
        if (t.get() == seed)
          ++c.done;
        else
          ++c.wrong;
      } catch (const task_cancelled&) {
        ++c.cancelled;
      } catch (const task_discarded&) {
        ++c.discarded;
      }
    }
    tasks.clear();
  };
  try {
    for (;;) {
      const task_options options{static_cast<level>(random() % 50),
                                 task_key{"stress", random() % 5}};
      auto work = [&c, seed] {
        ++c.ran;
        return seed;
      };
      switch (random() % 4) {
      case 0: {
        evaluation mine{pool};
        tasks.push_back(pool.spawn(options, work));
        break;
      }
      case 1:
        if (auto t = pool.try_submit(options, work); t.valid())
          tasks.push_back(std::move(t));
        else
          continue;
        break;
      default:
        tasks.push_back(pool.submit(options, work));
      }
      ++c.accepted;
      if (random() % 8 == 0)
        tasks[random() % tasks.size()].cancel();
      if (tasks.size() == 20)
        settle();
    }
  } catch (const pool_closed&) {
    settle();
  }
}

} // namespace

TEST_CASE("whatever is accepted ends once, whenever the pool is shut down") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 60 * factor(); ++round) {
    counts c;
    background_stats s;
    {
      executor_pool executors{executors_config(1 + random() % 3)};
      auto& pool = background_pool::build(
        executors, {.max_queued = 1 + random() % 8, .strict = random() % 2 == 0});
      std::vector<std::thread> threads;
      for (unsigned i = 0; i < 3; ++i)
        threads.emplace_back(
          [&pool, &c, i, salt = static_cast<unsigned>(random())] { submitter(pool, c, salt + i); });
      std::this_thread::sleep_for(std::chrono::microseconds{random() % 3000});
      const auto mode = random() % 2 == 0 ? stop_mode::drain : stop_mode::discard;
      switch (random() % 3) {
      case 0: {
        std::thread second{[&] { pool.shutdown(stop_mode::drain, 10s); }};
        const bool complete = pool.shutdown(mode, 10s).complete;
        second.join();
        CHECK(complete);
        break;
      }
      case 1:
        CHECK(pool.shutdown(mode, 10s).complete);
        break;
      default:
        executors.stop(mode);
      }
      for (auto& t : threads)
        t.join();
      s = pool.stats();
    }
    CHECK(c.wrong == 0);
    CHECK(c.done == c.ran);
    CHECK(c.done + c.cancelled + c.discarded == c.accepted);
    CHECK(s.submitted == c.accepted);
    CHECK(s.done == c.done);
    CHECK(s.failed == 0);
    CHECK(s.cancelled == c.cancelled);
    CHECK(s.discarded == c.discarded);
    CHECK(s.queued_now == 0);
    CHECK(s.evaluations_now == 0);
  }
}

TEST_CASE("fibers and threads that wait with deadlines are woken once, by whichever comes first") {
  std::atomic<int> in_time{0}, too_late{0};
  executor_pool executors{executors_config(2)};
  auto& pool = background_pool::of(executors);
  for (int i = 0; i < 500 * factor(); ++i) {
    auto task = pool.submit([] { std::this_thread::sleep_for(50us); });
    auto fiber
      = pool.submit([&] { return task.wait_for(std::chrono::microseconds{10 + i % 100}); });
    ++(fiber.get() ? in_time : too_late);
    task.get();
  }
  CHECK(in_time + too_late == 500 * factor());
}
