#include <basal/priority/priority_queue.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace basal::priority;

namespace {

using int_queue = priority_queue<int>;

std::vector<int> drain(int_queue& q, std::size_t home = 0) {
  int_queue::consumer c{q, home};
  std::vector<int> result;
  while (auto x = q.try_pop(c))
    result.push_back(*x);
  return result;
}

} // namespace

TEST_CASE("least key first, and first in first out among equals") {
  int_queue q{{}};
  for (int i = 0; i < 1000; ++i)
    CHECK(q.try_push(i % 7, i, 0));
  CHECK(q.size() == 1000);
  const auto order = drain(q);
  REQUIRE(order.size() == 1000);
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto before = std::pair(order[i - 1] % 7, order[i - 1]);
    CHECK(before < std::pair(order[i] % 7, order[i]));
  }
  CHECK(q.empty());
  CHECK(q.size() == 0);
}

TEST_CASE("1000 equal keys come out as they went in") {
  int_queue q{{}};
  std::vector<int> in;
  for (int i = 0; i < 1000; ++i) {
    in.push_back(i);
    q.try_push(5.0, i, 0);
  }
  CHECK(drain(q) == in);
}

TEST_CASE("keys of any sign and size are in order") {
  int_queue q{{}};
  const double keys[]
    = {-std::numeric_limits<double>::max(), -1e300, -5, -1e-310, -0.0, 1e-310, 0.5, 5, 1e300,
       std::numeric_limits<double>::max()};
  std::vector<int> order(std::size(keys));
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<int>(i);
  std::mt19937 random(1);
  auto shuffled = order;
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  for (const int i : shuffled)
    q.try_push(keys[i], i, 0);
  CHECK(drain(q) == order);
  q.try_push(-0.0, 1, 0);
  q.try_push(0.0, 2, 0);
  q.try_push(-0.0, 3, 0);
  CHECK(drain(q) == std::vector{1, 2, 3});
}

TEST_CASE("a random mix of pushes and pops agrees with a sorted list") {
  for (const std::size_t parts : {1, 3}) {
    // With one consumer and no relaxation parts make no difference.
    int_queue q{{.capacity = 5000, .parts = parts, .slack = 0, .refresh = 1}};
    int_queue::consumer c{q, 1};
    std::mt19937_64 random(9);
    std::vector<std::pair<double, int>> expected;
    for (int i = 0; i < 20'000; ++i) {
      if (random() % 9 < 5) {
        const double key = static_cast<double>(random());
        if (q.try_push(key, i, random()))
          expected.emplace_back(key, i);
      } else {
        const auto least = std::min_element(expected.begin(), expected.end());
        const auto x = q.try_pop(c);
        REQUIRE(x.has_value() == (least != expected.end()));
        if (x) {
          REQUIRE(*x == least->second);
          expected.erase(least);
        }
      }
    }
    CHECK(q.size() == expected.size());
  }
}

TEST_CASE("it holds as much as its capacity, whichever part is pushed to") {
  for (const std::size_t parts : {1, 2, 3, 7}) {
    int_queue q{{.capacity = 5, .parts = parts}};
    for (int i = 0; i < 5; ++i)
      CHECK(q.try_push(0, i, 0));
    for (std::size_t home = 0; home < 7; ++home)
      CHECK_FALSE(q.try_push(-1, 9, home));
    CHECK(drain(q).size() == 5);
    CHECK(q.try_push(0, 1, 3));
  }
}

TEST_CASE("what matches is erased and the rest stays in order") {
  int_queue q{{.capacity = 1000, .parts = 2, .refresh = 1}};
  for (int i = 0; i < 1000; ++i)
    q.try_push((i * 37) % 1000, (i * 37) % 1000, static_cast<std::size_t>(i));
  CHECK(q.erase_if([](int i) { return i % 3 == 0 || i < 500; }) == 667);
  const auto rest = drain(q);
  CHECK(rest.size() == 333);
  CHECK(std::is_sorted(rest.begin(), rest.end()));
  CHECK(q.erase_if([](int) { return true; }) == 0);
  q.try_push(1, 1, 0);
  CHECK(q.erase_if([](int) { return true; }) == 1);
  CHECK(q.empty());
}

TEST_CASE("a relaxed queue keeps its two promises") {
  // Several consumers take turns in a random order; for each the test knows what was there when it
  // last looked. Single-threaded, so that "was there" has one meaning.
  constexpr std::size_t parts = 4;
  constexpr double slack = 10;
  constexpr std::uint32_t refresh = 8;
  using queue_type = priority_queue<std::size_t>;
  queue_type q{{.capacity = 100'000, .parts = parts, .slack = slack, .refresh = refresh}};
  struct item {
    double key;
    int pushed; ///< the step
    bool gone = false;
    int overtaken[parts] = {}; ///< by more than the slack, by each consumer
  };
  struct view {
    queue_type::consumer consumer;
    int looked = -1;
    std::uint32_t pops = 0;
  };
  std::deque<view> consumers;
  for (std::size_t i = 0; i < parts; ++i)
    consumers.push_back({queue_type::consumer{q, i}});
  std::vector<item> items;
  std::vector<std::size_t> waiting;
  std::mt19937_64 random(17);
  int relaxed = 0;
  for (int step = 0; step < 30'000; ++step) {
    if (waiting.size() < 200 || random() % 2 == 0) {
      // Consumers and producers are skewed: most goes to part 0.
      const auto home = random() % 4 == 0 ? random() % parts : 0;
      const double key = static_cast<double>(random() % 1000) + step * 0.01;
      q.try_push(key, items.size(), home);
      waiting.push_back(items.size());
      items.push_back({key, step});
      continue;
    }
    const auto who = random() % parts;
    auto& c = consumers[who];
    const bool looks = c.pops % refresh == 0;
    if (looks)
      c.looked = step;
    const auto popped = q.try_pop(c.consumer);
    REQUIRE(popped);
    ++c.pops;
    items[*popped].gone = true;
    std::erase(waiting, *popped);
    const double key = items[*popped].key;
    for (const auto i : waiting) {
      auto& x = items[i];
      if (x.key >= key)
        continue;
      ++relaxed;
      if (x.pushed < c.looked) {
        REQUIRE(key <= x.key + slack); // promise 1
        REQUIRE_FALSE(looks);          // promise 2
      }
      if (key > x.key + slack)
        REQUIRE(++x.overtaken[who] < static_cast<int>(refresh)); // follows from the promises
    }
  }
  CHECK(relaxed > 1000); // it is relaxed: else this tests nothing
}

TEST_CASE("without slack and with a look at each pop nothing is overtaken") {
  priority_queue<int> q{{.capacity = 1000, .parts = 4, .slack = 0, .refresh = 1}};
  for (int i = 0; i < 1000; ++i)
    q.try_push(999 - i, 999 - i, static_cast<std::size_t>(i % 3));
  int_queue::consumer a{q, 0}, b{q, 3};
  for (int i = 0; i < 1000; ++i)
    REQUIRE(q.try_pop(i % 2 != 0 ? a : b) == i);
}

TEST_CASE("equal keys in another part than a consumer's own get their turn") {
  int_queue q{{.capacity = 1000, .parts = 2, .slack = 0, .refresh = 16}};
  int_queue::consumer c{q, 0};
  q.try_push(0, -1, 1);
  int pops = 0;
  for (; pops < 100; ++pops) {
    q.try_push(0, pops, 0); // its own part never runs dry
    if (q.try_pop(c) == -1)
      break;
  }
  CHECK(pops <= 2 * 16); // a look every 16 pops, and its turn every other look
}

TEST_CASE("a shape that makes no sense is refused by name") {
  auto refused = [](queue_shape shape, const char* name) {
    CHECK_THROWS_WITH(int_queue{shape}, ContainsSubstring(name));
  };
  refused({.capacity = 0}, "capacity is 0");
  refused({.parts = 0}, "parts is 0");
  refused({.slack = -1}, "slack is -1");
  refused({.slack = std::numeric_limits<double>::quiet_NaN()}, "slack");
  refused({.refresh = 0}, "refresh is 0");
}
