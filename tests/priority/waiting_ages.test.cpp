#include "support/catch.hpp"

#include <basal/priority/detail/waiting_ages.hpp>

#include <cstdint>
#include <deque>
#include <utility>

using basal::priority::detail::waiting_ages;

namespace {

constexpr std::uint64_t least = 100;

/// Those that wait, in the order in which they came, beside their count.
class line {
public:
  void enter(std::uint64_t now) {
    waiting_.emplace_back(now, ages_.enter(now));
  }

  void first_leaves() {
    ages_.leave(waiting_.front().second);
    waiting_.pop_front();
  }

  bool empty() const {
    return waiting_.empty();
  }

  std::uint64_t count() const {
    return ages_.waiting();
  }

  /// Of the first one, in truth.
  std::uint64_t age(std::uint64_t now) const {
    return now - waiting_.front().first;
  }

  /// By how much the oldest is taken for too old.
  std::int64_t error(std::uint64_t now) const {
    return static_cast<std::int64_t>(ages_.oldest(now) - age(now));
  }

private:
  waiting_ages ages_{least};
  std::deque<std::pair<std::uint64_t, std::uint8_t>> waiting_;
};

} // namespace

TEST_CASE("nobody waits for no time") {
  waiting_ages ages{least};
  CHECK(ages.waiting() == 0);
  CHECK(ages.oldest(12345) == 0);
  const auto slot = ages.enter(12345);
  CHECK(ages.waiting() == 1);
  CHECK(ages.oldest(12345) == 0);
  CHECK(ages.oldest(12344) == 0); // the clock of another processor
  CHECK(ages.oldest(13345) == 1000);
  ages.leave(slot);
  CHECK(ages.waiting() == 0);
  CHECK(ages.oldest(13345) == 0);
}

TEST_CASE("who comes when nobody waits has waited for no time") {
  waiting_ages ages{least};
  for (std::uint64_t now = 1; now < 10 * least; now += least / 4) { // often in one slot
    const auto slot = ages.enter(now);
    CHECK(ages.oldest(now) == 0);
    ages.leave(slot);
  }
}

TEST_CASE("one that others overtake is as old as it is") {
  waiting_ages ages{least};
  const std::uint64_t begin = 1'000'000;
  const auto slow = ages.enter(begin);
  std::uint64_t now = begin;
  for (int i = 0; i < 100'000; ++i, now += 7) {
    const auto other = ages.enter(now);
    REQUIRE(ages.oldest(now) == now - begin);
    REQUIRE(ages.waiting() == 2);
    ages.leave(other);
  }
  // Once it has gone, those that come are young again.
  const auto late = ages.enter(now);
  ages.leave(slow);
  CHECK(ages.oldest(now) <= (now - begin) / 8 + 2 * least);
  const auto next = ages.enter(now + 2 * least);
  ages.leave(late);
  CHECK(ages.oldest(now + 2 * least) <= 2 * least);
  ages.leave(next);
}

TEST_CASE("in a line that is always as long the oldest is right to an eighth") {
  for (const std::uint64_t wait : {least / 2, 3 * least, 64 * least, 5000 * least}) {
    line l;
    const auto step = wait / 200 + 1;
    for (std::uint64_t now = 1; now < 20 * wait; now += step) {
      l.enter(now);
      while (l.age(now) > wait)
        l.first_leaves();
      REQUIRE(l.error(now) >= 0);
      REQUIRE(l.error(now) <= static_cast<std::int64_t>(wait / 8 + 2 * least + 2 * step));
    }
  }
}

TEST_CASE("in a line that grows, and then goes, the oldest is right to an eighth of what it was") {
  line l;
  const std::uint64_t longest = 6500 * least;
  std::uint64_t now = 1;
  for (; now < longest; now += least / 2) {
    l.enter(now);
    REQUIRE(l.error(now) == 0);
  }
  CHECK(l.count() == 2 * 6500);
  for (; !l.empty(); l.first_leaves()) {
    REQUIRE(l.error(now) >= 0);
    REQUIRE(l.error(now) <= static_cast<std::int64_t>(longest / 8 + 2 * least));
  }
  CHECK(l.count() == 0);
}

TEST_CASE("where the slots do not suffice, the oldest is not too young") {
  line l;
  std::uint64_t now = 1;
  for (; now < 1'000'000 * least; now += 10 * least) {
    l.enter(now);
    REQUIRE(l.error(now) == 0);
  }
  for (; !l.empty(); l.first_leaves())
    REQUIRE(l.error(now) >= 0);
  // And then they do again.
  l.enter(now);
  CHECK(l.error(now) == 0);
  l.enter(now + 4 * least);
  l.first_leaves();
  CHECK(l.error(now + 5 * least) == 0);
}
