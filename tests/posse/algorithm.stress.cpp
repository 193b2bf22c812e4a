// Algorithms while others steal: random sizes, costs and exceptions on 1 to 8
// executors, with the shortest quantum. Results equal the sequential ones; those
// of floating-point numbers are the same bit for bit on every number of
// executors. BASAL_STRESS_ROUNDS sets how many seeds each number of executors
// gets; the seed of a failure is printed.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

namespace posse = basal::posse;
using posse::member;
using posse::runtime;

namespace {

int rounds() {
  const char* text = std::getenv("BASAL_STRESS_ROUNDS");
  return text != nullptr ? std::atoi(text) : 40;
}

struct failure : std::runtime_error {
  explicit failure(std::size_t element) : std::runtime_error("failure"), at(element) {
  }
  std::size_t at;
};

void spin(std::chrono::nanoseconds d) {
  auto end = std::chrono::steady_clock::now() + d;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// A range whose elements cost something at random places.
class workload {
public:
  explicit workload(std::uint64_t seed) : random_(seed) {
    auto scale = std::uniform_int_distribution<std::size_t>{0, 5}(random_);
    std::size_t most[] = {3, 40, 700, 5'000, 60'000, 300'000};
    n_ = std::uniform_int_distribution<std::size_t>{0, most[scale]}(random_);
    // About 2 ms of work, at one place or everywhere.
    slow_from_ = std::uniform_int_distribution<std::size_t>{0, n_}(random_);
    auto slow = std::uniform_int_distribution<std::size_t>{1, 400}(random_);
    slow_to_ = std::min(n_, slow_from_ + slow);
    cost_ = std::chrono::nanoseconds{2'000'000 / slow};
    keys_.resize(n_);
    std::uniform_int_distribution<int> key{0, scale % 2 == 0 ? 1'000'000 : 20};
    for (auto& k : keys_)
      k = key(random_);
  }

  std::size_t size() const {
    return n_;
  }

  const std::vector<int>& keys() const {
    return keys_;
  }

  std::size_t any_element() {
    return std::uniform_int_distribution<std::size_t>{0, n_}(random_);
  }

  void spend(std::size_t element) const {
    if (element >= slow_from_ && element < slow_to_)
      spin(cost_);
  }

private:
  std::mt19937_64 random_;
  std::size_t n_ = 0;
  std::size_t slow_from_ = 0;
  std::size_t slow_to_ = 0;
  std::chrono::nanoseconds cost_{0};
  std::vector<int> keys_;
};

std::uint64_t bits_of(const std::vector<float>& v) {
  std::uint64_t hash = 1469598103934665603u;
  for (auto x : v)
    hash = (hash ^ std::bit_cast<std::uint32_t>(x)) * 1099511628211u;
  return hash;
}

// An associative operation that does not commute: composition of x -> a * x + b.
struct affine {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  bool operator==(const affine&) const = default;
};

affine compose(const affine& f, const affine& g) {
  return {f.a * g.a, f.b * g.a + g.b};
}

void check_elements(runtime& rt, workload& w) {
  auto n = w.size();
  auto indices = std::views::iota(std::size_t{0}, n);
  std::vector<int> visits(n, 0);
  posse::for_each(rt, indices, [&](std::size_t i) {
    w.spend(i);
    ++visits[i];
  });
  REQUIRE(std::ranges::all_of(visits, [](int v) { return v == 1; }));
  auto mapped = posse::map(rt, indices, [&](member& m, std::size_t i) {
    auto [a, b]
      = m.fork_merge([&](member&) { return w.keys()[i]; }, [&](member&) { return w.spend(i), 1; });
    return a + b;
  });
  for (std::size_t i = 0; i < n; ++i)
    REQUIRE(mapped[i] == w.keys()[i] + 1);
}

void check_errors(runtime& rt, workload& w) {
  auto n = w.size();
  auto indices = std::views::iota(std::size_t{0}, n);
  auto bad = w.any_element();
  auto match = w.any_element();
  auto visit = [&](std::size_t i) {
    w.spend(i);
    if (i >= bad)
      throw failure{i};
    return i >= match;
  };
  auto outcome = [&](auto call) {
    try {
      return std::pair{call(), n};
    } catch (const failure& f) {
      return std::pair{n, f.at};
    }
  };
  auto found = outcome(
    [&] { return static_cast<std::size_t>(posse::find_if(rt, indices, visit) - indices.begin()); });
  REQUIRE(found == (match < bad ? std::pair{match, n} : std::pair{n, bad}));
  // Thefts come in the middle of a step, too.
  auto polling = [&](member& m, std::size_t i) {
    m.poll();
    return visit(i);
  };
  REQUIRE(found == outcome([&] {
            return static_cast<std::size_t>(posse::find_if(rt, indices, polling) - indices.begin());
          }));
  auto visited = outcome([&] {
    posse::for_each(rt, indices, visit);
    return n;
  });
  REQUIRE(visited == std::pair{n, bad});
  auto reduced = outcome([&] {
    posse::map_reduce(rt, indices, visit, 0, std::plus<>{});
    return n;
  });
  REQUIRE(reduced == std::pair{n, bad});
}

void check_orders(runtime& rt, workload& w) {
  auto sorted = w.keys();
  std::ranges::sort(sorted);
  auto v = w.keys();
  posse::sort(rt, v);
  REQUIRE(v == sorted);
  auto indices
    = posse::map(rt, std::views::iota(std::size_t{0}, w.size()), [](std::size_t i) { return i; });
  auto expected = indices;
  auto by_key = [&](std::size_t a, std::size_t b) { return w.keys()[a] < w.keys()[b]; };
  std::ranges::stable_sort(expected, by_key);
  posse::stable_sort(rt, indices, by_key);
  REQUIRE(indices == expected);
  REQUIRE(posse::min_element(rt, w.keys()) == std::ranges::min_element(w.keys()));
  REQUIRE(posse::max_element(rt, w.keys()) == std::max_element(w.keys().begin(), w.keys().end()));
}

// All results that could depend on thefts: of operations that do not commute,
// and of numbers whose addition is only nearly associative.
std::vector<std::uint64_t> check_folds(runtime& rt, workload& w) {
  auto n = w.size();
  auto indices = std::views::iota(std::size_t{0}, n);
  auto map_of = [&](std::size_t i) {
    return affine{2u * static_cast<unsigned>(w.keys()[i]) + 1u, static_cast<unsigned>(i)};
  };
  auto slow_map = [&](std::size_t i) { return w.spend(i), map_of(i); };
  affine expected;
  std::vector<affine> prefixes;
  std::vector<affine> functions;
  for (auto i : indices) {
    functions.push_back(map_of(i));
    expected = compose(expected, functions.back());
    prefixes.push_back(expected);
  }
  REQUIRE(posse::map_reduce(rt, indices, slow_map, affine{}, compose) == expected);
  auto slow_compose = [&](const affine& f, const affine& g) {
    w.spend(g.a % 1024);
    return compose(f, g);
  };
  std::vector<affine> out(n);
  posse::inclusive_scan(rt, functions, out, slow_compose);
  REQUIRE(out == prefixes);
  std::vector<float> numbers(n);
  posse::map_into(rt, w.keys(), numbers, [](int k) { return std::sqrt(static_cast<float>(k)); });
  std::vector<float> sums(n);
  posse::inclusive_scan(rt, numbers, sums);
  std::vector<float> slow_sums(n);
  posse::exclusive_scan(rt, numbers, slow_sums, 1.5f, [&](float a, float b) {
    w.spend(static_cast<std::size_t>(b));
    return a + b;
  });
  auto root = [&](std::size_t i) { return w.spend(i), numbers[i]; };
  return {bits_of(sums), bits_of(slow_sums),
          std::bit_cast<std::uint32_t>(posse::reduce(rt, numbers, 0.f)),
          std::bit_cast<std::uint32_t>(posse::map_reduce(rt, indices, root, 0.f, std::plus<>{}))};
}

} // namespace

TEST_CASE("algorithms give the sequential results whatever is stolen") {
  std::map<std::uint64_t, std::vector<std::uint64_t>> floats;
  std::uint64_t thefts = 0;
  for (std::size_t executors : {1, 2, 3, 8}) {
    posse::runtime_config config;
    config.compute_executors = executors;
    config.quantum = posse::runtime_config::min_quantum;
    runtime rt{config};
    for (int round = 0; round < rounds(); ++round) {
      auto seed = static_cast<std::uint64_t>(round);
      INFO("seed " << seed << ", executors " << executors);
      workload w{seed};
      check_elements(rt, w);
      check_errors(rt, w);
      check_orders(rt, w);
      auto found = check_folds(rt, w);
      auto [first, added] = floats.emplace(seed, found);
      REQUIRE(first->second == found);
    }
    auto stats = rt.stats();
    CHECK(stats.delegates_now == 0);
    thefts += stats.thefts;
  }
  WARN(thefts << " thefts");
  CHECK(thefts > 0); // otherwise the test proves nothing
}
