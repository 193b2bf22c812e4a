#include "bench/support/calm.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <thread>

using namespace basal::bench;
using namespace std::chrono_literals;

TEST_CASE("a process is calm once two looks in a row find no other thread running") {
  int looks = 0;
  CHECK(await_calm([&] { return ++looks <= 5 || looks == 7; }, [] {}));
  CHECK(looks == 9);
}

TEST_CASE("threads that never rest are waited for two hundred times") {
  int pauses = 0;
  CHECK_FALSE(await_calm([] { return true; }, [&] { ++pauses; }));
  CHECK(pauses == 200);
}

TEST_CASE("a process without other threads is calm") {
  CHECK(await_calm());
}

TEST_CASE("a process in which a thread spins is not calm before that one rests") {
  // Some 5 ms: less than the time after which Linux may first tell what a running thread used.
  std::atomic<bool> rests{false};
  std::atomic<bool> ends{false};
  std::jthread other{[&] {
    const auto until = std::chrono::steady_clock::now() + 5ms;
    while (std::chrono::steady_clock::now() < until) {
    }
    rests = true;
    ends.wait(false);
  }};
  const bool calm = await_calm();
  CHECK((rests || !calm));
  ends = true;
  ends.notify_one();
}
