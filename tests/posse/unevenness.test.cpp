// When a place counts as uneven, and for how long.

#include <basal/posse/detail/unevenness.hpp>

#include "support/catch.hpp"

using basal::posse::detail::unevenness;

namespace {

void end_together(unevenness& u, int times) {
  for (int i = 0; i != times; ++i)
    u.note(false);
}

/// Ranges, at most 1000, that end together before it is no longer known.
int ranges_known(unevenness& u) {
  int count = 0;
  for (; count != 1000 && u.is_known(); ++count)
    u.note(false);
  return count;
}

void find_out(unevenness& u) {
  u.note(true);
  u.note(true);
}

} // namespace

TEST_CASE("one range whose members ended apart tells nothing of its elements") {
  unevenness u;
  for (int i = 0; i != 100; ++i) {
    u.note(true);
    CHECK_FALSE(u.is_known());
    end_together(u, 4);
  }
}

TEST_CASE("a second one soon after the first does, for a few ranges") {
  for (int between = 0; between != 4; ++between) {
    unevenness u;
    u.note(true);
    end_together(u, between);
    CHECK_FALSE(u.is_known());
    u.note(true);
    CHECK(ranges_known(u) == 8);
  }
}

TEST_CASE("where it turns out to be uneven again it is for twice as many, up to 128") {
  unevenness u;
  find_out(u);
  for (const int ranges : {8, 16, 32, 64, 128, 128}) {
    CHECK(ranges_known(u) == ranges);
    end_together(u, 3); // hardly calm
    u.note(true);       // one is enough, so soon
  }
}

TEST_CASE("ranges that end apart although it is known keep it known") {
  unevenness u;
  find_out(u);
  for (int i = 0; i != 100; ++i) {
    u.note(true);
    end_together(u, 5);
    CHECK(u.is_known());
  }
  CHECK(ranges_known(u) == 128 - 5);
}

TEST_CASE("after a calm while it begins with a few ranges again") {
  unevenness u;
  find_out(u);
  CHECK(ranges_known(u) == 8);
  end_together(u, 15);
  find_out(u);
  CHECK(ranges_known(u) == 16);
  end_together(u, 16);
  find_out(u);
  CHECK(ranges_known(u) == 8);
}
