// A lane's range under controlled schedules: no unit is lost, none comes out twice, also when
// what was stolen is stolen on.

#include "support/interleave/contracts.hpp"

#include <array>
#include <cstdint>
#include <string>

#include <basal/solver/detail/work_queue.hpp>

#include "support/interleave/atomic.hpp"
#include "support/interleave/verify.hpp"

#include "support/catch.hpp"

using basal::interleave::atomic;
using basal::interleave::check;
using basal::interleave::run;
using basal::interleave::scenario;
using basal::interleave::verify;

namespace {

using work_range = basal::solver::basic_work_range<atomic>;

/// As the lanes of a job: each takes what it has, then steals from the others until all ranges
/// are empty.
template <std::size_t Lanes, std::uint32_t Units>
scenario lanes() {
  return [](run& r) {
    std::array<work_range, Lanes> ranges;
    std::array<int, Units> taken{};
    ranges[0].refill({0, Units});
    auto see = [&](std::uint32_t unit) {
      check(unit < Units, "came out, but was never there: unit", static_cast<int>(unit));
      check(++taken[unit] == 1, "came out twice: unit", static_cast<int>(unit));
    };
    for (std::size_t lane = 0; lane < Lanes; ++lane)
      r.thread("lane " + std::to_string(lane), [&, lane] {
        for (bool found = true; found;) {
          while (auto unit = ranges[lane].take())
            see(*unit);
          found = false;
          for (std::size_t i = 1; i < Lanes && !found; ++i)
            if (auto loot = ranges[(lane + i) % Lanes].steal(); !loot.empty()) {
              ranges[lane].refill({loot.begin + 1, loot.end});
              see(loot.begin);
              found = true;
            }
        }
      });
    r.go();
    for (std::uint32_t unit = 0; unit < Units; ++unit)
      check(taken[unit] == 1, "is lost: unit", static_cast<int>(unit));
  };
}

} // namespace

TEST_CASE("work range: lanes share units, each once") {
  verify("work range of 3 units, two lanes", lanes<2, 3>());
  verify("work range of 5 units, two lanes", lanes<2, 5>());
  verify("work range of 4 units, three lanes", lanes<3, 4>(), {.anomalies = 0});
}
