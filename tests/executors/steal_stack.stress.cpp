#include <basal/executors/detail/steal_stack.hpp>

#include "support/catch.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

// An owner that pushes and pops against thieves that steal: every item must
// come out exactly once.
TEST_CASE("nothing of a steal stack is lost or taken twice while thieves are at work") {
  constexpr int items = 200'000;
  constexpr int thieves = 3;
  using stack = basal::executors::steal_stack<int, 16>;
  stack shared;
  std::vector<std::atomic<int>> seen(items);
  std::atomic<bool> done{false};
  auto see = [&](int item) {
    seen[static_cast<std::size_t>(item)].fetch_add(1, std::memory_order_relaxed);
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < thieves; ++t)
    threads.emplace_back([&] {
      std::array<int, stack::max_stolen> loot{};
      while (!done.load(std::memory_order_acquire) || !shared.empty()) {
        const auto count = shared.take_half(loot);
        for (std::uint32_t i = 0; i < count; ++i)
          see(loot[i]);
        if (count == 0)
          std::this_thread::yield();
      }
    });
  int item = 0;
  for (int i = 0; i < items; ++i) {
    while (!shared.push_back(i))
      if (shared.pop_back(item))
        see(item);
    if (i % 3 == 0 && shared.pop_back(item))
      see(item);
  }
  while (shared.pop_back(item))
    see(item);
  done.store(true, std::memory_order_release);
  for (auto& t : threads)
    t.join();
  int wrong = 0;
  for (auto& count : seen)
    wrong += count.load() != 1;
  CHECK(wrong == 0);
}
