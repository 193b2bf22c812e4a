#include <basal/executors/detail/vain_looks.hpp>

#include "support/catch.hpp"

using basal::executors::vain_looks;

namespace {

constexpr std::uint64_t soon = 1000;

/// Waits for work `waits` times, which comes `behind` the end of a look of 500, or where no look is
/// made, after `without`.
/// @returns how many looks were made
int looks_of(vain_looks& looks, int waits, std::uint64_t behind, std::uint64_t without) {
  int made = 0;
  for (int i = 0; i < waits; ++i) {
    if (looks.is_due()) {
      ++made;
      looks.ended(500 + behind, 500, true);
    } else {
      looks.ended(without, 0, true);
    }
  }
  return made;
}

} // namespace

TEST_CASE("looks behind which work comes at once are left out but for one in sixteen") {
  vain_looks looks{soon};
  const int first = vain_looks::enough;
  CHECK(looks_of(looks, first + 160, 400, 400) == first + 10);
}

TEST_CASE("looks are made where waits without them are longer") {
  vain_looks looks{soon};
  looks_of(looks, 40, 400, 5000);
  CHECK(looks_of(looks, 160, 400, 5000) == 150);
}

TEST_CASE("looks are made where no work comes for long") {
  vain_looks looks{soon};
  CHECK(looks_of(looks, 100, soon, soon) == 100);
  CHECK(looks_of(looks, 100, 9 * soon, 9 * soon) == 100);
}

TEST_CASE("looks that find something are made again") {
  vain_looks looks{soon};
  looks_of(looks, 40, 400, 400);
  REQUIRE_FALSE(looks.is_due());
  looks.ended(300, 300, false);
  CHECK(looks.is_due());
}

TEST_CASE("a wait for work that did not exist says nothing of the others") {
  vain_looks looks{soon};
  looks_of(looks, 40, 400, 400);
  looks.ended(1'000'000, 0, true);
  CHECK(looks_of(looks, 160, 400, 400) == 10);
}
