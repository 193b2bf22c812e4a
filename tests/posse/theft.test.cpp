#include <basal/posse/theft.hpp>

#include "support/catch.hpp"

using namespace basal::posse;

TEST_CASE("a continuation is stolen only if every condition holds") {
  theft_view view;
  view.oldest_is_eligible = true;
  view.compute_executor_idle = true;
  CHECK(decide_theft(view) == theft_verdict::delegate_oldest);
  SECTION("nobody is idle") {
    view.compute_executor_idle = false;
    CHECK(decide_theft(view) == theft_verdict::nobody_idle);
  }
  SECTION("nothing has survived a full quantum") {
    view.oldest_is_eligible = false;
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
