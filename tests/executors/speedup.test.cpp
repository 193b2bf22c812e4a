#include <basal/executors/detail/speedup.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

using basal::executors::speedup;
using basal::executors::turn_costs;

namespace {

using lengths = std::vector<std::uint64_t>;

/// Two executors side by side, of which each does `share` of what it would do alone.
turn_costs::evidence two(double share) {
  constexpr double took = 1000;
  return {.samples = speedup::enough,
          .took = took,
          .short_messages = took,
          .known = took,
          .alone = took * share,
          .width = 2 * took};
}

turn_costs::evidence nothing_known() {
  auto result = two(1);
  result.known = 0;
  return result;
}

/// A pool whose time passes in steps of `step`. In microseconds, which are ticks here.
struct machine {
  static constexpr std::uint64_t step = 25;

  speedup watch{1};
  turn_costs::evidence beside = two(0.4);
  std::uint64_t samples_alone = speedup::enough;
  std::uint64_t now = 1'000'000;
  std::uint64_t since = now; ///< of this phase
  bool has_ended = false;    ///< as go_on() says

  void pass() {
    has_ended = watch.go_on(
      now, [&] { return samples_alone; }, [&] { return beside; });
    now += step;
  }

  /// For how long work goes around and stays, in turn, `count` of these.
  lengths phases(std::size_t count) {
    lengths result;
    while (result.size() < count) {
      const bool stayed = watch.work_stays();
      const auto present = now;
      pass();
      if (watch.work_stays() != stayed)
        result.push_back(present - std::exchange(since, present));
    }
    return result;
  }
};

} // namespace

TEST_CASE("where two are slower than one, twice in a row, work stays for longer and longer") {
  machine m;
  CHECK(m.phases(12)
        == lengths{2000, 100, 1000, 16000, 1000, 32000, 1000, 64000, 1000, 64000, 1000, 64000});
}

TEST_CASE(
  "where two get more done than one, work stays for a trial now and then, ever more seldom") {
  machine m;
  m.beside = two(0.9);
  CHECK(m.phases(10) == lengths{2000, 100, 6000, 100, 18000, 100, 54000, 100, 162000, 100});
  CHECK(m.phases(4) == lengths{320000, 100, 320000, 100});
}

TEST_CASE("one period in which two are too slow is a reason for one trial more") {
  machine m;
  CHECK(m.phases(2) == lengths{2000, 100});
  m.beside = two(0.9);
  CHECK(m.phases(2) == lengths{1000, 100});
  CHECK(m.phases(1) == lengths{6000});
}

TEST_CASE("work goes around again for good once two get more done") {
  machine m;
  m.phases(6);
  m.beside = two(0.9);
  CHECK(m.phases(5) == lengths{1000, 100, 6000, 100, 18000});
}

TEST_CASE("two that get as much done as one are worth nothing, and little more is enough") {
  machine m;
  m.beside = two(0.47);
  CHECK(m.phases(4).back() == speedup::first_stay);
  machine other;
  other.beside = two(0.48);
  CHECK(other.phases(4).back() == speedup::trial);
}

TEST_CASE("nothing is decided by few samples") {
  machine m;
  m.beside.samples = speedup::enough - 1;
  for (int i = 0; i < 10'000; ++i)
    m.pass();
  CHECK_FALSE(m.watch.work_stays());
  m.beside.samples = speedup::enough;
  for (auto i = 0u; i <= speedup::spread_extension / machine::step && !m.watch.work_stays(); ++i)
    m.pass();
  CHECK(m.watch.work_stays());
}

TEST_CASE("a trial goes on until it has enough samples, three times as long at most") {
  machine m;
  m.samples_alone = speedup::enough - 1;
  CHECK(m.phases(2) == lengths{2000, 300});
}

TEST_CASE("what is not known by the second trial is tried more seldom") {
  machine m;
  m.beside = nothing_known();
  CHECK(m.phases(8) == lengths{2000, 100, 2000, 100, 4000, 100, 6000, 100});
}

TEST_CASE("where most of the time goes to what a trial tells nothing of, none is made") {
  machine m;
  m.beside.short_messages = m.beside.took / 2;
  for (int i = 0; i < 100'000; ++i)
    m.pass();
  CHECK_FALSE(m.watch.work_stays());
  m.beside.short_messages = m.beside.took;
  for (auto i = 0u; i <= speedup::longest_spread / machine::step && !m.watch.work_stays(); ++i)
    m.pass();
  CHECK(m.watch.work_stays());
}

TEST_CASE("work goes around again once most of the time goes to long messages, two at least") {
  machine m;
  m.phases(4);
  REQUIRE_FALSE(m.watch.note_messages(true, 100)); // while it goes around that is of no interest
  REQUIRE_FALSE(m.watch.note_messages(true, 100));
  m.phases(1);
  REQUIRE(m.watch.work_stays());
  CHECK_FALSE(m.watch.note_messages(true, 100));
  CHECK_FALSE(m.watch.note_messages(false, 300));
  CHECK_FALSE(m.watch.note_messages(true, 100)); // 176 of 439
  CHECK(m.watch.work_stays());
  CHECK(m.watch.note_messages(true, 100));
  CHECK_FALSE(m.watch.work_stays());
  m.since = m.now;
  CHECK(m.phases(4) == lengths{2000, 100, 1000, 16000}); // and all is as at first
}

TEST_CASE("whoever is kept waiting ends that work stays") {
  machine m;
  m.phases(4);
  m.phases(1);
  CHECK(m.watch.give_up());
  CHECK_FALSE(m.watch.work_stays());
  CHECK_FALSE(m.watch.give_up());
  m.since = m.now;
  CHECK(m.phases(4) == lengths{2000, 100, 1000, 16000});
}

TEST_CASE("who ends it learns that work does not stay any more") {
  machine m;
  m.pass();
  CHECK_FALSE(m.has_ended);
  m.phases(1);
  CHECK_FALSE(m.has_ended);
  m.phases(1);
  CHECK(m.has_ended);
}

TEST_CASE("samples of what goes before are not of this period") {
  machine m;
  m.pass();
  const auto beside = m.watch.period_beside();
  const auto alone = m.watch.period_alone();
  m.phases(1);
  CHECK(m.watch.period_alone() != alone);
  m.phases(1);
  CHECK(m.watch.period_beside() != beside);
}

TEST_CASE("samples are taken more often in a trial, and more seldom in long periods") {
  machine m;
  m.beside = two(0.9);
  m.pass();
  const auto at_first = m.watch.pause();
  m.phases(1);
  CHECK(m.watch.pause() < at_first);
  m.phases(1);
  CHECK(m.watch.pause() > at_first);
}

TEST_CASE("where one works alone, samples are taken seldom until it has company") {
  machine m;
  m.pass();
  const auto at_first = m.watch.pause();
  m.beside = {};
  for (int i = 0; i < 1000; ++i)
    m.pass();
  CHECK(m.watch.pause() > at_first);
  m.beside = two(1);
  m.beside.samples = 1;
  for (int i = 0; i < 1000; ++i)
    m.pass();
  CHECK(m.watch.pause() < at_first);
}
