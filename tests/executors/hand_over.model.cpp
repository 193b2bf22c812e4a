// Awaited work with limits, under controlled schedules: an executor that begins it
// and an alarm that calls it off may come at the same time. The caller goes on once,
// is told which of them it was, and sees what the work wrote; nobody touches its
// frame afterwards. The error that makes the claim necessary is put back in, and
// must be found.

#include "support/interleave/contracts.hpp"

#include <basal/executors/completion.hpp>
#include <basal/executors/hand_over.hpp>

#include "support/interleave/atomic.hpp"
#include "support/interleave/verify.hpp"

using namespace basal::interleave;

namespace {

/// The part of awaited_work in its caller's frame.
struct frame {
  basal::executors::basic_completion_state<atomic> done;
  atomic<int> token{0};
  plain<int> result{0};
  plain<bool> gone{false};

  void wait() {
    if (!done.is_set() && done.start_waiting())
      while (token.load(std::memory_order_acquire) == 0)
        token.futex_wait(0);
  }

  void set() {
    check(!gone, "touches a frame that is gone");
    if (done.set()) {
      token.store(1, std::memory_order_release);
      atomic<int>::futex_wake_one(&token);
    }
  }
};

constexpr int ran = 1;
constexpr int expired = 2;

/// @param claims false: the alarm and the executor do not ask who is first
scenario called_off(bool claims) {
  return [=](run& r) {
    frame f;
    basal::executors::basic_claim<atomic> claim;
    plain<int> runs{0};
    r.thread("caller", [&] {
      f.wait();
      const int end = f.result;
      check(end == ran || end == expired, "is not told what became of it");
      check((runs == 1) == (end == ran), "is told the wrong thing");
      f.gone = true;
    });
    r.thread("executor", [&] {
      if (!claim.take() && claims)
        return;
      runs = runs + 1;
      f.result = ran;
      f.set();
    });
    r.thread("alarm", [&] {
      if (!claim.take() && claims)
        return;
      f.result = expired;
      f.set();
    });
    r.go();
  };
}

} // namespace

TEST_CASE("hand-over: who comes first, the executor or the alarm") {
  verify("hand-over, limits", called_off(true), {.preemptions = 4, .anomalies = 2});
}

TEST_CASE("hand-over: without a claim both touch the frame") {
  expect_failure("hand-over, no claim", called_off(false), "");
}
