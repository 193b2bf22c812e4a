#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <memory>
#include <string>
#include <variant>
#include <vector>

using namespace basal::posse;

namespace {

runtime_config config_of(std::size_t executors) {
  runtime_config config;
  config.compute_executors = executors;
  config.quantum = runtime_config::min_quantum;
  return config;
}

long fib(member& m, int n) {
  if (n < 2)
    return n;
  auto [a, b] = m.fork_merge([=](member& k) { return fib(k, n - 1); },
                             [=](member& k) { return fib(k, n - 2); });
  return a + b;
}

constexpr pure<fib> pure_fib{"fib"};

double add_up(member& m, const double* first, std::size_t count) {
  if (count == 1)
    return *first;
  auto half = count - count / 2;
  auto [a, b] = m.fork_merge([=](member& k) { return add_up(k, first, half); },
                             [=](member& k) { return add_up(k, first + half, count - half); });
  return a + b;
}

constexpr pure<add_up> pure_add_up{"add_up"};

std::string spell(member& m, int from, int to) {
  if (to - from == 1)
    return std::to_string(from) + ",";
  auto middle = from + (to - from) / 2;
  auto [a, b] = m.fork_merge([=](member& k) { return spell(k, from, middle); },
                             [=](member& k) { return spell(k, middle, to); });
  return a + b;
}

constexpr pure<spell> pure_spell{"spell"};

} // namespace

TEST_CASE("fork_merge runs left, then right, and returns both results") {
  runtime rt{config_of(1)};
  std::string order;
  auto [a, b] = rt.run([&](member& m) {
    return m.fork_merge(
      [&](member&) {
        order += 'l';
        return 1;
      },
      [&](member&) {
        order += 'r';
        return std::string{"two"};
      });
  });
  CHECK(a == 1);
  CHECK(b == "two");
  CHECK(order == "lr");
}

TEST_CASE("branches may return nothing, move-only values, and be named") {
  runtime rt{config_of(1)};
  int calls = 0;
  auto named = [&](member&) { ++calls; };
  auto both = rt.run([&](member& m) {
    return m.fork_merge(named, [](member&) { return std::make_unique<int>(7); });
  });
  CHECK(calls == 1);
  CHECK(both.first == std::monostate{});
  CHECK(*both.second == 7);
}

TEST_CASE("small results need no default constructor") {
  struct number {
    number() = delete;
    explicit number(int x) : value{x} {
    }
    int value;
  };
  runtime rt;
  CHECK(rt.run([](member& m) {
    const auto [a, b] = m.fork_merge([] { return number{3}; }, [] { return number{4}; });
    return a.value + b.value;
  }) == 7);
}

TEST_CASE("a pure function gives the sequential result on 1 to 4 executors") {
  for (std::size_t executors = 1; executors <= 4; ++executors) {
    runtime rt{config_of(executors)};
    CHECK(pure_fib(rt, 27) == 196418);
    CHECK(pure_spell(rt, 0, 1000) == rt.run([](member&) {
      std::string s;
      for (int i = 0; i < 1000; ++i)
        s += std::to_string(i) + ",";
      return s;
    }));
  }
}

TEST_CASE("a floating-point sum is the same to the last bit, stolen or not") {
  std::vector<double> values(1 << 17);
  double x = 0.1;
  for (auto& v : values)
    v = x = 3.7 * x * (1 - x); // chaotic, so that any other order would show
  runtime one{config_of(1)};
  runtime four{config_of(4)};
  auto expected = pure_add_up(one, values.data(), values.size());
  for (int i = 0; i < 20; ++i)
    CHECK(pure_add_up(four, values.data(), values.size()) == expected);
}

TEST_CASE("a pure function calls another with its member") {
  runtime rt{config_of(2)};
  auto result = rt.run([](member& m) { return pure_fib(m, 20) + pure_fib(m, 10); });
  CHECK(result == 6765 + 55);
}

TEST_CASE("offloading runs the whole call on a compute executor") {
  runtime rt{config_of(2)};
  CHECK(pure_fib.offload(rt, 20) == 6765);
  rt.offload([&](member& m) { CHECK(&m.executor().pool() == &rt.compute()); });
}

TEST_CASE("old continuations of a long computation are stolen, and each call is one computation") {
  runtime rt{config_of(2)};
  while (rt.stats().thefts == 0)
    pure_fib(rt, 30);
  auto before = rt.stats();
  CHECK(before.merges <= before.thefts);
  for (int i = 0; i < 100; ++i)
    CHECK(pure_fib(rt, 3) == 2);
  CHECK(rt.stats().computations == before.computations + 100);
}

TEST_CASE("a runtime of one executor steals nothing") {
  runtime rt{config_of(1)};
  CHECK(pure_fib(rt, 30) == 832040);
  CHECK(rt.stats().thefts == 0);
}

TEST_CASE("declared functions carry their name into the statistics") {
  runtime rt{config_of(1)};
  auto calls = [&] {
    for (auto& f : rt.stats().functions)
      if (f.name == "spell")
        return f.calls;
    return std::uint64_t{0};
  };
  auto before = calls();
  pure_spell(rt, 0, 10);
  pure_spell(rt, 0, 10);
  CHECK(calls() == before + 2);
}

TEST_CASE("executors take turns between computations that wait") {
  runtime rt{config_of(1)};
  // The first computation ends only when the second has run: on one executor
  // that takes a turn at a quantum's end.
  std::atomic<bool> second_ran{false};
  std::thread other;
  rt.offload([&](member& m) {
    other = std::thread{[&] { rt.offload([&](member&) { second_ran = true; }); }};
    while (!second_ran)
      m.poll();
  });
  other.join();
  CHECK(rt.stats().yields > 0);
}

TEST_CASE("the statistics tell forks from polls, and what a function took") {
  auto config = config_of(1);
  config.stack_bytes = 256 * 1024; // ThreadSanitizer follows at most 65,536 calls
  runtime rt{config};
  rt.run([](member& m) { // not a declared function: counted in the sum alone
    for (int i = 0; i < 1000; ++i)
      m.poll();
  });
  CHECK(rt.stats().forks == 0);
  CHECK(pure_fib(rt, 20) == 6765);
  CHECK_THROWS(pure_fib(rt, 1'000'000)); // too deep
  auto stats = rt.stats();
  REQUIRE(stats.functions.size() == 1);
  const auto& fib_stats = stats.functions[0];
  CHECK(fib_stats.name == "fib");
  CHECK(fib_stats.calls == 2);
  CHECK(fib_stats.failed == 1);
  CHECK(fib_stats.forks >= 10'945); // those of fib(20), and the deep ones
  CHECK(fib_stats.forks < 30'000);
  CHECK(fib_stats.inlined == fib_stats.forks);
  CHECK(fib_stats.busy_ns > 0);
  CHECK(stats.over_limit == 1);
  CHECK(stats.failed == 0);
  CHECK(stats.forks == fib_stats.forks);
  CHECK(stats.deepest_stack_bytes > 100'000);
}
