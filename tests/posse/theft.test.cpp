#include <basal/posse/theft.hpp>

#include "support/catch.hpp"

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
