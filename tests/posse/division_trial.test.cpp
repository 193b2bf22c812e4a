// Trials of whether ranges end sooner if they are divided: when they take place, their outcome, and
// that ranges which are better done alone are not stolen from.

#include <basal/posse/detail/division_trial.hpp>

#include <basal/posse/posse.hpp>

#include "stepped_runtime.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <vector>

namespace posse = basal::posse;
using basal::posse::division_trial;
using course = division_trial::course;
using namespace basal::test;

namespace {

constexpr std::size_t n = 1000;

/// Ranges of one place, one after the other. A member needs a tick for an element.
struct place {
  division_trial trial;
  std::uint64_t now = 1'000'000;
  double speedup = 2;     ///< of a range that is divided
  bool is_divided = true; ///< one that may be
  double growth = 1;      ///< elements take so many times as long as in the range before
  double each = 1;        ///< ticks
  const void* who = this;

  course next(std::size_t elements = n) {
    const auto c = trial.begin(elements, elements, now, who);
    const auto alone = static_cast<double>(elements) * each;
    const bool divided = !division_trial::is_alone(c) && is_divided;
    const auto took = static_cast<std::uint64_t>(divided ? alone / speedup : alone);
    now += took;
    if (division_trial::is_timed(c))
      trial.end(c, elements, took, divided, now, who);
    each *= growth;
    return c;
  }

  /// After the pause.
  std::vector<course> next_trial() {
    std::vector<course> all;
    now += 10'000 * n;
    for (int i = 0; i < 4; ++i)
      all.push_back(next());
    return all;
  }
};

const std::vector<course> whole_trial{course::timed_divided, course::timed_alone,
                                      course::timed_alone, course::timed_divided};

} // namespace

TEST_CASE("ranges are divided as usual until the first trial, which is in the order that it is") {
  place p;
  CHECK(p.next() == course::as_usual);
  CHECK(p.next() == course::as_usual);
  CHECK(p.next_trial() == whole_trial);
  CHECK(p.next() == course::as_usual);
}

TEST_CASE("trials that tell nothing new take less and less of the time") {
  place p;
  p.next();
  p.next_trial();
  std::vector<int> between;
  for (int ranges = 0; between.size() < 8; ++ranges) {
    const bool tries = division_trial::is_timed(p.next());
    if (tries && ranges != 0) {
      between.push_back(ranges);
      for (int i = 1; i < 4; ++i)
        REQUIRE(division_trial::is_timed(p.next()));
      ranges = 0;
    }
  }
  CHECK(between.front() >= 100);
  CHECK(between[3] > 3 * between[1]);
  CHECK(between.back() == between[6]); // there is an end to it
}

TEST_CASE("three trials in a row decide that ranges are done alone, one that they are not") {
  place p;
  p.next();
  p.speedup = 0.2;
  for (int i = 0; i < 2; ++i) {
    CHECK(p.next_trial() == whole_trial);
    p.now -= 10'000 * n; // the next one follows at once
  }
  CHECK(p.next_trial() == whole_trial);
  CHECK(p.next() == course::alone);
  CHECK(p.next(2 * n) == course::alone);
  CHECK(p.next(3 * n) == course::as_usual); // of these nothing is known
  p.next_trial();
  CHECK(p.next() == course::alone);
  p.speedup = 1.5;
  p.next_trial();
  CHECK(p.next() == course::as_usual);
}

TEST_CASE("two bad trials, and a good one, decide nothing") {
  place p;
  p.next();
  for (const double speedup : {0.2, 0.2, 2., 0.2, 0.2}) {
    p.speedup = speedup;
    p.next_trial();
  }
  p.speedup = 2;
  CHECK(p.next_trial() == whole_trial);
  CHECK(p.next() == course::as_usual);
}

TEST_CASE("elements that take longer and longer, or less and less, count for neither") {
  for (const double growth : {2., 0.5}) {
    place p;
    p.next();
    for (int i = 0; i < 3; ++i) {
      p.each = 100;
      p.growth = growth;
      p.speedup = 1.5;
      p.next_trial();
    }
    p.growth = 1;
    CHECK(p.next() == course::as_usual);
  }
}

TEST_CASE("a range that nobody has taken a part of tells nothing") {
  place p;
  p.next();
  p.is_divided = false;
  for (int i = 0; i < 10; ++i) {
    p.now += 10'000 * n;
    CHECK(p.next() == course::timed_divided);
    CHECK(p.next() == course::as_usual); // not at once again
  }
}

TEST_CASE("one member tries at a time, with ranges of one size, and another one if it has left") {
  place p;
  p.next();
  p.now += 10'000 * n;
  CHECK(p.next() == course::timed_divided);
  CHECK(p.next(3 * n) == course::as_usual);
  CHECK(p.next(n / 3) == course::as_usual);
  const int other = 0;
  p.who = &other;
  CHECK(p.next() == course::as_usual);
  p.now += std::uint64_t{1} << 30;
  CHECK(p.next() == course::timed_divided);
  p.who = &p;
  p.trial.end(course::timed_alone, n, 1, false, p.now, p.who); // too late
  p.who = &other;
  CHECK(p.next() == course::timed_alone);
}

TEST_CASE("a range that is better done alone is not stolen from") {
  stepped_runtime host{by_worth(2)};
  int ranges = 0;
  std::uint64_t thefts_before = 0;
  started main{host, 0, [&](posse::member& m) {
                 for (; ranges < 40; ++ranges) {
                   if (ranges == 30)
                     thefts_before = host->stats().thefts;
                   if (ranges < 3)
                     pass(1s); // trials begin
                   posse::for_each(m, std::views::iota(0, 100), [&](posse::member& k, int i) {
                     pass(&k.executor() == &host.at(0) ? 10us : 30us);
                     if (i == 0)
                       let_thieves_begin(k);
                   });
                 }
               }};
  while (!main.has_ended()) {
    host.run(0);
    host.run(1);
    go_on();
  }
  CHECK(thefts_before > 4);
  CHECK(host->stats().thefts == thefts_before);
}
