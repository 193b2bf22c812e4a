#include <basal/executors/look_time.hpp>

#include "support/catch.hpp"

using basal::executors::look_time;

namespace {

constexpr std::uint64_t longest = 4000;

/// Runs and waits in turn; all looks end when the wait does, or when it should.
/// @returns how long it looked in all
std::uint64_t take_turns(look_time& times, int turns, std::uint64_t run, std::uint64_t wait) {
  std::uint64_t sum = 0;
  for (int i = 0; i < turns; ++i) {
    times.ran_for(run);
    const auto looked = std::min(wait, times.expected());
    times.waited_for(wait, looked);
    sum += looked;
  }
  return sum;
}

} // namespace

TEST_CASE("an executor that has seen nothing looks for nothing") {
  look_time times{longest};
  times.ran_for(1000);
  CHECK(times.expected() == 0);
}

TEST_CASE("waits that were short lately are looked through") {
  look_time times{longest};
  take_turns(times, 20, 100, 100);
  times.ran_for(100);
  CHECK(times.expected() >= 180);
  CHECK(times.expected() <= 200);
}

TEST_CASE("waits that were long lately are slept through") {
  look_time times{longest};
  take_turns(times, 20, 100'000, longest);
  CHECK(times.expected() == 0);
  take_turns(times, 20, 100'000, 1'000'000);
  CHECK(times.expected() == 0);
}

TEST_CASE("after one long wait an executor looks through short ones again, and after twenty soon") {
  look_time times{longest};
  take_turns(times, 20, 100, 100);
  take_turns(times, 1, 100, 1'000'000'000);
  take_turns(times, 3, 100, 100);
  times.ran_for(100);
  CHECK(times.expected() != 0);
  take_turns(times, 20, 100, 1'000'000'000);
  take_turns(times, 8, 100, 100);
  times.ran_for(100);
  CHECK(times.expected() != 0);
}

TEST_CASE("no look is longer than the longest") {
  look_time times{longest};
  take_turns(times, 50, 1'000'000, longest / 2);
  CHECK(times.expected() <= longest);
  CHECK(take_turns(times, 1, 1'000'000, 1'000'000'000) <= longest);
}

TEST_CASE("all looks together take no more than four times what the executor ran") {
  look_time times{longest};
  CHECK(take_turns(times, 1000, 10, 1000) <= look_time::looks_per_run * 1000 * 10);
  // Nor is what was saved up in a long run more than one look.
  times.ran_for(1'000'000'000);
  take_turns(times, 20, 0, 1000);
  CHECK(take_turns(times, 1000, 0, 1000) == 0);
}

TEST_CASE("where nothing is allowed nothing is looked for") {
  look_time times{0};
  CHECK(take_turns(times, 100, 100, 1) == 0);
}
