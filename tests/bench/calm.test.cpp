#include "bench/support/calm.hpp"
#include "support/catch.hpp"

#include <chrono>

using namespace basal::bench;
using namespace std::chrono_literals;

TEST_CASE("a process is calm once its other threads use no CPU time") {
  std::chrono::nanoseconds used = 5ms;
  int pauses = 0;
  CHECK(await_calm([&] { return used; }, [&] { used += ++pauses <= 7 ? 300us : 10us; }));
  CHECK(pauses == 8);
}

TEST_CASE("threads that never rest are waited for two hundred times") {
  std::chrono::nanoseconds used{0};
  int pauses = 0;
  CHECK_FALSE(await_calm([&] { return used; },
                         [&] {
                           used += 500us;
                           ++pauses;
                         }));
  CHECK(pauses == 200);
}

TEST_CASE("a process without other threads is calm") {
  CHECK(await_calm());
}
