// Thefts that leave nothing behind: where one branch is all the work, and the victim has to wait.

#include <basal/posse/detail/computation.hpp>
#include <basal/posse/posse.hpp>

#include "stepped_runtime.hpp"

#include <chrono>
#include <cstdint>

using namespace basal;
using namespace basal::test;
using posse::member;

namespace {

/// How a left branch goes on before others look, and after that.
struct left_branch {
  std::chrono::nanoseconds before;
  std::chrono::nanoseconds after;
};

/// Of each fork the rest of the work is the right branch. If that was stolen, it goes on when its
/// victim waits: all executors have one clock.
/// @param left  by the forks that follow
/// @param apart what passes in a right branch before its fork
/// @tparam Place what is known of branches is known of those of one place
template <int Place>
void chain(member& m, int forks, left_branch (*left)(int), std::chrono::nanoseconds apart = 10us) {
  if (forks == 0)
    return;
  m.fork_merge(
    [=](member& k) {
      pass(left(forks).before);
      look(k);
      let_thieves_begin(k);
      pass(left(forks).after);
    },
    [=](member& k) {
      let_thieves_begin(k);
      let_thieves_begin(k);
      pass(apart);
      chain<Place>(k, forks - 1, left, apart);
    });
}

/// Stolen for what is expected of the call, and over.
left_branch nothing_more(int) {
  return {1us, 1us};
}

/// Old enough to be stolen where nothing is known, and over as well.
left_branch ten_microseconds(int) {
  return {10us, 1us};
}

/// Both branches are long, and are told from others by `Place`.
template <int Place>
void halves(member& m, int forks) {
  if (forks == 0) {
    pass(100us);
    look(m);
    return;
  }
  m.fork_merge([=](member& k) { halves<Place>(k, forks - 1); },
               [=](member& k) { halves<Place>(k, forks - 1); });
}

/// Thefts in a call, the executors going on in any order.
template <class Body>
std::uint64_t thefts_in(stepped_runtime& host, Body body) {
  const auto before = host->stats().thefts;
  started root{host, 0, body};
  host.run_all();
  while (!root.has_ended()) {
    go_on();
    host.run_all();
  }
  return host->stats().thefts - before;
}

} // namespace

TEST_CASE("where thefts leave nothing to do for the victim there are few of them") {
  stepped_runtime host{by_worth(2)};
  const auto in_chain = [](member& m) { chain<0>(m, 300, nothing_more); };
  thefts_in(host, in_chain); // of the first call nothing is expected
  for (int call = 0; call < 5; ++call)
    CHECK(thefts_in(host, in_chain) < 20);
}

TEST_CASE("after thefts in vain, continuations of which nothing is known have to be older") {
  stepped_runtime first{by_worth(2)}; // the place has been seen before, with other branches
  thefts_in(first, [](member& m) { chain<1>(m, 300, nothing_more); });
  stepped_runtime host{by_worth(2)};
  CHECK(thefts_in(host, [](member& m) { chain<1>(m, 300, ten_microseconds); }) < 30);
}

TEST_CASE("after thefts in vain, time without a fork does not make the next one worth a theft") {
  stepped_runtime host{by_worth(2)};
  CHECK(thefts_in(host, [](member& m) { chain<2>(m, 300, nothing_more, 2ms); }) < 30);
}

TEST_CASE("after thefts in vain, what is expected of the call does not, either") {
  stepped_runtime host{by_worth(2)};
  const auto in_chain = [](member& m) { chain<3>(m, 300, nothing_more, 100us); };
  thefts_in(host, in_chain);            // of the first call nothing is expected
  CHECK(thefts_in(host, in_chain) < 4); // each of the others would take half of what is expected
}

TEST_CASE("a computation counts thefts in vain, and those that gained make up for some") {
  stepped_runtime host{by_worth(1)};
  posse::detail::computation c{*host, {}, nullptr};
  CHECK(c.doublings_of_age() == 0);
  c.note_theft(true); // may be chance
  CHECK(c.doublings_of_age() == 0);
  for (int i = 0; i < 20; ++i)
    c.note_theft(true);
  CHECK(c.doublings_of_age() == 7);
  c.note_theft(false);
  CHECK(c.doublings_of_age() == 3);
  c.note_theft(false);
  c.note_theft(false);
  CHECK(c.vain_thefts() == 1);
}

TEST_CASE("work that can be divided is divided in each call") {
  stepped_runtime host{by_worth(2)};
  const auto in_halves = [](member& m) { halves<0>(m, 6); };
  thefts_in(host, in_halves);
  for (int call = 0; call < 5; ++call)
    CHECK(thefts_in(host, in_halves) > 0);
}
