#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <memory_resource>
#include <string>
#include <vector>

using namespace basal::posse;

namespace {

constexpr std::size_t kib = 1024;

runtime_config config_of(std::size_t executors, victim_policy policy) {
  runtime_config config;
  config.compute_executors = executors;
  config.quantum = runtime_config::min_quantum;
  config.victims = policy;
  return config;
}

/// A leaf's work: so long that siblings are stolen.
void work(member& m) {
  for (int i = 0; i < 20'000; ++i)
    m.poll();
}

/// A tree whose leaves hold `bytes` each while they work.
std::size_t hold(member& m, int depth, std::size_t bytes) {
  if (depth == 0) {
    std::pmr::vector<char> mine(bytes, 'x', &m.memory());
    work(m);
    return static_cast<std::size_t>(std::count(mine.begin(), mine.end(), 'x'));
  }
  auto [a, b] = m.fork_merge([=](member& k) { return hold(k, depth - 1, bytes); },
                             [=](member& k) { return hold(k, depth - 1, bytes); });
  return a + b;
}

constexpr pure<hold> pure_hold{"hold"};

/// Keeps `bytes` before its forks: what its delegates may use is less by that.
std::size_t keep_and_hold(member& m, std::size_t kept, std::size_t bytes) {
  std::pmr::vector<char> mine(kept, 'x', &m.memory());
  return mine.size() + hold(m, 4, bytes);
}

constexpr pure<keep_and_hold> pure_keep_and_hold{"keep_and_hold"};

/// Does not look at the clock any more.
std::size_t keep_and_return(member& m, std::size_t bytes) {
  const auto held = m.charge(bytes);
  return bytes;
}

constexpr pure<keep_and_return> pure_keep_and_return{"keep_and_return"};

const runtime* host = nullptr;

/// Returns how many computations are near their limit once the count has changed.
std::size_t hold_until_counted(member& m, std::size_t bytes) {
  const auto before = host->stats().near_limit;
  const auto held = m.charge(bytes);
  while (host->stats().near_limit == before)
    m.poll();
  return host->stats().near_limit;
}

constexpr pure<hold_until_counted> pure_hold_until_counted{"hold_until_counted"};

constexpr victim_policy policies[] = {victim_policy::run_victim, victim_policy::suspend_victim};

} // namespace

TEST_CASE("a computation within its memory limit is not disturbed, stolen or not") {
  for (auto policy : policies)
    for (std::size_t executors : {1, 3}) {
      runtime rt{config_of(executors, policy)};
      INFO("policy " << static_cast<int>(policy) << ", executors " << executors);
      for (int i = 0; i < 5; ++i)
        CHECK(pure_hold.with({.memory_limit = 400 * kib})(rt, 5, 300 * kib) == 32 * 300 * kib);
      auto stats = rt.stats();
      CHECK(stats.over_limit == 0);
      CHECK(stats.most_bytes_per_executor >= 300 * kib);
      CHECK(stats.most_bytes_per_executor <= 400 * kib);
    }
}

TEST_CASE("a computation beyond its memory limit fails alone, stolen or not") {
  for (auto policy : policies)
    for (std::size_t executors : {1, 3}) {
      runtime rt{config_of(executors, policy)};
      CHECK_THROWS_AS(pure_hold.with({.memory_limit = 400 * kib})(rt, 5, 401 * kib),
                      memory_limit_exceeded);
      CHECK(pure_hold(rt, 2, 401 * kib) == 4 * 401 * kib);
      CHECK(rt.stats().over_limit == 1);
    }
}

TEST_CASE("a computation near its memory limit is counted once, as soon as it is, or at its end") {
  runtime rt{config_of(2, victim_policy::run_victim)};
  const call_options limit{.memory_limit = 1000 * kib};
  CHECK(pure_hold.with(limit)(rt, 2, 700 * kib) == 4 * 700 * kib);
  CHECK(rt.stats().near_limit == 0);
  CHECK(pure_hold.with(limit)(rt, 2, 900 * kib) == 4 * 900 * kib);
  CHECK(rt.stats().near_limit == 1);
  CHECK(pure_keep_and_return.with(limit)(rt, 900 * kib) == 900 * kib);
  CHECK(rt.stats().near_limit == 2);
  host = &rt;
  CHECK(pure_hold_until_counted.with(limit)(rt, 900 * kib) == 3);
  CHECK(rt.stats().near_limit == 3);
}

TEST_CASE("a delegate has what its victims have left at the fork") {
  for (auto policy : policies)
    for (std::size_t executors : {1, 3}) {
      runtime rt{config_of(executors, policy)};
      call_options limit{.memory_limit = 500 * kib};
      CHECK(pure_keep_and_hold.with(limit)(rt, 200 * kib, 250 * kib) == 200 * kib + 16 * 250 * kib);
      CHECK_THROWS_AS(pure_keep_and_hold.with(limit)(rt, 200 * kib, 320 * kib),
                      memory_limit_exceeded);
    }
}

TEST_CASE("the runtime's memory limit holds where a call has none, and says what to do") {
  auto config = config_of(1, victim_policy::run_victim);
  config.memory_limit = 64 * kib;
  runtime rt{config};
  CHECK_THROWS_WITH(pure_hold(rt, 0, 100 * kib),
                    "basal: hold: an allocation of 102400 bytes would exceed its memory limit of "
                    "65536 bytes on one executor; raise memory_limit of the call or of the "
                    "runtime, or let it keep less at a time");
  CHECK(pure_hold(rt, 0, 32 * kib) == 32 * kib);
}

TEST_CASE("the stack counts towards the memory limit") {
  auto deep = [](auto& self, member& m, int n) -> int {
    volatile char frame[256] = {};
    if (n == 0)
      return frame[0];
    auto [a, b]
      = m.fork_merge([&](member& k) { return self(self, k, n - 1); }, [](member&) { return 1; });
    return a + b + frame[static_cast<std::size_t>(n) % 256];
  };
  runtime rt{config_of(1, victim_policy::run_victim)};
  auto run = [&](std::size_t limit) {
    return rt.run(call_options{.memory_limit = limit},
                  [&](member& m) { return deep(deep, m, 150); });
  };
#ifdef __SANITIZE_ADDRESS__ // has something between any two variables
  constexpr std::size_t enough = 800 * kib;
#else
  constexpr std::size_t enough = 200 * kib;
#endif
  CHECK(run(enough) == 150);
  CHECK_THROWS_AS(run(20 * kib), memory_limit_exceeded);
}

TEST_CASE("what comes from elsewhere can be charged") {
  runtime rt{config_of(1, victim_policy::run_victim)};
  rt.run(call_options{.memory_limit = 64 * kib}, [](member& m) {
    auto first = m.charge(40 * kib);
    CHECK_THROWS_AS(m.charge(40 * kib), memory_limit_exceeded);
    first = {};
    auto second = m.charge(50 * kib);
    CHECK(second.bytes() == 50 * kib);
  });
}

TEST_CASE("what a stolen branch charged is given back where it was counted") {
  runtime rt{config_of(2, victim_policy::run_victim)};
  // The two charges fit together only where two executors are; and four rounds
  // only if each has given back all of its own.
  rt.run(call_options{.memory_limit = 64 * kib}, [](member& m) {
    for (int round = 0; round < 4; ++round) {
      std::atomic<bool> stolen{false};
      auto [left, right] = m.fork_merge(
        [&](member& k) {
          auto charged = k.charge(40 * kib);
          while (!stolen.load(std::memory_order_relaxed))
            k.poll();
          return charged;
        },
        [&](member& k) {
          auto charged = k.charge(40 * kib);
          stolen.store(true, std::memory_order_relaxed);
          return charged;
        });
      CHECK(left.bytes() + right.bytes() == 80 * kib);
    }
  });
  CHECK(rt.stats().thefts == 4);
}

TEST_CASE("a result may own memory of the executor it was stolen by") {
  runtime rt{config_of(3, victim_policy::run_victim)};
  auto spell = [](auto& self, member& m, int from, int to) -> std::pmr::string {
    if (to - from == 1) {
      work(m);
      return std::pmr::string{std::to_string(from) + " which is long enough for the heap,",
                              &m.memory()};
    }
    auto middle = from + (to - from) / 2;
    auto [a, b] = m.fork_merge([&](member& k) { return self(self, k, from, middle); },
                               [&](member& k) { return self(self, k, middle, to); });
    return a + b;
  };
  auto text = rt.run([&](member& m) { return std::string{spell(spell, m, 0, 64)}; });
  std::string expected;
  for (int i = 0; i < 64; ++i)
    expected += std::to_string(i) + " which is long enough for the heap,";
  CHECK(text == expected);
}
