#include <basal/solver/detail/work_queue.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

using basal::solver::work_range;

TEST_CASE("the owner takes units in order, thieves take the upper half") {
  work_range units;
  CHECK_FALSE(units.take());
  CHECK(units.steal().empty());
  units.refill({10, 20});
  CHECK(units.size() == 10);
  CHECK(units.take() == 10);
  auto stolen = units.steal(); // of 11..19
  CHECK(stolen.begin == 15);
  CHECK(stolen.end == 20);
  for (std::uint32_t i = 11; i < 15; ++i)
    CHECK(units.take() == i);
  CHECK_FALSE(units.take());
}

TEST_CASE("a single unit can be stolen") {
  work_range units;
  units.refill({7, 8});
  auto stolen = units.steal();
  CHECK(stolen.begin == 7);
  CHECK(stolen.size() == 1);
  CHECK(units.size() == 0);
}

TEST_CASE("each unit is taken once, whoever takes it") {
  constexpr std::uint32_t units = 100'000;
  constexpr std::size_t lanes = 4;
  std::vector<work_range> ranges(lanes);
  auto taken = std::make_unique<std::atomic<int>[]>(units);
  ranges[0].refill({0, units}); // all the others steal
  std::vector<std::thread> threads;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    threads.emplace_back([&, lane] {
      for (bool found = true; found;) {
        while (auto unit = ranges[lane].take())
          taken[*unit].fetch_add(1, std::memory_order_relaxed);
        found = false;
        for (std::size_t i = 1; i < lanes && !found; ++i)
          if (auto loot = ranges[(lane + i) % lanes].steal(); !loot.empty()) {
            ranges[lane].refill(loot);
            found = true;
          }
      }
    });
  for (auto& t : threads)
    t.join();
  std::uint32_t once = 0;
  for (std::uint32_t i = 0; i < units; ++i)
    once += taken[i].load() == 1 ? 1 : 0;
  CHECK(once == units);
}
