// Elements that are cheaper many at a time: that ranges find out, and what they do then.

#include <basal/posse/detail/step_trial.hpp>
#include <basal/posse/range_fork.hpp>

#include "stepped_runtime.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

using namespace basal;
using namespace basal::test;
using posse::member;
using posse::pace;
using posse::detail::step_trial;

namespace {

using sizes = std::vector<std::size_t>;

constexpr pace::element_cost dear = 100'000;
constexpr pace::element_cost cheap = dear / 8;

/// Tries the way round that is next.
void ended(step_trial& site, std::size_t longer, pace::element_cost its,
           pace::element_cost shorter) {
  site.ended(longer, {its, shorter, dear}, site.is_confirming());
}

/// A loop at one place in the program whose elements take 200 ns each, or `cheap_ones` where there
/// are `together` of them. @returns how many there were at a time
template <int Place>
sizes loop(member& m, std::size_t n, std::size_t together,
           std::chrono::nanoseconds cheap_ones = 20ns) {
  sizes steps;
  auto body = [&](member&, std::size_t first, std::size_t last) {
    steps.push_back(last - first);
    pass(static_cast<int>(last - first) * (last - first >= together ? cheap_ones : 200ns));
  };
  posse::range_fork<decltype(body)>{body}.run(m, 0, n);
  CHECK(std::accumulate(steps.begin(), steps.end(), std::size_t{0}) == n);
  return steps;
}

std::chrono::nanoseconds since(std::uint64_t begun) {
  return executors::tick_clock::to_duration(time_now - begun);
}

/// A loop whose element `At` ends a quantum, after which another executor takes a part of the rest.
/// @tparam Together ns that an element takes where there are 32 of them; others take 700
template <std::size_t At, int Together>
void is_divided_at() {
  constexpr std::ptrdiff_t n = 400;
  stepped_runtime host{stepped(2)};
  std::vector<int> done(n);
  auto body = [&](member& m, std::size_t first, std::size_t last) {
    for (auto i = first; i != last; ++i) {
      ++done[i];
      pass(last - first >= 32 ? std::chrono::nanoseconds{Together} : 700ns);
      if (i == At)
        end_quantum(m);
    }
  };
  posse::range_fork<decltype(body)> range{body};
  started root{host, 0, [&](member& m) { range.run(m, 0, n); }};
  host.run_all();
  CHECK(root.has_ended());
  CHECK(std::count(done.begin(), done.end(), 1) == n);
}

} // namespace

TEST_CASE("steps get longer after two that were cheaper by a sixth") {
  step_trial site;
  CHECK(site.least() == 1);
  REQUIRE(site.is_due(true));
  ended(site, 32, dear - dear / 6, dear);
  CHECK(site.is_confirming());
  CHECK(site.least() == 1);
  REQUIRE(site.is_due(true));
  ended(site, 32, dear - dear / 6, dear);
  CHECK(site.least() == 32);
  CHECK_FALSE(site.is_confirming());
}

TEST_CASE("a step is cheaper by far if elements took half of the time both times") {
  const auto is_by_far = [](pace::element_cost once, pace::element_cost again) {
    step_trial site;
    ended(site, 32, once, dear);
    ended(site, 32, again, dear);
    CHECK(site.least() == 32);
    return site.is_by_far();
  };
  CHECK(is_by_far(dear / 2, dear / 2));
  CHECK_FALSE(is_by_far(dear / 2, dear / 2 + 1));
  CHECK_FALSE(is_by_far(dear / 2 + 1, dear / 2));
}

TEST_CASE("a second step that was cheaper counts if it came after the shorter one") {
  step_trial site;
  for (int i = 0; i < 3; ++i) // two members at the same time, say
    site.ended(32, {cheap, dear, dear}, false);
  CHECK(site.least() == 1);
  site.ended(32, {cheap, dear, dear}, true);
  CHECK(site.least() == 32);
  site.ended(128, {cheap, dear, dear}, true); // has tried before that was found
  CHECK_FALSE(site.is_confirming());
}

TEST_CASE("elements that are cheap in a step of the usual length as well tell nothing") {
  step_trial site;
  for (int i = 0; i < 4; ++i)
    site.ended(32, {cheap, dear / 2 - 1, dear}, site.is_confirming());
  CHECK(site.least() == 1);
  for (int i = 0; i < 2; ++i)
    site.ended(32, {cheap, dear / 2, dear}, site.is_confirming());
  CHECK(site.least() == 32);
}

TEST_CASE("a shorter step whose thread had to wait does not make the longer one cheap") {
  step_trial site;
  for (int i = 0; i < 4; ++i)
    site.ended(32, {dear, 3 * dear, dear}, site.is_confirming());
  CHECK(site.least() == 1);
  for (int i = 0; i < 2; ++i)
    site.ended(32, {dear / 2 + 1, 3 * dear, dear}, site.is_confirming());
  CHECK(site.least() == 32);
  CHECK_FALSE(site.is_by_far());
}

TEST_CASE("what was found is compared with shorter steps every second time") {
  step_trial site;
  CHECK_FALSE(site.is_doubted());
  ended(site, 32, dear, dear);
  CHECK_FALSE(site.is_doubted()); // nothing was found yet
  ended(site, 32, cheap, dear);
  ended(site, 32, cheap, dear);
  CHECK_FALSE(site.is_doubted());
  ended(site, 128, dear, dear);
  CHECK(site.is_doubted());
  ended(site, 32, cheap, dear); // still cheaper
  CHECK(site.is_doubted());
  ended(site, 32, cheap, dear);
  CHECK_FALSE(site.is_doubted());
  CHECK(site.least() == 32);
  CHECK_FALSE(site.is_due(false)); // for a while, not as after news
  CHECK(step_trial::shorter(32) == 8);
  CHECK(step_trial::shorter(3) == 1);
}

TEST_CASE("it is forgotten when it was no cheaper, twice") {
  step_trial site;
  ended(site, 32, cheap, dear);
  ended(site, 32, cheap, dear);
  ended(site, 32, dear, dear);
  CHECK(site.least() == 32);
  ended(site, 32, dear, dear);
  CHECK(site.least() == 1);
  CHECK_FALSE(site.is_due(false));
}

TEST_CASE("what was found before it is not forgotten with it") {
  step_trial site;
  for (const std::size_t longer : {32, 32, 128, 128})
    ended(site, longer, cheap, dear);
  REQUIRE(site.least() == 128);
  ended(site, 128, dear, dear);
  ended(site, 128, dear, dear);
  CHECK(site.least() == 32);
  CHECK(site.is_by_far());
}

TEST_CASE("after a step that was no cheaper, others are tried some ranges later") {
  step_trial site;
  ended(site, 32, cheap, dear);
  ended(site, 32, dear - dear / 7, dear);
  CHECK_FALSE(site.is_confirming());
  CHECK_FALSE(site.is_due(false));
  int ranges = 0;
  while (!site.is_due(true))
    ++ranges;
  CHECK(ranges == 8); // each of eight that counts
  ended(site, 32, cheap, dear);
  CHECK(site.least() == 1); // what came before does not count
}

TEST_CASE("steps for which others would have to wait are not taken, however cheap") {
  step_trial site;
  const auto most = static_cast<std::size_t>((4 * pace::target << 8) / cheap);
  for (int i = 0; i < 4; ++i)
    ended(site, most + 1, cheap, dear);
  CHECK(site.least() == 1);
  for (int i = 0; i < 2; ++i)
    ended(site, most, cheap, dear);
  CHECK(site.least() == most);
}

TEST_CASE("the longer step has four times as many elements, and two vectors of them") {
  CHECK(step_trial::longer(1) == 32);
  CHECK(step_trial::longer(8) == 32);
  CHECK(step_trial::longer(9) == 36);
}

TEST_CASE("what was found is forgotten when trials have been in vain often enough") {
  step_trial site;
  ended(site, 32, cheap, dear);
  ended(site, 32, cheap, dear);
  for (int i = 0; i < 15; ++i)
    ended(site, 128, dear, dear);
  CHECK(site.least() == 32);
  ended(site, 128, dear, dear);
  CHECK(site.least() == 1);
}

TEST_CASE("a place whose ranges are of another size begins with what is known of those") {
  posse::range_sites sites;
  auto& known = sites.of(100);
  known.learn(dear);
  ended(known.longer_steps, 32, cheap, dear);
  ended(known.longer_steps, 32, cheap, dear);
  CHECK(sites.of(200).longer_steps.least() == 32);
}

TEST_CASE("loops whose elements are cheaper together have steps of so many, from the third on") {
  stepped_runtime host{stepped(1)};
  started root{host, 0, [&](member& m) {
                 loop<0>(m, 200, 32);
                 loop<0>(m, 200, 32);
                 const auto begun = time_now;
                 const auto steps = loop<0>(m, 200, 32);
                 CHECK(*std::min_element(steps.begin(), steps.end() - 1) >= 32);
                 CHECK(since(begun) < 200 * 30ns);
               }};
  host.run_all();
  CHECK(root.has_ended());
}

TEST_CASE("the first loop at a place goes over to longer steps on the way") {
  stepped_runtime host{stepped(1)};
  started root{host, 0, [&](member& m) {
                 const auto begun = time_now;
                 loop<1>(m, 10'000, 32);
                 CHECK(since(begun) < 10'000 * 25ns);
               }};
  host.run_all();
  CHECK(root.has_ended());
}

TEST_CASE("elements that cost the same together are done in steps of the usual time") {
  stepped_runtime host{stepped(1)};
  started root{host, 0, [&](member& m) {
                 for (int i = 0; i < 3; ++i)
                   loop<2>(m, 1000, 1'000'000);
                 const auto steps = loop<2>(m, 1000, 1'000'000);
                 CHECK(*std::max_element(steps.begin(), steps.end())
                         * executors::tick_clock::to_ticks(200ns)
                       <= 2 * pace::target);
               }};
  host.run_all();
  CHECK(root.has_ended());
}

namespace {

/// Loops whose elements cost the same however many there are at a time: element i takes
/// `cost(i)` ns. @returns how many of a hundred have a step of 32 elements or more
template <int Place, class Cost>
int long_steps_of(member& m, std::size_t n, Cost cost) {
  std::size_t most = 0;
  auto body = [&](member&, std::size_t first, std::size_t last) {
    most = std::max(most, last - first);
    for (auto i = first; i != last; ++i)
      pass(std::chrono::nanoseconds(cost(i)));
  };
  posse::range_fork<decltype(body)> range{body};
  int loops = 0;
  for (int i = 0; i < 100; ++i) {
    range.run(m, 0, n);
    loops += std::exchange(most, 0) >= 32 ? 1 : 0;
  }
  return loops;
}

std::size_t longest(const sizes& steps) {
  return *std::max_element(steps.begin(), steps.end());
}

} // namespace

TEST_CASE(
  "elements of which each is dearer, or cheaper, than the one before are not cheaper together") {
  stepped_runtime host{stepped(1)};
  started root{host, 0, [&](member& m) {
                 // With room for one trial each, which the next loop's confirms.
                 const auto cost = [](std::size_t i) { return 5 + i * i / 4; };
                 const auto falling = [&](std::size_t i) { return cost(79 - i); };
                 CHECK(long_steps_of<4>(m, 80, cost) < 10);
                 CHECK(long_steps_of<5>(m, 80, falling) < 10);
               }};
  host.run_all();
  CHECK(root.has_ended());
}

TEST_CASE("no step of a loop is so long for its price that executors wait for it") {
  stepped_runtime host{stepped(2)};
  started root{host, 0, [&](member& m) {
                 for (int i = 0; i < 100; ++i)
                   loop<6>(m, 512, 32, 120ns);
                 CHECK(longest(loop<6>(m, 512, 32, 120ns)) >= 32);
                 CHECK(longest(loop<6>(m, 200, 32, 120ns)) == 200 / 8); // begins like that one
                 for (int i = 0; i < 100; ++i)
                   loop<7>(m, 512, 32, 80ns);
                 const auto by_far = loop<7>(m, 200, 32, 80ns);
                 CHECK(*std::min_element(by_far.begin(), by_far.end() - 1) >= 32);
               }};
  host.run_all();
  CHECK(root.has_ended());
}

namespace {

/// A range at a place that is the test's own.
struct range_at : posse::detail::divisible_range {
  range_at(posse::detail::fork_place& at, void* body) noexcept
    : divisible_range(at, body, 0, 0, 1, 0) {
  }

  void run_steps(member& m, std::size_t n) {
    run(m, 0, n, [] {
      FAIL("takes too long to be done at once");
      return std::size_t{0};
    });
  }
};

} // namespace

TEST_CASE("steps are no longer for a small gain where a few elements take as long as all others") {
  stepped_runtime host{stepped(2)};
  started root{
    host, 0, [&](member& m) {
      sizes steps;
      auto body = [&](member&, std::size_t first, std::size_t last) {
        steps.push_back(last - first);
        pass(static_cast<int>(last - first) * (last - first >= 32 ? 120ns : 200ns));
      };
      posse::detail::fork_place place{{&posse::detail::call_body<decltype(body), void>, 0}};
      auto& site = place.sites.of(512);
      const auto ranges_with_long_steps = [&] {
        int ranges = 0;
        for (int i = 0; i < 100; ++i) {
          steps.clear();
          range_at{place, &body}.run_steps(m, 512);
          site.note_ends(1, 0, 0); // it is uneven still
          ranges += longest(steps) >= 32 ? 1 : 0;
        }
        return ranges;
      };
      site.note_ends(1, 0, 0);
      site.note_ends(1, 0, 0);
      CHECK(ranges_with_long_steps() < 10); // trials
      for (int i = 0; i < 2; ++i)
        ended(site.longer_steps, 32, dear - dear / 4, dear);
      CHECK(ranges_with_long_steps() < 10);
    }};
  host.run_all();
  CHECK(root.has_ended());
}

TEST_CASE("the first elements of a range, which wait for memory, are not compared with others") {
  stepped_runtime host{stepped(1)};
  started root{
    host, 0, [&](member& m) {
      auto body = [](member&, std::size_t first, std::size_t last) {
        const auto each = last - first >= 32 ? 50ns : 100ns;
        pass(static_cast<int>(last - first) * each + (first == 0 ? 10us : 0us));
      };
      posse::detail::fork_place place{{&posse::detail::call_body<decltype(body), void>, 0}};
      auto& site = place.sites.of(512);
      site.learn(pace::cost_of(executors::tick_clock::to_ticks(100ns), 1));
      range_at{place, &body}.run_steps(m, 512);
      CHECK(site.longer_steps.least() >= 32);
    }};
  host.run_all();
  CHECK(root.has_ended());
}

TEST_CASE("each element is done once, wherever one of them lets others take from the range") {
  // Each of them at a place of its own: once elements are known to fork, nothing is tried.
  []<std::size_t... At>(std::index_sequence<At...>) {
    (is_divided_at<2 * At, 700>(), ...);
    (is_divided_at<2 * At, 180>(), ...); // is tried both ways round
  }
  (std::make_index_sequence<40>{});
}

TEST_CASE("a loop too short for longer steps finds out that what was found for them is wrong") {
  stepped_runtime host{stepped(2)};
  started root{
    host, 0, [&](member& m) {
      sizes steps;
      std::size_t together = 1'000'000;
      auto body = [&](member&, std::size_t first, std::size_t last) {
        steps.push_back(last - first);
        pass(static_cast<int>(last - first) * (last - first >= together ? 80ns : 200ns));
      };
      posse::detail::fork_place place{{&posse::detail::call_body<decltype(body), void>, 0}};
      auto& site = place.sites.of(200);
      const auto loops = [&](int n) {
        for (int i = 0; i < n; ++i)
          range_at{place, &body}.run_steps(m, 200);
        steps.clear();
        range_at{place, &body}.run_steps(m, 200);
        return longest(steps);
      };
      site.learn(pace::cost_of(executors::tick_clock::to_ticks(200ns), 1));
      for (int i = 0; i < 2; ++i) // by chance
        ended(site.longer_steps, 64, dear / 2, dear);
      CHECK(loops(1) >= 64);
      CHECK(loops(300) < 64);
      together = 64; // where it is right it stays
      for (int i = 0; i < 2; ++i)
        ended(site.longer_steps, 64, dear / 2, dear);
      loops(1000);
      CHECK(site.longer_steps.least() >= 64);
    }};
  host.run_all();
  CHECK(root.has_ended());
}

TEST_CASE("where the first elements of a loop that is done at once are timed, they are so many") {
  stepped_runtime host{stepped(1)};
  started root{host, 0, [&](member& m) {
                 for (int i = 0; i < 40; ++i)
                   loop<3>(m, 64, 32);
                 for (int i = 0; i < 40; ++i) {
                   const auto steps = loop<3>(m, 64, 32);
                   CHECK(*std::min_element(steps.begin(), steps.end()) >= 32);
                 }
               }};
  host.run_all();
  CHECK(root.has_ended());
}
