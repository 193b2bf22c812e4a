// Threads at will: nothing is lost, the bound holds, and no value that was there
// long before is overtaken by more than the slack.

#include "support/catch.hpp"

#include <basal/priority/priority_queue.hpp>
#include <basal/priority/runtime_tracker.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

using namespace basal::priority;

namespace {

constexpr int threads = 4;

} // namespace

TEST_CASE("all that goes in comes out once") {
  for (const std::size_t parts : {1, 2, 5}) {
    constexpr int each = 20'000;
    priority_queue<int> q{{.capacity = 500, .parts = parts, .slack = 3}};
    std::vector<std::atomic<int>> seen(threads * each);
    std::atomic<int> popped{0};
    std::atomic<bool> too_many{false};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        priority_queue<int>::consumer c{q, static_cast<std::size_t>(t)};
        std::mt19937 random(static_cast<unsigned>(t));
        int pushed = 0;
        while (pushed < each || popped < threads * each) {
          if (pushed < each && random() % 2 == 0) {
            const int value = t * each + pushed;
            if (q.try_push(static_cast<double>(random() % 1000), value,
                           static_cast<std::size_t>(t)))
              ++pushed;
          } else if (auto x = q.try_pop(c)) {
            ++seen[static_cast<std::size_t>(*x)];
            ++popped;
          } else if (pushed == each) {
            std::this_thread::yield();
          }
          if (q.size() > 500)
            too_many = true;
        }
      });
    for (auto& t : all)
      t.join();
    bool once = true;
    for (auto& s : seen)
      once = once && s == 1;
    CHECK(once);
    CHECK_FALSE(too_many);
    CHECK(q.empty());
  }
}

TEST_CASE("what was there before is not overtaken by more than the slack") {
  // Every consumer first takes what one producer had pushed before it started, then some of what
  // is pushed meanwhile, all of it later in order by more than the slack.
  constexpr int before = 4'000;
  for (const std::size_t parts : {1, 4}) {
    priority_queue<int> q{{.capacity = 100'000, .parts = parts, .slack = 10}};
    for (int i = 0; i < before; ++i)
      q.try_push(i % 100, i, static_cast<std::size_t>(i % 7));
    std::atomic<int> old_ones{0};
    std::atomic<int> overtakers{0};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        priority_queue<int>::consumer c{q, static_cast<std::size_t>(t)};
        for (int i = 0; i < before / 4; ++i) {
          q.try_push(1000 + t, before + i, static_cast<std::size_t>(t));
          const auto x = q.try_pop(c);
          if (x && *x < before)
            ++old_ones;
          else
            ++overtakers;
        }
      });
    for (auto& t : all)
      t.join();
    CHECK(old_ones == before);
    CHECK(overtakers == 0);
  }
}

TEST_CASE("estimates that are read while types come and go are those of the type or of all") {
  // Type i takes i ms; the table is too small, so entries are replaced all the time.
  runtime_tracker t{8};
  constexpr std::uint64_t types = 24;
  std::array<task_key, types + 1> keys;
  for (std::uint64_t i = 1; i <= types; ++i)
    keys[i] = task_key{"type", i};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> wrong{0}, own{0};
  std::thread writer{[&] {
    std::mt19937 random(1);
    for (int i = 0; i < 60'000; ++i) {
      const std::uint64_t type = 1 + random() % types;
      for (int k = 0; k < 5; ++k)
        t.record(keys[type], std::chrono::milliseconds{type});
    }
    stop = true;
  }};
  std::thread reader{[&] {
    std::mt19937 random(2);
    while (!stop) {
      const std::uint64_t type = 1 + random() % types;
      const double estimate = t.estimate_s(keys[type]);
      // Its own median is exact. Anything else is the median of all, which is between these.
      if (std::abs(estimate - 1e-3 * static_cast<double>(type)) < 1e-9)
        ++own;
      else if (estimate != 0 && (estimate < 1e-3 || estimate > 24e-3))
        ++wrong;
    }
  }};
  writer.join();
  reader.join();
  CHECK(wrong == 0);
  CHECK(own > 0);
  CHECK(t.stats().types <= 8);
}
