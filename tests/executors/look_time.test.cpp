#include <basal/executors/detail/look_time.hpp>

#include "support/catch.hpp"

using basal::executors::look_time;

namespace {

constexpr std::uint64_t worth = 4096;
constexpr std::uint32_t looks_per_run = 4;

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
  look_time times{worth, looks_per_run};
  times.ran_for(1000);
  CHECK(times.expected() == 0);
}

TEST_CASE("waits that were short lately are looked through, and little longer") {
  look_time times{worth, looks_per_run};
  take_turns(times, 30, 1000, 100);
  times.ran_for(1000);
  CHECK(times.expected() >= 100);
  CHECK(times.expected() < 200);
}

TEST_CASE("waits of half of what it is worth to be awake are looked through") {
  look_time times{worth, looks_per_run};
  take_turns(times, 30, 10'000, worth / 2);
  times.ran_for(10'000);
  CHECK(times.expected() == worth / 2);
}

TEST_CASE("waits that were long lately are slept through") {
  look_time times{worth, looks_per_run};
  take_turns(times, 20, 100'000, worth + 1);
  CHECK(times.expected() == 0);
  take_turns(times, 20, 100'000, 1'000'000);
  CHECK(times.expected() == 0);
}

TEST_CASE("of short and long waits in turn only the short ones are looked through") {
  look_time times{worth, looks_per_run};
  std::uint64_t in_vain = 0;
  for (int i = 0; i < 100; ++i) {
    take_turns(times, 3, 10'000, 60);
    in_vain += take_turns(times, 1, 10'000, 1'000'000);
  }
  times.ran_for(10'000);
  CHECK(times.expected() >= 60);
  CHECK(in_vain <= 100 * 64);
}

TEST_CASE("looks that would mostly find nothing are not paid for by the few that would") {
  look_time times{worth, looks_per_run};
  std::uint64_t looked = 0;
  for (int i = 0; i < 100; ++i) {
    take_turns(times, 1, 10'000, worth / 2);
    looked += take_turns(times, 9, 10'000, 1'000'000);
  }
  CHECK(looked == 0);
}

TEST_CASE("what most looks find late does not pay for the others") {
  look_time times{worth, looks_per_run};
  std::uint64_t looked = 0;
  for (int i = 0; i < 100; ++i) {
    take_turns(times, 2, 10'000, worth);
    looked += take_turns(times, 1, 10'000, 1'000'000);
  }
  CHECK(looked == 0);
}

TEST_CASE("after one long wait an executor looks through short ones again, and after twenty soon") {
  look_time times{worth, looks_per_run};
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

TEST_CASE("no look is longer than it is worth to be awake") {
  look_time times{worth, looks_per_run};
  take_turns(times, 50, 1'000'000, worth / 2);
  CHECK(times.expected() <= worth);
  CHECK(take_turns(times, 1, 1'000'000, 1'000'000'000) <= worth);
}

TEST_CASE("all looks together take no more than so many times what the executor ran") {
  for (const std::uint32_t most : {1U, 4U}) {
    look_time times{worth, most};
    CHECK(take_turns(times, 1000, 10, 1000) <= most * 1000 * 10);
    // Nor is what was saved up in a long run more than one look.
    times.ran_for(1'000'000'000);
    take_turns(times, 20, 0, 1000);
    CHECK(take_turns(times, 1000, 0, 1000) == 0);
  }
}

TEST_CASE("where nothing is allowed nothing is looked for") {
  look_time times{0, looks_per_run};
  CHECK(take_turns(times, 100, 100, 1) == 0);
}
