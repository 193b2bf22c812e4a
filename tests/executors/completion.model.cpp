// Completions under controlled schedules: the waiter goes on exactly once,
// after the event, and sees what the setter wrote; and the setter does not
// touch a completion that its waiter may have destroyed.

#include "model_pool.hpp"

#include <basal/executors/completion.hpp>

using namespace model;

namespace {

using state = basal::executors::basic_completion_state<atomic>;

/// As basal::executors::completion, for a plain thread.
struct thread_completion {
  state first;
  plain<parker*> waiter{nullptr};
  plain<bool> destroyed{false}; ///< written by the waiter when it has gone on

  void wait() {
    if (first.is_set())
      return;
    parker sleeper;
    waiter = &sleeper;
    if (first.start_waiting())
      sleeper.park();
  }

  void set() {
    if (!first.set())
      return;
    check(!destroyed, "touches a completion that is gone");
    waiter.read()->unpark();
  }
};

scenario thread_waits(bool polls_first) {
  return [=](run& r) {
    thread_completion done;
    plain<int> result;
    r.thread("waiter", [&] {
      if (!polls_first || !done.first.is_set())
        done.wait();
      check(result == 42, "does not see the result");
      done.destroyed = true;
    });
    r.thread("setter", [&] {
      result = 42;
      done.set();
    });
    r.go();
  };
}

/// Item 1 waits on an executor: its fiber is suspended, and resumed by a letter
/// to that executor, from the setter or, if the event came first, from itself.
template <std::size_t Executors>
scenario fiber_waits(bool with_other_work) {
  return [=](run& r) {
    pool<Executors> p;
    state done;
    letter fiber{2};
    plain<std::size_t> home;
    plain<int> result;
    tally<3> seen;
    auto work = [&](auto& self, int number) {
      seen.see(number);
      if (number == 1 && !done.is_set()) {
        ++self.suspended; // its stack is left; now it is published
        home = self.index;
        if (!done.start_waiting())
          self.pinned.push_back(fiber.node);
      } else if (number == 1) {
        seen.see(2); // goes on at once
      } else if (number == 2) {
        check(self.suspended-- == 1, "resumed on another executor");
      }
      if (number == 2 || (number == 1 && self.suspended == 0))
        check(result == 42, "does not see the result");
    };
    for (std::size_t i = 0; i < Executors; ++i)
      r.thread(
        "executor " + std::to_string(i), [&, i] { p.run_executor(i, work); }, true);
    r.thread("setter", [&] {
      p.submit(1);
      if (with_other_work)
        p.submit(3);
      result = 42;
      if (done.set())
        p.deliver(home, fiber);
    });
    r.go();
    p.expect_at_rest();
    seen.expect_all(with_other_work ? 3 : 2);
  };
}

} // namespace

TEST_CASE("completion: a thread waits") {
  verify("completion, thread", thread_waits(false), {.preemptions = 4, .anomalies = 2});
  verify("completion, thread that polls", thread_waits(true), {.preemptions = 4, .anomalies = 2});
}

TEST_CASE("completion: a fiber waits") {
  verify("completion, fiber, 1 executor", fiber_waits<1>(false));
  verify("completion, fiber, 1 executor with other work", fiber_waits<1>(true));
  verify("completion, fiber, 2 executors", fiber_waits<2>(true),
         {.preemptions = 2, .anomalies = 0});
}
