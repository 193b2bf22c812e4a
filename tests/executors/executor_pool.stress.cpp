#include <basal/executors/executors.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

using namespace basal::executors;

namespace {

pool_config config_of(std::size_t executors) {
  pool_config config;
  config.name = "stress";
  config.executors = executors;
  return config;
}

struct counted_work {
  std::atomic<long> run{0};
  std::atomic<long> discarded{0};

  static const work_ops ops;
};

constexpr work_ops counted_work::ops{
  [](void* object, executor&) noexcept {
    static_cast<counted_work*>(object)->run.fetch_add(1, std::memory_order_relaxed);
  },
  [](void* object) noexcept {
    static_cast<counted_work*>(object)->discarded.fetch_add(1, std::memory_order_relaxed);
  },
};

} // namespace

TEST_CASE("every accepted item is run or discarded, once, over 200 starts and stops") {
  for (int cycle = 0; cycle < 1000; ++cycle) {
    counted_work work;
    std::atomic<long> accepted{0};
    auto mode = cycle % 2 == 0 ? stop_mode::drain : stop_mode::discard;
    {
      executor_pool pool{config_of(static_cast<std::size_t>(1 + cycle % 4))};
      std::vector<std::thread> producers;
      for (int p = 0; p < 2; ++p)
        producers.emplace_back([&] {
          while (accepted.load(std::memory_order_relaxed) < 100'000
                 && pool.submit({&work, &counted_work::ops}))
            accepted.fetch_add(1, std::memory_order_relaxed);
        });
      while (accepted.load() < 100)
        std::this_thread::yield();
      pool.stop(mode);
      for (auto& p : producers)
        p.join();
    }
    REQUIRE(work.run.load() + work.discarded.load() == accepted.load());
    if (mode == stop_mode::drain)
      REQUIRE(work.run.load() == accepted.load());
  }
}

// The first item meets the stop: its executor has no thread yet, or is about to get one.
TEST_CASE("a stop that meets the first items loses none of them, over 500 pools") {
  for (int cycle = 0; cycle < 500; ++cycle) {
    counted_work work;
    long accepted = 0;
    std::atomic<bool> go{false};
    executor_pool pool{config_of(static_cast<std::size_t>(1 + cycle % 3))};
    std::thread producer{[&] {
      go.store(true);
      for (int i = 0; i < 3 && pool.submit({&work, &counted_work::ops}); ++i)
        ++accepted;
    }};
    while (!go.load())
      std::this_thread::yield();
    for (int spin = 0; spin < cycle % 50 * 20; ++spin)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    pool.stop(stop_mode::drain);
    producer.join();
    REQUIRE(work.run.load() == accepted);
  }
}

// Single items from outside, each waited for: every one of them meets a pool
// that is asleep or falling asleep. A lost wake-up shows as a time-out.
TEST_CASE("no wake-up is lost on a pool that keeps falling asleep") {
  for (std::size_t executors : {1, 2, 3}) {
    executor_pool pool{config_of(executors)};
    static constexpr work_ops ops{
      [](void* object, executor&) noexcept { static_cast<completion*>(object)->set(); },
      nullptr,
    };
    for (int i = 0; i < 20'000; ++i) {
      completion done;
      REQUIRE(pool.submit({&done, &ops}));
      done.wait();
      // Vary the moment of the next item against the executor's way to sleep.
      for (int spin = 0; spin < i % 600; ++spin)
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
  }
}
