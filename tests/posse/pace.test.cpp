// How many elements of a range lie between two safepoints, by a clock that the test reads out.

#include <basal/posse/detail/pace.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

using basal::posse::pace;

namespace {

/// The pace after its first two looks, if the elements took `ticks` each.
struct walk {
  std::uint64_t ticks;
  std::size_t next = 0;
  std::uint64_t now = 1'000'000;
  pace p{0};

  explicit walk(std::uint64_t each) : ticks(each) {
  }

  /// Goes on to the next look. @returns the elements until it came
  std::size_t to_look() {
    const auto from = next;
    do {
      next += p.step();
      now += p.step() * ticks;
    } while (!p.is_look_due(next, [this] { return now; }));
    p = p.look(next, now);
    return next - from;
  }
};

/// The same where no step is slow.
bool is_look_due(const pace& p, std::size_t next) {
  return p.is_look_due(next, [] { return std::uint64_t{0}; });
}

} // namespace

TEST_CASE("the first elements are done one by one, without a look at the clock") {
  walk w{1};
  CHECK(w.p.step() == 1);
  CHECK(w.to_look() == pace::untimed);
  CHECK(w.p.step() == 1); // nothing is known yet
}

TEST_CASE("steps grow fourfold while elements are cheap, up to the longest, and looks grow rare") {
  walk w{0}; // less than a tick
  w.to_look();
  for (std::size_t step : {4, 16, 64, 256, 1024, 4096, 8192}) {
    w.to_look();
    CHECK(w.p.step() == step);
  }
  REQUIRE(w.p.step() == pace::longest_step);
  for (std::size_t steps : {1, 2, 4, 8, 8})
    CHECK(w.to_look() == steps * pace::longest_step);
  CHECK(w.p.step() == pace::longest_step);
  w.ticks = 10; // they have become expensive, as is seen halfway
  CHECK(w.to_look() == 4 * pace::longest_step);
}

TEST_CASE("where the cost of elements was known, they are measured by the end of the second step") {
  walk w{2};
  w.p = pace{0, pace::many, 4 * 256, 10'000}; // they have become cheaper, so no step is slow
  const auto step = w.p.step();
  CHECK(w.to_look() == step);
  CHECK(w.to_look() == step);
  CHECK(w.p.measured() == 2 * 256);
}

TEST_CASE("looks grow rare while steps stay the same, up to a bound in steps and one in time") {
  walk w{pace::target / 16};
  for (int i = 0; i < 3; ++i)
    w.to_look();
  REQUIRE(w.p.step() == 4);
  for (std::size_t steps : {2, 4, 8, 8})
    CHECK(w.to_look() == steps * 4);
  walk slow{pace::target * 3};
  for (int i = 0; i < 10; ++i)
    slow.to_look();
  CHECK(slow.to_look() == pace::longest_target / (pace::target * 3));
  slow.ticks = pace::longest_target;
  for (int i = 0; i < 10; ++i)
    slow.to_look();
  CHECK(slow.to_look() == 1);
}

TEST_CASE("elements that have become expensive are noticed halfway to the next look") {
  walk w{pace::target / 16};
  for (int i = 0; i < 10; ++i)
    w.to_look();
  REQUIRE(w.p.step() == 4);
  REQUIRE(w.to_look() == 8 * 4);
  w.ticks = pace::target * 10;
  CHECK(w.to_look() == 4 * 4);
  CHECK(w.p.step() == 1);
  CHECK(w.to_look() == 1); // and looks are frequent again
}

TEST_CASE("on the way to a look the clock is read once, and not where the look is put off") {
  walk w{pace::target / 16};
  for (int i = 0; i < 10; ++i)
    w.to_look();
  int read = 0;
  const auto look_due_in = [&](int steps) {
    auto next = w.next;
    read = 0;
    for (int i = 1; i <= steps; ++i) {
      next += w.p.step();
      if (w.p.is_look_due(next, [&] {
            ++read;
            return std::uint64_t{0};
          }))
        return i;
    }
    return 0;
  };
  CHECK(look_due_in(20) == 8);
  CHECK(read == 1);
  w.p.put_off_look(w.next + 12 * w.p.step());
  CHECK(look_due_in(20) == 12);
  CHECK(read == 0);
  w.p.put_off_look(w.next + w.p.step()); // no sooner than it was
  CHECK(look_due_in(20) == 12);
}

TEST_CASE("steps stay as they are while they take about the target") {
  walk w{pace::target / 16};
  for (int i = 0; i < 10; ++i)
    w.to_look();
  CHECK(w.p.step() == 4); // took a quarter of it
}

TEST_CASE("steps that take a fifth of the target grow, once") {
  walk w{pace::target / 5};
  for (int i = 0; i < 10; ++i)
    w.to_look();
  CHECK(w.p.step() == 4);
}

TEST_CASE("steps that take more than twice the target shrink at once, to one at least") {
  walk w{0};
  for (int i = 0; i < 8; ++i)
    w.to_look();
  REQUIRE(w.p.step() == pace::longest_step);
  w.ticks = pace::target / 64; // 128 times the target
  w.to_look();
  CHECK(w.p.step() == 64);
  w.ticks = pace::target * 1000;
  w.to_look();
  CHECK(w.p.step() == 1);
}

TEST_CASE("steps are longer where much is left, and shorten as that becomes less") {
  const std::uint64_t each = pace::target / 16;
  std::uint64_t now = 1'000'000;
  std::size_t next = 0;
  const auto step_with = [&](const pace& p, std::size_t left) {
    next += p.step();
    now += p.step() * each;
    return p.look(next, now, left);
  };
  pace p{0};
  for (int i = 0; i < 10; ++i)
    p = step_with(p, 16 * 64 * 4); // a 64th takes four times the target
  CHECK(p.step() == 16);
  for (int i = 0; i < 10; ++i)
    p = step_with(p, 1'000'000'000);
  CHECK(p.step() == 64); // takes half of the most, eight times the target
  p = step_with(p, 16 * 64);
  CHECK(p.step() == 16);
}

TEST_CASE("a thief's part of a range is looked at from its first step on") {
  const pace p{100, 1};
  CHECK_FALSE(is_look_due(p, 100));
  CHECK(is_look_due(p, 101));
}

TEST_CASE("an element costs the smaller of the last two measurements") {
  walk w{100};
  w.to_look();
  CHECK(w.p.cost() == 0);
  w.to_look();
  CHECK(w.p.cost() == 100 * 256);
  w.ticks = 10'000; // somebody else had a time slice
  w.to_look();
  CHECK(w.p.cost() == 100 * 256);
  CHECK(w.p.measured() == 10'000 * 256);
  w.to_look();
  CHECK(w.p.cost() == 10'000 * 256);
  w.ticks = 1;
  w.to_look();
  CHECK(w.p.cost() == 256);
}

TEST_CASE("measurements are news at the second look, and after twice as many each time") {
  walk w{100};
  CHECK_FALSE(w.p.is_news());
  std::vector<int> told;
  for (int look = 1; look <= 70; ++look) {
    w.to_look();
    if (w.p.is_news())
      told.push_back(look);
  }
  CHECK(told == std::vector{2, 4, 8, 16, 32, 64});
}

TEST_CASE("no step has fewer elements than it should have at least, unless they take long") {
  const pace::element_cost dear = 10'000 * 256; // more than a step should take
  CHECK(pace{0, pace::many, dear, 64}.step() == 1);
  CHECK(pace{0, pace::many, dear, 64, 8}.step() == 8);
  CHECK(pace{0, pace::many, dear, 64, 20}.step() == pace::longest_least / 10'000);
  CHECK(pace{0, pace::many, pace::most_costly, 64, 20}.step() == 1);
  CHECK(pace{0, pace::many, 1, 1 << 20, 1 << 19}.step() == pace::longest_step);

  walk w{10'000};
  w.p = pace{0, pace::untimed, 8};
  w.to_look();
  CHECK(w.p.step() == 1); // nothing is known yet
  w.to_look();
  CHECK(w.p.step() == 8);
  w.ticks = 1'000'000;
  w.to_look();
  w.to_look();
  CHECK(w.p.step() == 1);
}

TEST_CASE("no more steps are expected than there are where lines make some shorter") {
  for (const std::size_t wanted : {1, 7, 255, 256, 263, 1'000, 4'097}) {
    const auto cost = pace::cost_of(pace::target / 2, wanted);
    const pace steps{5, pace::longest_step, cost, 1};
    std::size_t next = 5;
    for (std::size_t n = 0; n != 1'000; ++n, next = pace::end_of(next, steps.step()))
      REQUIRE(steps.steps_before(next) >= n);
    CHECK(steps.steps_before(next) <= (steps.step() < 256 ? 1'000 : 1'065)); // 256 / 241
  }
}
