// Memory of what has happened lately, by a clock that ticks now and then.

#include <basal/executors/detail/recently.hpp>

#include "support/catch.hpp"

using basal::executors::recently;

TEST_CASE("what never happened has not happened lately") {
  recently r{2};
  CHECK_FALSE(r.has_happened());
  r.tick();
  CHECK_FALSE(r.has_happened());
}

TEST_CASE("what happens is remembered for so many ticks") {
  recently r{2};
  CHECK(r.note());
  CHECK(r.has_happened());
  r.tick();
  CHECK(r.has_happened());
  r.tick();
  CHECK_FALSE(r.has_happened());
  CHECK(r.note());
}

TEST_CASE("what happens again is remembered from then on, and is no news") {
  recently r{2};
  r.note();
  r.tick();
  CHECK_FALSE(r.note());
  r.tick();
  CHECK(r.has_happened());
  r.tick();
  CHECK_FALSE(r.has_happened());
}
