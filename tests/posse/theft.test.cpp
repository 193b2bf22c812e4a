#include <basal/posse/theft.hpp>

#include "support/catch.hpp"

#include <set>
#include <string>

using namespace basal::posse;

TEST_CASE("a continuation is stolen only if every condition holds") {
  theft_view view;
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

TEST_CASE("a victim that is to wait gives two, one that waits gives one") {
  theft_view view;
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
