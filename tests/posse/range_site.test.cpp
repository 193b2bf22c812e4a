// Records of a place where ranges are gone through.

#include <basal/posse/detail/range_site.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>

using basal::posse::pace;
using basal::posse::range_site;
using basal::posse::range_sites;

namespace {

constexpr pace::element_cost ticks = 256; ///< cost of an element that takes one

constexpr auto no_clock = [] { return std::uint64_t{0}; };

} // namespace

TEST_CASE("where nothing is known elements are done one by one, and timed before they are over") {
  const range_site site;
  CHECK(site.cost() == 0);
  CHECK(site.begin(0, 1000).step() == 1);
  CHECK_FALSE(site.begin(0, 1000).is_look_due(pace::untimed - 1, no_clock));
  CHECK(site.begin(0, 1000).is_look_due(pace::untimed, no_clock));
  CHECK(site.begin(8, 16).is_look_due(10, no_clock));
}

TEST_CASE(
  "where elements are known to be cheap, a range begins with long steps, but four at least") {
  range_site site;
  site.learn(ticks / 8);
  CHECK(site.begin(0, 100'000).step() == pace::longest_step);
  CHECK(site.begin(0, 1000).step() == 250);
  CHECK(site.begin(0, 3).step() == 1);
  CHECK(site.begin(0, 1000).cost() == ticks / 8);
}

TEST_CASE("where elements are known to be dear, a range begins with short steps") {
  range_site site;
  site.learn(pace::target / 8 * ticks);
  CHECK(site.begin(0, 100).step() == 4);
  CHECK(site.begin(0, 100'000).step() == 32);         // a thief waits for no 64th of what it gets
  CHECK(site.begin(0, 100, pace::many).step() == 25); // there is no thief
  range_site dearer;
  dearer.learn(pace::target * 10 * ticks);
  CHECK(dearer.begin(0, 100'000).step() == 1);
}

TEST_CASE("what is known changes by a factor of two at most, and not for an eighth") {
  range_site site;
  site.learn(1000);
  site.learn(1'000'000);
  CHECK(site.cost() == 2000);
  site.learn(1);
  CHECK(site.cost() == 1000);
  site.learn(1125);
  CHECK(site.cost() == 1000);
  site.learn(875);
  CHECK(site.cost() == 1000);
  site.learn(1126);
  CHECK(site.cost() == 1126);
}

TEST_CASE("ranges that put elements together learn from each other") {
  range_site site;
  site.learn(64 * ticks, 4);
  CHECK(site.cost() == 4 * ticks);
  CHECK(site.cost(3) == 32 * ticks);
  CHECK(site.begin(0, 100'000, 0, 8).cost() == 1024 * ticks);
  CHECK(site.begin(0, 100'000, 0, 8).step() < site.begin(0, 100'000).step());
  range_site dear;
  dear.learn(pace::most_costly / 2);
  CHECK(dear.cost(2) == pace::most_costly);
  range_site cheap;
  cheap.learn(3, 8);
  CHECK(cheap.cost() == 1); // known, and next to nothing
}

TEST_CASE("where elements fork, nothing is learned any more") {
  range_site site;
  site.learn(1 * ticks);
  site.note_forks();
  site.learn(1 * ticks);
  site.note_whole(4 * pace::target, 1);
  CHECK(site.cost() == 0);
  CHECK(site.begin(0, 1000).step() == 1);
  pace steps{0, 512, 1 * ticks, 512};
  CHECK(steps.cost() == 1 * ticks);
  CHECK(site.cost(steps) == 0);
}

TEST_CASE("what was forgotten is learned anew") {
  range_site site;
  site.learn(1000);
  site.note_whole(4 * pace::target, 1);
  CHECK(site.cost() == 0);
  site.learn(1'000'000);
  CHECK(site.cost() == 1'000'000);
}

TEST_CASE("elements that are known to take less than a step should are done at once") {
  CHECK(range_site::is_done_at_once(ticks, pace::target - 1));
  CHECK_FALSE(range_site::is_done_at_once(ticks, pace::target));
  CHECK(range_site::is_done_at_once(1, 10));
  CHECK_FALSE(range_site::is_done_at_once(0, 10));
  CHECK_FALSE(range_site::is_done_at_once(4 * ticks, std::size_t{1} << 62)); // no overflow
}

TEST_CASE("all calls are timed but short ones, of which it would take a part") {
  range_site site;
  while (site.is_timed(0, false))
    site.note_whole(1, 1);
  CHECK(site.is_timed(0, true));
  CHECK_FALSE(site.is_timed(pace::target / 4 - 1, false));
  CHECK(site.is_timed(pace::target / 4, false));
}

TEST_CASE("after a dear call so many are timed that it takes a half of that one's time") {
  range_site site;
  const auto turns = [&] {
    int result = 0;
    for (; site.is_timed(0, false); ++result)
      site.note_whole(1, 1); // after eight calls
    return result;
  };
  CHECK(turns() == 2); // nothing is known of its calls at first
  constexpr std::uint64_t eight_timed = 400;
  site.watch(2 * eight_timed * 50);
  site.watch(2 * eight_timed * 40);
  CHECK(turns() == 50);
  CHECK(turns() == 0);
  site.note_whole(2 * eight_timed * 60, 1);
  CHECK(turns() == 60);
  site.watch(std::uint64_t{1} << 60);
  CHECK(turns() == 4096);
}

TEST_CASE("a call is dear if all take long at the pace of the first few") {
  range_site site;
  site.learn(4 * ticks);
  CHECK_FALSE(site.is_dear(8 * pace::target / 16 - 1, 1, 16));
  CHECK_FALSE(site.is_dear(pace::target, 4, 4));
  CHECK(site.cost() == 4 * ticks);
  CHECK(site.is_dear(8 * pace::target / 16, 1, 16));
  CHECK(site.cost() == 0);
}

TEST_CASE("what a call took as a whole is learned, more than known only of many elements") {
  range_site site;
  site.learn(4 * ticks);
  site.note_whole(100, 50);
  CHECK(site.cost() == 2 * ticks);
  site.note_whole(4 * pace::target - 1, 50);
  CHECK(site.cost() == 2 * ticks);
  site.note_whole(256, 64);
  CHECK(site.cost() == 4 * ticks);
  site.note_whole(4 * pace::target, 50);
  CHECK(site.cost() == 0);
}

TEST_CASE("what elements cost is known for ranges of each size") {
  range_sites sites;
  const auto learn = [&](std::size_t n, pace::element_cost cost) {
    for (int i = 0; i < 10; ++i)
      sites.of(n).learn(cost);
  };
  learn(1000, 1000);
  CHECK(sites.of(600).cost() == 1000);
  CHECK(sites.of(100).cost() == 1000); // until it is known
  learn(100, 10);
  CHECK(sites.of(100).cost() == 10);
  CHECK(sites.of(1000).cost() == 1000);
  CHECK(sites.of(60).cost() == 10); // as of the size next to it
  CHECK(sites.of(2000).cost() == 1000);
  CHECK_FALSE(sites.of(60).is_uneven());
}

TEST_CASE("elements that fork are known as such at all sizes") {
  range_sites sites;
  sites.of(4).learn(1000);
  CHECK_FALSE(sites.has_forks());
  sites.note_forks();
  CHECK(sites.has_forks());
  CHECK(sites.of(4).has_forks());
  CHECK(sites.of(4000).has_forks());
}
