#include <basal/posse/posse.hpp>

#include "rounds.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace basal::posse;

namespace {

struct failure : std::runtime_error {
  explicit failure(std::uint64_t at) : std::runtime_error("node failed"), node(at) {
  }
  std::uint64_t node;
};

constexpr std::uint64_t scramble(std::uint64_t x) {
  x = x * 6364136223846793005u + 1442695040888963407u;
  return x ^ (x >> 29);
}

void spin(std::chrono::microseconds time) {
  auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// The shape, the results and the failures of a tree follow from its seed. Some
// leaves take long, so that quanta end in all kinds of places; some inner nodes
// catch what their branches threw.
struct shape {
  int fail_one_in = 0; ///< 0: never
  bool slow_leaves = false;
};

template <class Fork>
std::uint64_t visit(std::uint64_t seed, int depth, shape s, Fork& fork) {
  auto h = scramble(seed);
  if (s.fail_one_in != 0 && h % static_cast<unsigned>(s.fail_one_in) == 7)
    throw failure{h};
  if (depth == 0 || h % 11 == 0) {
    if (s.slow_leaves && h % 64 == 1)
      spin(std::chrono::microseconds{30});
    return h;
  }
  if (h % 101 == 5) {
    try {
      return fork(h, depth, s);
    } catch (const failure& f) {
      return f.node + 1;
    }
  }
  return fork(h, depth, s);
}

struct sequential_fork {
  std::uint64_t operator()(std::uint64_t h, int depth, shape s) {
    auto a = visit(h + 1, depth - 1, s, *this);
    auto b = visit(h * 3 + 2, depth - 1, s, *this);
    return a * 31 + b;
  }
};

struct parallel_fork {
  member& m;

  std::uint64_t operator()(std::uint64_t h, int depth, shape s) {
    auto [a, b] = m.fork_merge(
      [=](member& k) {
        parallel_fork f{k};
        return visit(h + 1, depth - 1, s, f);
      },
      [=](member& k) {
        parallel_fork f{k};
        return visit(h * 3 + 2, depth - 1, s, f);
      });
    return a * 31 + b;
  }
};

std::uint64_t tree(member& m, std::uint64_t seed, int depth, shape s) {
  parallel_fork f{m};
  return visit(seed, depth, s, f);
}

constexpr pure<tree> pure_tree{"tree"};

// The result of a tree, or the node that failed.
std::pair<bool, std::uint64_t> outcome(auto call) {
  try {
    return {true, call()};
  } catch (const failure& f) {
    return {false, f.node};
  }
}

} // namespace

TEST_CASE("random trees give the sequential result and the sequential first error") {
  std::uint64_t thefts = 0;
  std::uint64_t waits = 0;
  std::uint64_t failed = 0;
  std::atomic<int> wrong{0};
  for (std::size_t executors = 1; executors <= 5; ++executors) {
    runtime_config config;
    config.compute_executors = executors;
    config.quantum = runtime_config::min_quantum;
    runtime rt{config};
    std::vector<std::thread> callers;
    for (std::uint64_t t = 0; t < 3; ++t)
      callers.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 25 * rounds(); ++i) {
          auto seed = (executors << 40) + (t << 32) + i;
          shape s{.fail_one_in = i % 2 == 0 ? 0 : 20'000, .slow_leaves = i % 3 != 0};
          auto expected = outcome([&] {
            sequential_fork f;
            return visit(seed, 13, shape{s.fail_one_in, false}, f);
          });
          auto found = outcome([&] {
            return i % 5 == 0 ? pure_tree.offload(rt, seed, 13, s) : pure_tree(rt, seed, 13, s);
          });
          wrong += expected != found;
        }
      });
    for (auto& c : callers)
      c.join();
    auto stats = rt.stats();
    thefts += stats.thefts;
    waits += stats.merge_waits;
    failed += stats.failed_merges;
    CHECK(stats.computations_now == 0);
    CHECK(stats.delegates_now == 0);
  }
  CHECK(wrong == 0);
  // Otherwise the test proves nothing.
  CHECK(thefts > 0);
  CHECK(waits > 0);
  INFO("thefts " << thefts << ", waits " << waits << ", failed merges " << failed);
}

TEST_CASE("200 runtimes start and stop with work in flight") {
  for (int cycle = 0; cycle < 200; ++cycle) {
    runtime_config config;
    config.compute_executors = static_cast<std::size_t>(1 + cycle % 3);
    config.quantum = runtime_config::min_quantum;
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    std::vector<std::thread> callers;
    {
      runtime rt{config};
      for (int t = 0; t < 3; ++t)
        callers.emplace_back([&, t] {
          try {
            rt.run([&](member& m) {
              begun.fetch_add(1);
              for (std::uint64_t i = 0;; ++i) {
                parallel_fork f{m};
                visit(static_cast<std::uint64_t>(t) + i, 10, shape{}, f);
              }
            });
          } catch (const cancelled&) {
          } catch (const runtime_stopped&) {
          }
          ended.fetch_add(1);
        });
      while (begun.load() == 0)
        std::this_thread::yield();
      rt.cancel();
      rt.stop(basal::executors::stop_mode::discard);
      for (auto& c : callers)
        c.join();
    }
    REQUIRE(ended.load() == 3);
  }
}
