#include <basal/posse/theft.hpp>

#include "support/catch.hpp"

#include <set>
#include <string>

using namespace basal::posse;

TEST_CASE("a continuation is stolen only if every condition holds") {
  theft_view view;
  view.rule = hysteresis::quantum;
  view.eligible = 1;
  view.compute_executor_idle = true;
  CHECK(decide_theft(view) == theft_verdict::delegate_oldest);
  SECTION("nobody is idle") {
    view.compute_executor_idle = false;
    CHECK(decide_theft(view) == theft_verdict::nobody_idle);
  }
  SECTION("nothing has survived a full quantum") {
    view.eligible = 0;
    CHECK(decide_theft(view) == theft_verdict::too_young);
  }
  SECTION("what could be stolen belongs to work that is done in sequence") {
    view.in_sequence = true;
    CHECK(decide_theft(view) == theft_verdict::delegate_oldest); // it was forked before that began
    view.eligible = 0;
    CHECK(decide_theft(view) == theft_verdict::in_sequence);
  }
  SECTION("its cabal is full with one executor") {
    view.may_spread = false;
    for (const auto rule : {hysteresis::quantum, hysteresis::worth}) {
      view.rule = rule;
      CHECK(decide_theft(view) == theft_verdict::cabal_full);
    }
    view.eligible = 0;
    CHECK(decide_theft(view) == theft_verdict::too_young);
  }
  SECTION("one was stolen in this quantum already") {
    view.stole_this_quantum = true;
    CHECK(decide_theft(view) == theft_verdict::once_a_quantum);
  }
  SECTION("an idle sibling will take the work that waits here") {
    view.work_waits_here = true;
    CHECK(decide_theft(view) == theft_verdict::delegate_oldest);
    view.sibling_idle = true;
    CHECK(decide_theft(view) == theft_verdict::actors_first);
  }
}

TEST_CASE("each verdict has a name and a meaning of its own") {
  std::set<std::string> names, meanings;
  by_theft_verdict<int>{}.for_each([&](theft_verdict verdict, int) {
    names.insert(describe(verdict).name);
    meanings.insert(describe(verdict).meaning);
  });
  CHECK(names.size() == num_theft_verdicts);
  CHECK(meanings.size() == num_theft_verdicts);
  CHECK(names.count("too_young") == 1);
}

TEST_CASE("what is known to be left must pay for the theft, what is not must have waited for twice "
          "that") {
  theft_view view;
  view.eligible = 1;
  view.compute_executor_idle = true;
  view.cost = 1000;
  for (auto waited : {0u, 999u, 1000u, 1999u}) {
    view.expected = waited;
    CHECK(decide_theft(view) == theft_verdict::too_young);
  }
  view.expected = 2000;
  CHECK(decide_theft(view) == theft_verdict::delegate_oldest);
  view.known = true;
  view.expected = 999;
  CHECK(decide_theft(view) == theft_verdict::not_worth_it);
  view.expected = 1000;
  CHECK(decide_theft(view) == theft_verdict::delegate_oldest);
  view.stole_this_quantum = true; // no rule of this one
  CHECK(decide_theft(view) == theft_verdict::delegate_oldest);
  view.eligible = 0;
  CHECK(decide_theft(view) == theft_verdict::too_young);
  view.in_sequence = true;
  CHECK(decide_theft(view) == theft_verdict::in_sequence);
}

TEST_CASE(
  "a range is divided among all idle executors that get enough, and those who sleep wake for "
  "more") {
  struct {
    std::uint64_t work, awake, asleep, parts;
  } const cases[] = {
    {9, 3, 0, 1}, // two parts of 5 would pay
    {10, 3, 0, 2},   {14, 3, 0, 2},  {15, 3, 0, 3},   {20, 3, 0, 4},
    {1000, 3, 0, 4}, // no more than there are
    {1000, 0, 0, 1}, {199, 0, 3, 1}, {200, 0, 3, 2},  {1000, 0, 3, 4},
    {199, 1, 3, 2}, // one is awake
    {299, 1, 3, 2},  {300, 1, 3, 3}, {1000, 1, 3, 5}, {10, 0, 3, 1},
  };
  for (const auto& c : cases) {
    CAPTURE(c.work, c.awake, c.asleep);
    CHECK(worthwhile_parts(c.work, c.awake, 5, c.asleep, 100) == c.parts);
  }
}

TEST_CASE("a victim that is to wait gives two, one that waits gives one") {
  theft_view view;
  view.rule = hysteresis::quantum;
  view.policy = victim_policy::suspend_victim;
  view.compute_executor_idle = true;
  CHECK(decide_theft(view) == theft_verdict::too_young);
  view.eligible = 1;
  CHECK(decide_theft(view) == theft_verdict::single);
  view.eligible = 2;
  CHECK(decide_theft(view) == theft_verdict::delegate_two);
  view.victim_is_suspended = true;
  CHECK(decide_theft(view) == theft_verdict::delegate_oldest);
  view.eligible = 1;
  CHECK(decide_theft(view) == theft_verdict::delegate_oldest);
}
