// Memory of what has happened lately, by a clock that ticks now and then.

#include <basal/executors/detail/recently.hpp>

#include "support/catch.hpp"

using basal::executors::recently;

TEST_CASE("what never happened has not happened lately") {
  recently r;
  CHECK_FALSE(r.has_happened());
  r.tick();
  CHECK_FALSE(r.has_happened());
}

TEST_CASE("what happens is remembered for so many ticks") {
  recently r;
  CHECK(r.note(2));
  CHECK(r.has_happened());
  r.tick();
  CHECK(r.has_happened());
  r.tick();
  CHECK_FALSE(r.has_happened());
  CHECK(r.note(1));
}

TEST_CASE("what happens again is remembered from then on, and is no news") {
  recently r;
  r.note(2);
  r.tick();
  CHECK_FALSE(r.note(2));
  r.tick();
  CHECK(r.has_happened());
  r.tick();
  CHECK_FALSE(r.has_happened());
}

TEST_CASE("what is worth little time does not shorten the memory of what is worth more") {
  recently r;
  r.note(2);
  CHECK_FALSE(r.note(1));
  r.tick();
  CHECK(r.has_happened());
}
