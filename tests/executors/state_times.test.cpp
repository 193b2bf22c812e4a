#include <basal/executors/detail/state_times.hpp>

#include "support/catch.hpp"

using namespace basal::executors;

TEST_CASE("before an executor begins, it has been in no state") {
  CHECK(state_times{}.at(1000) == ticks_by_state{0, 0, 0});
}

TEST_CASE("the state under way counts up to now, without anybody entering another") {
  state_times times;
  times.enter(executor_state::running, 100);
  CHECK(times.at(100) == ticks_by_state{0, 0, 0});
  CHECK(times.at(170) == ticks_by_state{70, 0, 0});
}

TEST_CASE("each state has the time between its beginning and the next one's") {
  state_times times;
  times.enter(executor_state::running, 100);
  times.enter(executor_state::looking, 130);
  times.enter(executor_state::parked, 135);
  times.enter(executor_state::running, 200);
  times.enter(executor_state::looking, 210);
  times.enter(executor_state::running, 211);
  CHECK(times.at(220) == ticks_by_state{30 + 10 + 9, 5 + 1, 65});
}

TEST_CASE("a state is known to last since it was entered") {
  state_times times;
  CHECK(times.now_in(executor_state::running, 1000) == 0);
  times.enter(executor_state::looking, 100);
  times.enter(executor_state::running, 130);
  CHECK(times.now_in(executor_state::running, 170) == 40);
  CHECK(times.now_in(executor_state::running, 120) == 0); // a clock that is behind
  CHECK(times.now_in(executor_state::looking, 170) == 0);
}

TEST_CASE("a reader whose clock is behind adds nothing") {
  state_times times;
  times.enter(executor_state::parked, 100);
  CHECK(times.at(99) == ticks_by_state{0, 0, 0});
}
