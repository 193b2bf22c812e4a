#include <basal/executors/completion.hpp>

#include "support/catch.hpp"

#include <thread>

using basal::executors::completion;

TEST_CASE("waiting for an event that has happened returns at once") {
  completion c;
  CHECK_FALSE(c.is_set());
  c.set();
  CHECK(c.is_set());
  c.wait();
}

TEST_CASE("a plain thread sleeps until the event and sees what came before it") {
  for (int round = 0; round < 500; ++round) {
    completion c;
    int result = 0;
    std::thread setter{[&] {
      result = round;
      c.set();
    }};
    c.wait();
    CHECK(result == round);
    setter.join();
  }
}
