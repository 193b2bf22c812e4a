// A writer that never waits, and readers that keep only whole records.

#include <basal/executors/detail/record_ring.hpp>

#include "support/catch.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

using basal::detail::record;
using basal::detail::record_ring;

TEST_CASE("records that readers keep are whole and in order") {
  std::vector<record_ring::slot> slots(64);
  record_ring ring{slots};
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> kept{0};
  auto reads = [&] {
    std::array<record, 64> copies;
    std::uint64_t next = 0;
    while (!done.load(std::memory_order_acquire)) {
      const auto [first, found] = ring.read(next, copies);
      for (std::size_t i = 0; i < found.size(); ++i)
        if (found[i].when_and_kind != first + i || found[i].what != ~(first + i))
          wrong.fetch_add(1, std::memory_order_relaxed);
      kept.fetch_add(found.size(), std::memory_order_relaxed);
      next = first + found.size();
    }
  };
  std::thread one{reads};
  std::thread other{reads};
  for (std::uint64_t n = 0; n < 300'000; ++n)
    ring.add({n, ~n});
  while (kept.load(std::memory_order_relaxed) == 0)
    std::this_thread::yield();
  done.store(true, std::memory_order_release);
  one.join();
  other.join();
  CHECK(wrong.load() == 0);
}
