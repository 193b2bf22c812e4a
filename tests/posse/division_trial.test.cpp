// Trials of whether ranges end sooner if they are divided: when they take place, their outcome, and
// that ranges which are better done alone are not stolen from.

#include <basal/posse/detail/division_trial.hpp>

#include <basal/posse/posse.hpp>

#include "stepped_runtime.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

namespace posse = basal::posse;
using basal::posse::division_trial;
using course = division_trial::course;
using namespace basal::test;

namespace {

constexpr std::size_t n = 1000;
constexpr int runs = 32; ///< of a trial, of which every second one counts

/// Ranges of one place, one after the other. A member needs `each` ticks for an element.
struct place {
  division_trial trial;
  std::uint64_t now = 1'000'000;
  double speedup = 2;     ///< of a range that is divided
  bool is_divided = true; ///< one that may be
  double each = 1;
  double moving = 1; ///< times that a range takes as long, alone, after one that was divided
  bool was_divided = true;
  const void* who = this;

  course next(std::size_t elements = n) {
    const auto c = trial.begin(elements, elements, now, who);
    const bool divided = !division_trial::is_alone(c) && is_divided;
    const bool moves = std::exchange(was_divided, divided) && !divided;
    const auto alone = static_cast<double>(elements) * each * (moves ? moving : 1);
    const auto took = static_cast<std::uint64_t>(divided ? alone / speedup : alone);
    now += took;
    if (division_trial::is_timed(c))
      trial.end(c, elements, took, divided, now, who);
    return c;
  }

  /// Long enough for the next trial to come.
  void pause() {
    now += 10'000'000 * n;
  }

  /// Ranges until the next trial.
  int passed = 0;

  /// The first range of the next trial.
  course first_of_trial() {
    for (passed = 0; passed < 100'000; ++passed)
      if (const auto c = next(); division_trial::is_timed(c))
        return c;
    FAIL("there is no trial");
    return {};
  }

  std::vector<course> whole_trial() {
    std::vector<course> all{first_of_trial()};
    for (int i = 1; i < runs; ++i) {
      all.push_back(next());
      REQUIRE(division_trial::is_timed(all.back()));
    }
    return all;
  }
};

} // namespace

TEST_CASE("a trial is made of as many ranges done alone as divided, in no fixed order") {
  place p;
  CHECK(p.next() == course::as_usual);
  CHECK(p.next() == course::as_usual);
  p.pause();
  std::set<std::vector<course>> orders;
  for (int i = 0; i < 10; ++i) {
    const auto all = p.whole_trial();
    CHECK(std::ranges::count(all, course::timed_alone) == runs / 2);
    CHECK(std::ranges::count(all, course::timed_divided) == runs / 2);
    CHECK(p.next() == course::as_usual);
    orders.insert(all);
    p.pause();
  }
  CHECK(orders.size() > 5);
}

TEST_CASE("of each two ranges in a row that are done alike, the second counts") {
  place p;
  p.next();
  p.pause();
  const auto all = p.whole_trial();
  for (std::size_t i = 0; i < all.size(); i += 2)
    CHECK(all[i] == all[i + 1]);
  p.speedup = 0.8;
  p.moving = 2; // the first one alone pays for what the others have brought elsewhere
  for (int i = 0; i < 3; ++i) {
    p.pause();
    p.whole_trial();
  }
  CHECK(p.next() == course::alone);
}

TEST_CASE("trials that tell nothing new take less and less of the time") {
  place p;
  p.next();
  std::vector<int> between;
  for (int i = 0; i < 8; ++i) {
    p.whole_trial();
    between.push_back(p.passed);
  }
  CHECK(between[1] >= 256);
  CHECK(between[3] > 3 * between[1]);
  CHECK(between[7] < 20'000); // there is an end to it
}

TEST_CASE("what trials cost a program that pauses is as little") {
  place p;
  p.next();
  int alone = 0;
  for (int i = 0; i < 2000; ++i) {
    if (i % 10 == 0)
      p.pause();
    alone += division_trial::is_alone(p.next());
  }
  CHECK(alone < 40);
}

TEST_CASE("three trials in a row decide that ranges are done alone, one that they are not") {
  place p;
  p.next();
  p.pause();
  p.speedup = 0.8;
  for (int i = 0; i < 3; ++i) {
    p.whole_trial();
    CHECK((p.passed == 0) == (i > 0)); // one follows the other
  }
  CHECK(p.next() == course::alone);
  CHECK(p.next(2 * n) == course::alone);
  CHECK(p.next(3 * n) == course::as_usual); // of these nothing is known
  p.pause();
  p.whole_trial();
  CHECK(p.next() == course::alone);
  p.speedup = 1.5;
  p.pause();
  p.whole_trial();
  CHECK(p.next() == course::as_usual);
}

TEST_CASE("two bad trials, and a good one, decide nothing") {
  place p;
  p.next();
  p.pause();
  for (const double speedup : {0.8, 0.8, 2., 0.8, 0.8, 2.}) {
    p.speedup = speedup;
    p.whole_trial();
    if (speedup > 1) {
      CHECK(p.next() == course::as_usual);
      p.pause();
    }
  }
}

TEST_CASE("one trial decides where ranges take far longer divided, unless that may be chance") {
  const auto alone_after_one = [](double speedup, double unlike) {
    int alone = 0;
    for (int start = 0; start < 100; ++start) {
      place p;
      p.now += static_cast<std::uint64_t>(start) * 7919;
      p.next();
      p.pause();
      p.speedup = speedup;
      p.first_of_trial();
      for (int i = 1; i < runs; ++i) {
        p.each = i / 2 % 2 == 0 ? 1 : unlike;
        REQUIRE(division_trial::is_timed(p.next()));
      }
      p.each = 1;
      alone += p.next() == course::alone ? 1 : 0;
    }
    return alone;
  };
  CHECK(alone_after_one(0.45, 1.) == 100);
  CHECK(alone_after_one(0.55, 1.) == 0);
  CHECK(alone_after_one(0.45, 4.) < 10);
}

TEST_CASE("elements whose cost changes from range to range, in a period, do not count for alone") {
  int wrong = 0;
  for (const int period : {2, 4, 8, 16})
    for (int places = 0; places < 100; ++places) {
      place p;
      p.now += static_cast<std::uint64_t>(places) * 12'345;
      p.next();
      p.speedup = 1.2;
      bool alone = false;
      for (int i = 0; i < 5000; ++i) {
        p.each = 1 << (i % period) % 6;
        alone |= p.next() == course::alone;
      }
      wrong += alone;
    }
  CHECK(wrong < 8);
}

TEST_CASE("ranges within one another leave a trial's halves as large as each other") {
  for (std::uint64_t places = 0; places < 50; ++places) {
    place p;
    p.each = 100;
    p.now += places * 12'345;
    p.next();
    for (int trials = 0; trials < 6; ++trials) {
      p.pause();
      p.first_of_trial();
      std::vector<course> nested;
      for (int i = 0; i < 4 * runs; ++i) {
        p.now += 7919;
        nested.push_back(p.trial.begin(n, n, p.now, p.who));
      }
      for (const auto c : nested)
        p.trial.end(c, n, division_trial::is_alone(c) ? 100 * n : 90 * n,
                    c == course::timed_divided, p.now, p.who);
    }
    CHECK(p.next() == course::as_usual);
  }
}

TEST_CASE("ranges that nobody has taken a part of tell nothing") {
  place p;
  p.next();
  p.is_divided = false;
  for (int i = 0; i < 10; ++i) {
    p.pause();
    p.first_of_trial();
    int alone = 0;
    for (int ranges = 0; ranges < 40; ++ranges)
      alone += division_trial::is_alone(p.next());
    CHECK(alone <= runs / 2);
    CHECK(p.next() == course::as_usual);
  }
  p.pause(); // one that is not divided does not end a trial
  p.first_of_trial();
  p.is_divided = true;
  for (int ranges = 0; ranges < runs - 1; ++ranges)
    CHECK(division_trial::is_timed(p.next()));
}

TEST_CASE("one member tries at a time, and another one if it has left") {
  place p;
  p.next();
  p.pause();
  p.first_of_trial();
  const int other = 0;
  p.who = &other;
  for (int i = 0; i < 100; ++i)
    CHECK(p.next() == course::as_usual);
  p.pause();
  p.first_of_trial();
  CHECK(p.passed >= 16);
  p.trial.end(course::timed_alone, n, 1, false, p.now, &p); // too late
  for (int i = 1; i < runs; ++i)
    CHECK(division_trial::is_timed(p.next()));
  CHECK(p.next() == course::as_usual);
}

TEST_CASE("a trial is of ranges of one size, and goes on with another one if that is gone") {
  place p;
  p.next();
  p.pause();
  p.first_of_trial();
  CHECK(p.next(3 * n) == course::as_usual);
  CHECK(p.next(n / 3) == course::as_usual);
  CHECK(division_trial::is_timed(p.next()));
  int timed = 0;
  for (int i = 0; i < 60; ++i)
    timed += division_trial::is_timed(p.next(3 * n));
  CHECK(timed == runs);
}

TEST_CASE("members that take turns in ranges that come rarely seldom do one alone") {
  place p;
  p.next();
  const int others[] = {1, 2};
  int alone = 0;
  for (int i = 0; i < 2000; ++i) {
    p.pause();
    p.who = &others[i / 20 % 2];
    alone += division_trial::is_alone(p.next());
  }
  CHECK(alone < 60);
}

TEST_CASE("long ranges are not tried") {
  place p;
  p.next();
  p.pause();
  for (int i = 0; i < 100; ++i)
    CHECK(p.next(100'000 * n) == course::as_usual);
}

TEST_CASE("the first trial is not put off by what was expected of the first range") {
  place p;
  p.trial.begin(n, 100 * n, p.now, p.who);
  p.first_of_trial();
  CHECK(p.passed > 100);
  CHECK(p.passed < 2000);
}

namespace {

/// Three times dearer once executor 1 takes part, and 0 pauses in the first element.
void do_range(posse::member& m, stepped_runtime& two) {
  bool is_shared = false;
  posse::for_each(m, std::views::iota(0, 100), [&](posse::member& k, int i) {
    is_shared |= &k.executor() == &two.at(1);
    pass(is_shared ? 30us : 10us);
    if (i == 0)
      let_thieves_begin(k);
  });
}

/// Of 150 ranges some are divided, and none of the last ten.
/// @param range does one, with a member
template <class Range>
void check_that_trials_decide(stepped_runtime& host, Range range) {
  std::uint64_t thefts_before = 0;
  started main{host, 0, [&](posse::member& m) {
                 for (int ranges = 0; ranges < 150; ++ranges) {
                   if (ranges == 140)
                     thefts_before = host->stats().thefts;
                   if (ranges < 6)
                     pass(1s); // trials begin
                   range(m);
                   let_thieves_begin(m); // executor 1 is idle again
                 }
               }};
  while (!main.has_ended()) {
    host.run(0);
    host.run(1);
    go_on();
  }
  CHECK(thefts_before >= 24);
  CHECK(host->stats().thefts == thefts_before);
}

} // namespace

TEST_CASE("ranges that are better done alone are not stolen from, whatever single executors did") {
  stepped_runtime one{by_worth(1)};
  stepped_runtime host{by_worth(2)};
  started alone{one, 0, [&](posse::member& m) {
                  for (int ranges = 0; ranges < 300; ++ranges) {
                    pass(1s); // a trial would be due
                    do_range(m, host);
                  }
                }};
  while (!alone.has_ended()) {
    one.run(0);
    go_on();
  }
  check_that_trials_decide(host, [&](posse::member& m) { do_range(m, host); });
}

TEST_CASE("what a theft takes counts for a range that is divided") {
  auto config = by_worth(2);
  bool is_first = true; // of a range
  config.thefts.context = &is_first;
  config.thefts.saw = [](void* first, const posse::theft_event&) noexcept {
    if (std::exchange(*static_cast<bool*>(first), false))
      pass(2ms);
  };
  stepped_runtime host{config};
  check_that_trials_decide(host, [&](posse::member& m) {
    is_first = true;
    posse::for_each(m, std::views::iota(0, 100), [&](posse::member& k, int i) {
      pass(&k.executor() == &host.at(0) ? 10us : 0us); // at the same time
      if (i == 0)
        let_thieves_begin(k);
    });
  });
}

TEST_CASE("a range that takes far longer than those that were better done alone is divided again") {
  stepped_runtime host{by_worth(2)};
  auto each = 10us;
  int first = 0; // element that the other executor does
  started main{host, 0, [&](posse::member& m) {
                 for (int ranges = 0; ranges < 150; ++ranges) {
                   if (ranges < 6)
                     pass(1s); // trials begin
                   if (ranges == 149)
                     each = 300us;
                   first = 100;
                   posse::for_each(m, std::views::iota(0, 100), [&](posse::member& k, int i) {
                     const bool is_thief = &k.executor() != &host.at(0);
                     pass(is_thief ? 3 * each : each);
                     if (is_thief)
                       first = std::min(first, i);
                     if (!is_thief && (i == 0 || i == 88 || i == 94))
                       let_thieves_begin(k);
                   });
                   if (ranges == 148)
                     CHECK(first == 100);
                 }
               }};
  while (!main.has_ended()) {
    host.run(0);
    host.run(1);
    go_on();
  }
  CHECK(first < 100);
  CHECK(first > 50); // after four times what ranges had taken
}
