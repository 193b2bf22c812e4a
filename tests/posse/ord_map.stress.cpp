// ord_map against std::map over thousands of random pairs of maps, sequentially
// and in parallel. BASAL_ORD_MAP_SEEDS=20000 makes it long.

#include <basal/posse/gc/gc.hpp>
#include <basal/posse/posse.hpp>

#include "gc_canaries.hpp"
#include "ord_map_support.hpp"
#include "support/catch.hpp"

#include <chrono>

using namespace basal::posse;
using namespace ord_map_support;

namespace {

/// Every operation, each result compared with the model's.
int wrong_results(std::uint64_t seed) {
  std::mt19937_64 random{seed};
  auto size = [&] { return static_cast<std::size_t>(random() % (seed % 10 == 0 ? 600 : 40)); };
  auto keys = static_cast<std::uint32_t>(2 + random() % (seed % 3 == 0 ? 30 : 5000));
  auto ma = random_model(random, size(), keys);
  auto mb = random_model(random, size(), keys);
  auto a = make(ma);
  auto b = make(mb);
  int wrong = 0;
  auto check = [&](bool holds) { wrong += !holds; };
  check(is(a, ma) && is(b, mb));

  auto minus = [](std::uint64_t x, std::uint64_t y) { return x - y; };
  model either = ma;
  model difference;
  model common;
  model subtracted = ma;
  for (auto& [k, v] : mb) {
    if (auto it = ma.find(k); it != ma.end()) {
      common[k] = it->second;
      subtracted[k] = it->second - v;
    } else {
      subtracted[k] = v;
    }
    either.emplace(k, v);
  }
  for (auto& [k, v] : ma)
    if (!mb.contains(k))
      difference[k] = v;
  check(is(set_union(a, b), either));
  check(is(set_union(a, b, minus), subtracted));
  check(is(set_intersection(a, b), common));
  check(is(set_difference(a, b), difference));
  for (auto& [k, v] : common)
    v = ma[k] - mb[k];
  check(is(set_intersection(a, b, minus), common));

  auto key = static_cast<std::uint32_t>(random() % keys);
  auto s = a.split(key);
  check(is(s.left, model(ma.begin(), ma.lower_bound(key))));
  check(is(s.right, model(ma.upper_bound(key), ma.end())));
  check(s.value.has_value() == ma.contains(key) && (!s.value || *s.value == ma[key]));
  check(is(concatenate(s.left, s.right), [&] {
    auto m = ma;
    m.erase(key);
    return m;
  }()));

  auto odd = [](std::uint32_t k, std::uint64_t v) { return (k + v) % 2 == 1; };
  auto filtered = ma;
  std::erase_if(filtered, [&](auto& e) { return !odd(e.first, e.second); });
  check(is(a.filter(odd), filtered));
  auto mapped = ma;
  for (auto& [k, v] : mapped)
    v = v * 3 + k;
  check(is(a.map([](std::uint32_t k, std::uint64_t v) { return v * 3 + k; }), mapped));

  for (int i = 0; i < 30; ++i) {
    auto k = static_cast<std::uint32_t>(random() % keys);
    if (random() % 2 == 0) {
      a = a.insert_or_assign(k, i);
      ma[k] = static_cast<std::uint64_t>(i);
    } else {
      a = a.erase(k);
      ma.erase(k);
    }
    check(a.rank(k) == static_cast<std::size_t>(std::distance(ma.begin(), ma.lower_bound(k))));
    check(a.contains(k) == ma.contains(k));
    auto at = a.lower_bound(k);
    auto expected = ma.lower_bound(k);
    check(at == a.end() ? expected == ma.end()
                        : expected != ma.end() && (*at).first == expected->first);
  }
  check(is(a, ma));
  return wrong;
}

} // namespace

TEST_CASE("every operation agrees with std::map, and leaves a balanced tree") {
  auto seeds = canaries::amount("BASAL_ORD_MAP_SEEDS", 3000);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    REQUIRE(wrong_results(seed) == 0);
    if (seed % 256 == 0)
      gc::collect();
  }
}

TEST_CASE("parallel operations make the sequential trees, whatever is stolen") {
  std::uint64_t thefts = 0;
  std::uint64_t merge_waits = 0;
  for (std::size_t executors = 1; executors <= 3; ++executors) {
    runtime_config config;
    config.compute_executors = executors;
    config.quantum = runtime_config::min_quantum;
    runtime rt{config};
    auto rounds = canaries::amount("BASAL_ORD_MAP_SEEDS", 3000) / 600;
    for (std::uint64_t seed = 0; seed < rounds; ++seed) {
      std::mt19937_64 random{seed};
      std::size_t wrong = rt.run([&](member& m) {
        auto ea = random_model(random, 20'000, 60'000);
        auto eb = random_model(random, seed % 2 == 0 ? 20'000 : 300, 60'000);
        std::vector<std::pair<std::uint32_t, std::uint64_t>> sorted(ea.begin(), ea.end());
        auto a = ord_map_support::map::from_sorted(m, sorted);
        auto b = make(eb);
        auto same = [](const auto& x, const auto& y) { return ord_map_probe::same_tree(x, y); };
        auto minus = [](std::uint64_t x, std::uint64_t y) { return x - y; };
        auto third = [](std::uint32_t k, std::uint64_t) { return k % 3 == 0; };
        auto scramble = [](std::uint32_t k, std::uint64_t v) { return v * k + 1; };
        // Associative and not commutative: composition of linear functions.
        using linear = std::pair<std::uint64_t, std::uint64_t>;
        auto line = [](std::uint32_t k, std::uint64_t v) { return linear{v | 1, k}; };
        auto then = [](linear f, linear g) {
          return linear{f.first * g.first, f.second * g.first + g.second};
        };
        std::size_t failed = 0;
        failed += !same(a, make(ea));
        failed += !same(set_union(m, a, b), set_union(a, b));
        failed += !same(set_union(m, b, a, minus), set_union(b, a, minus));
        failed += !same(set_intersection(m, a, b), set_intersection(a, b));
        failed += !same(set_intersection(m, a, b, minus), set_intersection(a, b, minus));
        failed += !same(set_difference(m, a, b), set_difference(a, b));
        failed += !same(a.filter(m, third), a.filter(third));
        failed += !same(a.map(m, scramble), a.map(scramble));
        failed
          += a.map_reduce(m, linear{1, 0}, line, then) != a.map_reduce(linear{1, 0}, line, then);
        auto sum = std::plus<std::uint64_t>{};
        failed += a.reduce(m, 0, sum) != a.reduce(0, sum);
        return failed;
      });
      INFO("executors " << executors << ", seed " << seed);
      REQUIRE(wrong == 0);
    }
    thefts += rt.stats().thefts;
    merge_waits += rt.stats().merge_waits;
  }
  INFO("thefts " << thefts << ", merge waits " << merge_waits);
  CHECK(thefts > 0);
}

TEST_CASE("what a function throws comes out of the parallel operation") {
  runtime rt{{.compute_executors = 2, .quantum = runtime_config::min_quantum}};
  std::mt19937_64 random{5};
  auto a = make(random_model(random, 30'000, 1'000'000));
  for (std::uint32_t limit : {0u, 500'000u, 999'000u})
    CHECK_THROWS_WITH(rt.run([&](member& m) {
      a.map(m, [&](std::uint32_t k, std::uint64_t v) {
        if (k >= limit)
          throw std::runtime_error("too large");
        return v;
      });
    }),
                      "too large");
}
