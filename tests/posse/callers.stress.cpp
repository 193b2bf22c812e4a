// Threads that call, more of them than there are executors, while parts of their computations are
// stolen by compute executors and taken back.

#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

using namespace basal::posse;

namespace {

std::uint64_t sum(member& m, std::uint64_t from, std::uint64_t to) {
  if (to - from <= 8) {
    std::uint64_t result = 0;
    for (auto i = from; i < to; ++i) {
      auto x = i;
      for (int k = 0; k < 50; ++k)
        x = x * 6364136223846793005u + 1442695040888963407u;
      result += x;
    }
    return result;
  }
  const auto middle = from + (to - from) / 2;
  auto [a, b] = m.fork_merge([=](member& k) { return sum(k, from, middle); },
                             [=](member& k) { return sum(k, middle, to); });
  return a + b;
}

} // namespace

TEST_CASE("what threads call is right whoever runs its parts") {
  runtime_config config;
  config.compute_executors = 3;
  config.quantum = runtime_config::min_quantum;
  runtime rt{config};
  constexpr std::uint64_t size = 1 << 12;
  const auto expected = rt.run([](member& m) { return sum(m, 0, size); });
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 60; ++i) {
          wrong += rt.run([](member& m) { return sum(m, 0, size); }) != expected;
          if ((i + t) % 16 == 0)
            wrong += rt.offload([](member& m) { return sum(m, 0, size); }) != expected;
        }
      });
  }
  CHECK(wrong == 0);
  const auto s = rt.stats();
  CHECK(s.computations_now == 0);
  CHECK(s.thefts == s.merges);
}

TEST_CASE("a runtime stops while threads call") {
  for (int round = 0; round < 20; ++round) {
    runtime_config config;
    config.compute_executors = 2;
    config.quantum = runtime_config::min_quantum;
    runtime rt{config};
    std::atomic<int> refused{0};
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        try {
          for (;;)
            rt.run([](member& m) { return sum(m, 0, 256); });
        } catch (const runtime_stopped&) {
          ++refused;
        }
      });
    std::this_thread::yield();
    rt.stop(basal::executors::stop_mode::drain);
    threads.clear();
    CHECK(refused == 4);
    CHECK(rt.stats().computations_now == 0);
  }
}
