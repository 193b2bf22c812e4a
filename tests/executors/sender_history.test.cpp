// An executor's memory of senders.

#include <basal/executors/detail/sender_history.hpp>

#include "support/catch.hpp"

#include <vector>

using basal::detail::sender_history;
using kind = sender_history::kind;

TEST_CASE("an unknown sender is taken for what the last two unknown ones have turned out to be") {
  sender_history history;
  int objects[8];
  const int other = 0;
  history.learn(&objects[0], kind::slow);
  CHECK(history.of(&other) == kind::brief);
  history.learn(&objects[1], kind::slow);
  CHECK(history.of(&other) == kind::slow);
  history.learn(&objects[0], kind::brief); // known, whatever it does
  history.learn(&objects[0], kind::brief);
  CHECK(history.of(&other) == kind::slow);
  history.learn(&objects[2], kind::outlasts_wake_up);
  CHECK(history.of(&other) == kind::slow);
  history.learn(&objects[3], kind::outlasts_theft);
  CHECK(history.of(&other) == kind::outlasts_theft); // nobody is woken at once
  history.learn(&objects[4], kind::brief);
  history.learn(&objects[5], kind::brief);
  CHECK(history.of(&other) == kind::brief);
}

TEST_CASE("of a sender the latest is known") {
  sender_history history;
  int one = 0, other = 0;
  CHECK(history.of(&one) == kind::brief);
  history.learn(&one, kind::outlasts_theft);
  CHECK(history.of(&one) == kind::outlasts_theft);
  CHECK(history.of(&other) == kind::brief); // of one alone nothing follows for others
  history.learn(&one, kind::brief);
  CHECK(history.of(&one) == kind::brief);
}

TEST_CASE(
  "of two hundred actors side by side most are remembered, and no other is taken for them") {
  sender_history history;
  struct alignas(64) actor {
    char bytes[448];
  };
  std::vector<actor> actors(10'000);
  for (std::size_t i = 0; i < 200; ++i)
    history.learn(&actors[i], kind::outlasts_wake_up); // as which no unknown one counts
  int known = 0;
  for (auto& each : actors)
    known += history.of(&each) == kind::outlasts_wake_up ? 1 : 0;
  CHECK(known > 160);
  CHECK(known <= 200 + 2); // 16 bits tell addresses apart
}
