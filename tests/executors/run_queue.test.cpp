#include <basal/executors/detail/run_queue.hpp>

#include "support/catch.hpp"

#include <array>

using basal::executors::steal_outcome;
using queue = basal::executors::run_queue<int, 8>;

TEST_CASE("a run queue is first in, first out") {
  queue q;
  int out = 0;
  CHECK_FALSE(q.pop_front(out));
  for (int i = 0; i < 5; ++i)
    REQUIRE(q.push_back(i));
  CHECK(q.size() == 5);
  for (int i = 0; i < 5; ++i) {
    REQUIRE(q.pop_front(out));
    CHECK(out == i);
  }
  CHECK(q.empty());
}

TEST_CASE("a run queue refuses what it has no room for and loses nothing") {
  queue q;
  for (int i = 0; i < 8; ++i)
    REQUIRE(q.push_back(i));
  CHECK_FALSE(q.push_back(99));
  std::array<int, 4> older;
  REQUIRE(q.take_half(older) == 4);
  CHECK(older == std::array<int, 4>{0, 1, 2, 3});
  REQUIRE(q.push_back(8));
  CHECK(q.take_half(older) == 0); // not full
  int out = 0;
  for (int expected = 4; expected < 9; ++expected) {
    REQUIRE(q.pop_front(out));
    CHECK(out == expected);
  }
}

TEST_CASE("a thief takes the older half, rounded up, and keeps its order") {
  for (int count = 0; count <= 8; ++count) {
    queue victim;
    queue thief;
    for (int i = 0; i < count; ++i)
      REQUIRE(victim.push_back(i));
    int last = -1;
    const auto [outcome, stolen] = victim.steal_into(thief, last);
    CAPTURE(count);
    CHECK(outcome == (count > 0 ? steal_outcome::stolen : steal_outcome::empty));
    CHECK(stolen == static_cast<unsigned>((count + 1) / 2));
    CHECK(victim.size() == static_cast<unsigned>(count / 2));
    int out = 0;
    for (int i = 0; i + 1 < static_cast<int>(stolen); ++i) {
      REQUIRE(thief.pop_front(out));
      CHECK(out == i);
    }
    CHECK(thief.empty());
    if (stolen > 0)
      CHECK(last == static_cast<int>(stolen) - 1);
  }
}

TEST_CASE("a thief without room for half a ring takes nothing") {
  queue victim;
  queue thief;
  for (int i = 0; i < 5; ++i)
    REQUIRE((victim.push_back(i) && thief.push_back(10 + i)));
  int out = 0;
  const auto theft = victim.steal_into(thief, out);
  CHECK(theft.outcome == steal_outcome::no_room);
  CHECK(theft.count == 0);
  CHECK(victim.size() == 5);
}

TEST_CASE("a run queue goes on past the wrap of its slots") {
  queue q;
  int out = 0;
  for (int i = 0; i < 1000; ++i) {
    REQUIRE((q.push_back(i) && q.push_back(-i)));
    REQUIRE(q.pop_front(out));
    CHECK(out == i);
    REQUIRE(q.pop_front(out));
    CHECK(out == -i);
  }
}
