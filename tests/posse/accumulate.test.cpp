// accumulate(): the sequential result for many sizes, how many values there are, and what comes out
// when something throws.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/posse.hpp>

#include "stepped_runtime.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <cstddef>
#include <map>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace posse = basal::posse;
using namespace basal::test;
using posse::member;
using posse::runtime;

namespace {

/// Counts how many are made of another one by copying.
struct numbers {
  std::vector<int> all;
  static inline std::atomic<int> copies = 0;

  numbers() = default;
  numbers(const numbers& other) : all(other.all) {
    ++copies;
  }
  numbers(numbers&&) = default;
  numbers& operator=(numbers&&) = default;

  static void join(numbers& to, numbers&& from) {
    to.all.insert(to.all.end(), from.all.begin(), from.all.end());
  }
};

std::vector<int> first_ints(std::size_t n) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 0);
  return v;
}

posse::runtime_config config_of(std::size_t executors) {
  posse::runtime_config config;
  config.compute_executors = executors;
  config.quantum = posse::runtime_config::min_quantum;
  return config;
}

} // namespace

TEST_CASE("what is accumulated is in the order of elements, whatever their number") {
  for (const std::size_t executors : {1, 3}) {
    runtime rt{config_of(executors)};
    for (const std::size_t n : {0, 1, 2, 15, 16, 17, 1000, 4097, 100'000}) {
      const auto v = first_ints(n);
      const auto result = posse::accumulate(
        rt, v, numbers{}, [](numbers& to, int x) { to.all.push_back(x); }, numbers::join);
      REQUIRE((result.all == v)); // not printed: many
      const auto sum = posse::accumulate(
        rt, std::views::iota(std::size_t{0}, n), std::size_t{0},
        [](member&, std::size_t& to, std::size_t x) { to += x; },
        [](std::size_t& to, std::size_t from) { to += from; });
      CHECK(sum == (n == 0 ? 0 : n * (n - 1) / 2));
    }
  }
}

TEST_CASE("tables of words are joined") {
  using table = std::map<std::string, int>;
  runtime rt{config_of(3)};
  std::vector<std::string> words;
  for (int i = 0; i < 20'000; ++i)
    words.push_back(std::to_string(i % 100));
  const auto counts = posse::accumulate(
    rt, words, table{}, [](table& to, const std::string& word) { ++to[word]; },
    [](table& to, table&& from) {
      for (auto& [word, n] : from)
        to[word] += n;
    });
  CHECK(counts.size() == 100);
  for (const auto& [word, n] : counts)
    REQUIRE(n == 200);
}

TEST_CASE("elements may fork, and accumulate themselves") {
  runtime rt{config_of(3)};
  const auto outer = first_ints(60);
  const auto result = posse::accumulate(
    rt, outer, numbers{},
    [](member& m, numbers& to, int x) {
      const auto inner = posse::accumulate(
        m, std::views::iota(0, 300), numbers{},
        [=](member& k, numbers& its, int y) {
          k.poll();
          its.all.push_back(300 * x + y);
        },
        numbers::join);
      to.all.insert(to.all.end(), inner.all.begin(), inner.all.end());
    },
    numbers::join);
  CHECK(result.all == first_ints(60 * 300));
}

namespace {

/// Accumulates the numbers below eight. The first one takes so long that the upper half is stolen,
/// by an executor that begins then, or later.
template <bool ThiefBegins> // each has a site of its own, which knows nothing yet
numbers first_eight(member& m) {
  numbers::copies = 0;
  return posse::accumulate(
    m, 8, numbers{},
    [](member& k, numbers& to, int x) {
      to.all.push_back(x);
      if (x == 0) {
        end_quantum(k);
        end_quantum(k);
        if constexpr (ThiefBegins)
          let_thieves_begin(k);
      }
    },
    numbers::join);
}

} // namespace

TEST_CASE("there is one value for what nobody has stolen, and one for each theft") {
  stepped_runtime host{stepped(2)};
  std::vector<int> result;
  started main{host, 0, [&](member& m) { result = first_eight<true>(m).all; }};
  host.run(0);
  CHECK(numbers::copies == 1);
  host.run(1);
  CHECK(numbers::copies == 2);
  go_on();
  host.run_all();
  REQUIRE(main.has_ended());
  CHECK(result == first_ints(8));
  CHECK(numbers::copies == 2);
  CHECK(host->stats().thefts == 1);
}

TEST_CASE("a part that is taken back goes on with the value of its victim") {
  stepped_runtime host{by_worth(2)};
  std::vector<int> result;
  started main{host, 0, [&](member& m) { result = first_eight<false>(m).all; }};
  host.run(0); // the other executor does nothing meanwhile
  host.run_all();
  REQUIRE(main.has_ended());
  CHECK(host->stats().taken_back == 1);
  CHECK(result == first_ints(8));
  CHECK(numbers::copies == 1);
}

TEST_CASE("the first exception in the order of elements comes out of it, and that of a join") {
  runtime rt{config_of(3)};
  const auto v = first_ints(20'000);
  const auto error_of = [&](auto add) {
    try {
      posse::accumulate(rt, v, 0, add, [](int& to, int from) { to += from; });
    } catch (const std::runtime_error& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(error_of([](int& to, int x) {
          to += x;
          if (x == 777 || x >= 15'000)
            throw std::runtime_error{std::to_string(x)};
        })
        == "777");
  stepped_runtime host{stepped(2)};
  started main{host, 0, [&](member& m) {
                 posse::accumulate(
                   m, first_ints(8), 0,
                   [](member& k, int&, int x) {
                     if (x == 0) {
                       end_quantum(k);
                       end_quantum(k);
                       let_thieves_begin(k);
                     }
                   },
                   [](int&, int) { throw std::runtime_error{"they do not go together"}; });
               }};
  host.run(0);
  host.run(1);
  go_on();
  host.run_all();
  CHECK(main.error() == "they do not go together");
}
