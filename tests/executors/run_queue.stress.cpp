#include <basal/executors/detail/run_queue.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <thread>
#include <vector>

// An owner that pushes and pops against thieves that steal: every item must
// come out exactly once.
TEST_CASE("nothing is lost or taken twice while thieves are at work") {
  constexpr int items = 200'000;
  constexpr int thieves = 3;
  using queue = basal::executors::run_queue<int, 16>;
  queue ring;
  std::vector<std::atomic<int>> seen(items);
  std::atomic<bool> done{false};
  auto see = [&](int item) {
    seen[static_cast<std::size_t>(item)].fetch_add(1, std::memory_order_relaxed);
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < thieves; ++t)
    threads.emplace_back([&] {
      queue own;
      int item = 0;
      while (!done.load(std::memory_order_acquire) || !ring.empty()) {
        if (ring.steal_into(own, item).count > 0) {
          see(item);
          while (own.pop_front(item))
            see(item);
        } else {
          std::this_thread::yield();
        }
      }
    });
  int item = 0;
  for (int i = 0; i < items; ++i) {
    while (!ring.push_back(i))
      if (ring.pop_front(item))
        see(item);
    if (i % 7 == 0 && ring.pop_front(item))
      see(item);
  }
  while (ring.pop_front(item))
    see(item);
  done.store(true, std::memory_order_release);
  for (auto& t : threads)
    t.join();
  int wrong = 0;
  for (auto& count : seen)
    wrong += count.load() != 1;
  CHECK(wrong == 0);
}
