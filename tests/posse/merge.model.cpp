// How a delegate ends, under controlled schedules: its victim waits at the merge
// or for all its delegates, sees what they stored, goes on once, and owns latch
// and delegation from then on, whoever comes first. Bugs that were or could be
// made here are put back in, and must be found.

#include "support/interleave/contracts.hpp"

#include <basal/executors/completion.hpp>
#include <basal/posse/detail/hatch.hpp>
#include <basal/posse/detail/merge_latch.hpp>
#include <basal/posse/detail/parcel.hpp>

#include "support/interleave/atomic.hpp"
#include "support/interleave/verify.hpp"

#include <array>

using namespace basal::interleave;

namespace {

/// A fiber's place to sleep: woken once, by whoever owes it.
struct bed {
  atomic<int> token{0};

  void sleep() {
    while (token.load(std::memory_order_acquire) == 0)
      token.futex_wait(0);
  }

  void wake() {
    token.store(1, std::memory_order_release);
    atomic<int>::futex_wake_one(&token);
  }
};

/// As basal::executors::completion, for one who sleeps in a bed.
struct completion {
  basal::executors::basic_completion_state<atomic> state;
  bed waiter;
  plain<bool> gone{false};

  void wait() {
    if (!state.is_set() && state.start_waiting())
      waiter.sleep();
    gone = true; // the victim may destroy it now
  }

  void set() {
    check(!gone, "touches a delegation that is gone");
    if (state.set())
      waiter.wake();
  }
};

/// Changes of the parts under test that put a bug in.
enum class bug {
  none,
  latch_after_set,    ///< merged is set first, then the latch is counted down
  result_after_count, ///< the result is stored once the victim may go on
  unwinds_too_early,  ///< the frame goes without waiting for the delegate
  own_arrival_missing ///< the victim does not count itself
};

using latch = basal::posse::detail::basic_merge_latch<atomic, plain<bed*>>;

struct delegate {
  completion merged;
  plain<int> result{0};
  latch* all = nullptr;
  plain<bool>* latch_gone = nullptr;

  void run(int value, bug b) {
    if (b != bug::result_after_count)
      result = value;
    auto wake = [](bed* victim) { victim->wake(); };
    if (b == bug::latch_after_set) {
      merged.set();
      check(!*latch_gone, "touches a latch that is gone");
      if (all->arrive())
        wake(all->waiter);
    } else {
      if (latch_gone != nullptr)
        check(!*latch_gone, "touches a latch that is gone");
      basal::posse::detail::finish_merge(merged, all,
                                         [&](const plain<bed*>& victim) { wake(victim); });
    }
    if (b == bug::result_after_count)
      result = value;
  }
};

/// A victim that runs on, and waits for its one delegate at the merge.
scenario one_merge(bug b) {
  return [=](run& r) {
    delegate d;
    r.thread("victim", [&] {
      if (b == bug::unwinds_too_early)
        d.merged.gone = true;
      else
        d.merged.wait();
      check(d.result == 7, "does not see the result");
    });
    r.thread("delegate", [&] { d.run(7, b); });
    r.go();
  };
}

/// A victim that is suspended until both have merged, and a third that one of
/// them takes from it before it ends itself.
scenario latched(bug b, bool seamless, bool stack_is_missing = false) {
  return [=](run& r) {
    latch all;
    plain<bool> latch_gone{false};
    bed victim_bed;
    std::array<delegate, 3> d;
    for (auto& x : d) {
      x.all = &all;
      x.latch_gone = &latch_gone;
    }
    atomic<int> handed_over{0};
    auto await_start = [&] {
      while (handed_over.load(std::memory_order_acquire) == 0)
        handed_over.futex_wait(0);
    };
    r.thread("victim", [&] {
      all.expect(b == bug::own_arrival_missing ? 2 : 3);
      if (b != bug::own_arrival_missing)
        all.waiter = &victim_bed;
      handed_over.store(1, std::memory_order_release);
      atomic<int>::futex_wake_one(&handed_over);
      atomic<int>::futex_wake_one(&handed_over);
      if (!stack_is_missing) {
        auto last = false;
        if (b == bug::own_arrival_missing)
          all.waiter = &victim_bed;
        else
          last = all.arrive();
        if (!last)
          victim_bed.sleep();
      }
      for (std::size_t i = 0; i < (seamless ? 3 : 2); ++i) {
        d[i].merged.wait();
        check(d[i].result == static_cast<int>(i) + 1, "does not see the result");
      }
      latch_gone = true; // the member ends
    });
    r.thread("other executor", [&] {
      await_start();
      d[0].run(1, b);
    });
    r.thread("own executor", [&] {
      await_start();
      if (seamless)
        check(all.try_add(), "is woken while a delegate runs");
      d[1].run(2, b);
      if (seamless)
        d[2].run(3, b);
    });
    r.go();
  };
}

/// A delegation that was sent: its victim comes to the merge while the executor may begin it.
/// @param careless the executor destroys the parcel whatever became of it
scenario sent(bool careless) {
  return [=](run& r) {
    basal::posse::detail::basic_dispatch<atomic> dispatch;
    plain<int> result{0};
    plain<bool> parcel_gone{false};
    completion merged;
    r.thread("victim", [&] {
      check(!parcel_gone, "touches a parcel that is gone");
      if (dispatch.take_back()) {
        result = 7;
      } else {
        merged.wait();
        check(!parcel_gone, "destroys a parcel that is gone");
        parcel_gone = true;
      }
      check(result == 7, "does not see the result");
    });
    r.thread("executor", [&] {
      if (dispatch.begin()) {
        if (careless)
          parcel_gone = true;
        result = 7;
        merged.set();
      } else {
        parcel_gone = true;
      }
    });
    r.go();
  };
}

/// Two victims come to an executor that waits at its hatch for a while, twice.
/// @param careless it does not care that somebody has claimed the hatch which it closes
scenario handed_in(bool careless) {
  return [=](run& r) {
    basal::posse::detail::basic_hatch<atomic, plain<int>> hatch;
    std::array<plain<int>, 2> parts{};
    atomic<int> handed{0}; // tells nothing but that there is something to take
    int received = 0;
    r.thread("executor", [&] {
      for (int i = 0; i < 2; ++i) {
        hatch.open();
        auto* part = hatch.take();
        if (part == nullptr && (hatch.close() || careless))
          continue;
        while (part == nullptr) {
          if (const auto seen = handed.load(std::memory_order_relaxed); seen == received)
            handed.futex_wait(seen);
          part = hatch.take();
        }
        check(*part == 7, "does not see what it was handed");
        ++received;
      }
    });
    for (std::size_t v = 0; v < 2; ++v)
      r.thread(v == 0 ? "victim" : "other victim", [&, v] {
        if (!hatch.is_open() || !hatch.claim())
          return;
        parts[v] = 7;
        hatch.hand(parts[v]);
        handed.fetch_add(1, std::memory_order_relaxed);
        atomic<int>::futex_wake_one(&handed);
      });
    r.go();
    check(handed.load(std::memory_order_relaxed) == received, "a part is lost");
  };
}

} // namespace

TEST_CASE("merge: what comes through a hatch comes once") {
  verify("merge, hatch", handed_in(false), {.preemptions = 3, .anomalies = 2});
}

TEST_CASE("merge: one delegate") {
  verify("merge, one", one_merge(bug::none), {.preemptions = 4, .anomalies = 2});
}

TEST_CASE("merge: a victim that waits for all") {
  verify("merge, latch", latched(bug::none, false));
  verify("merge, latch, seamless", latched(bug::none, true), {.preemptions = 2, .anomalies = 0});
}

TEST_CASE("merge: one that its victim may take back runs once, and its parcel ends once") {
  verify("merge, taken back", sent(false), {.preemptions = 4, .anomalies = 2});
}

TEST_CASE("bugs of merges are found") {
  expect_failure("parcel destroyed twice", sent(true), "");
  expect_failure("part lost at the hatch", handed_in(true), "");
  expect_failure("unwinds too early", one_merge(bug::unwinds_too_early), "");
  expect_failure("result after set", one_merge(bug::result_after_count), "");
  expect_failure("result after count", latched(bug::result_after_count, false), "");
  expect_failure("latch after set", latched(bug::latch_after_set, false, true), "");
  expect_failure("victim does not arrive", latched(bug::own_arrival_missing, false), "");
}
