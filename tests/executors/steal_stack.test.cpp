#include <basal/executors/detail/steal_stack.hpp>

#include "support/catch.hpp"

#include <array>

using stack = basal::executors::steal_stack<int, 8>;

TEST_CASE("to its owner a steal stack is last in, first out") {
  stack s;
  int out = 0;
  CHECK_FALSE(s.pop_back(out));
  for (int i = 0; i < 5; ++i)
    REQUIRE(s.push_back(i));
  CHECK(s.size() == 5);
  for (int i = 4; i >= 0; --i) {
    REQUIRE(s.pop_back(out));
    CHECK(out == i);
  }
  CHECK(s.empty());
}

TEST_CASE("a steal stack refuses what it has no room for and loses nothing") {
  stack s;
  for (int i = 0; i < 8; ++i)
    REQUIRE(s.push_back(i));
  CHECK_FALSE(s.push_back(99));
  std::array<int, 4> older{};
  REQUIRE(s.take_half(older) == 4);
  CHECK(older == std::array{0, 1, 2, 3});
  REQUIRE(s.push_back(8));
  int out = 0;
  for (int expected = 8; expected >= 4; --expected) {
    REQUIRE(s.pop_back(out));
    CHECK(out == expected);
  }
}

TEST_CASE("a thief takes the older half of a steal stack, rounded up, the oldest first") {
  for (int count = 0; count <= 8; ++count) {
    stack s;
    for (int i = 0; i < count; ++i)
      REQUIRE(s.push_back(i));
    CAPTURE(count);
    std::array<int, 4> out{};
    const auto stolen = s.take_half(out);
    CHECK(stolen == static_cast<unsigned>((count + 1) / 2));
    for (unsigned i = 0; i < stolen; ++i)
      CHECK(out[i] == static_cast<int>(i));
    CHECK(s.size() == static_cast<unsigned>(count / 2));
  }
}

TEST_CASE("a thief that wants one item gets the oldest") {
  stack s;
  for (int i = 0; i < 6; ++i)
    REQUIRE(s.push_back(i));
  std::array<int, 4> out{};
  CHECK(s.take_half(out, 1) == 1);
  CHECK(out[0] == 0);
  CHECK(s.size() == 5);
}

TEST_CASE("a steal stack goes on past the wrap of its positions") {
  stack s;
  std::array<int, 4> out{};
  int newest = 0;
  for (int i = 0; i < 70'000; ++i) { // thefts alone move its positions on
    REQUIRE((s.push_back(i) && s.push_back(-i)));
    REQUIRE(s.size() == 2);
    REQUIRE(s.take_half(out) == 1);
    REQUIRE(out[0] == i);
    REQUIRE(s.pop_back(newest));
    REQUIRE(newest == -i);
  }
}
