// The harness must find what is there to be found, and count right.

#include "support/interleave/atomic.hpp"
#include "support/interleave/verify.hpp"

#include <set>
#include <stdexcept>
#include <vector>

using namespace basal::interleave;

namespace {

/// `threads` threads of `operations` relaxed increments each.
scenario counting(int threads, int operations) {
  return [=](run& r) {
    atomic<int> total;
    for (int t = 0; t < threads; ++t)
      r.thread("t" + std::to_string(t), [&] {
        for (int i = 0; i < operations; ++i)
          total.fetch_add(1, std::memory_order_relaxed);
      });
    r.go();
    check(total.load() == threads * operations, "an increment is missing");
  };
}

std::uint64_t count(int threads, int operations, std::uint32_t preemptions) {
  auto found = explore_all("counting", counting(threads, operations), {.preemptions = preemptions});
  REQUIRE_FALSE(found.failed);
  return found.schedules;
}

/// Two threads that each raise a flag and then look at the other's.
scenario dekker(std::memory_order order, bool both_may_miss) {
  return [=](run& r) {
    atomic<int> a, b;
    plain<int> saw_b, saw_a;
    r.thread("a", [&] {
      a.store(1, order);
      saw_b = b.load(order);
    });
    r.thread("b", [&] {
      b.store(1, order);
      saw_a = a.load(order);
    });
    r.go();
    check(both_may_miss || saw_a + saw_b > 0, "both missed the other's flag");
  };
}

/// One thread fills a variable and says so, another waits until it is told.
scenario message(std::memory_order store, std::memory_order load) {
  return [=](run& r) {
    plain<int> data;
    atomic<int> ready;
    r.thread("writer", [&] {
      data = 42;
      ready.store(1, store);
    });
    r.thread("reader", [&] {
      if (ready.load(load) == 1)
        check(data == 42, "reads the old data");
    });
    r.go();
  };
}

} // namespace

TEST_CASE("the number of schedules is the one computed by hand") {
  // Without a bound on preemptions: (n*k)! / (k!)^n orders of n threads of k.
  CHECK(count(1, 5, 99) == 1);
  CHECK(count(2, 1, 99) == 2);
  CHECK(count(2, 2, 99) == 6);
  CHECK(count(2, 3, 99) == 20);
  CHECK(count(3, 1, 99) == 6);
  CHECK(count(3, 2, 99) == 90);
  // Two threads of 3, A first (times 2 for B first): AAABBB; with one
  // preemption A|BBB AA and AA|BBB A; with two A|B|AA BB, A|BB|AA B, AA|B|A BB,
  // AA|BB|A B.
  CHECK(count(2, 3, 0) == 2);
  CHECK(count(2, 3, 1) == 2 * (1 + 2));
  CHECK(count(2, 3, 2) == 2 * (1 + 2 + 4));
}

TEST_CASE("random schedules reach all orders of a small program") {
  std::set<std::vector<int>> orders;
  auto found = explore_random(
    "orders",
    [&](run& r) {
      atomic<int> step;
      std::vector<int> order;
      for (int t = 0; t < 3; ++t)
        r.thread("t" + std::to_string(t), [&, t] {
          for (int i = 0; i < 2; ++i) {
            step.fetch_add(1, std::memory_order_relaxed);
            order.push_back(t);
          }
        });
      r.go();
      orders.insert(order);
    },
    20'000);
  CHECK_FALSE(found.failed);
  CHECK(found.schedules == 20'000);
  CHECK(orders.size() == 90);
}

TEST_CASE("a lost update is found and replays") {
  expect_failure(
    "lost update",
    [](run& r) {
      atomic<int> total;
      for (auto name : {"a", "b"})
        r.thread(name, [&] {
          auto seen = total.load(std::memory_order_seq_cst);
          total.store(seen + 1, std::memory_order_seq_cst);
        });
      r.go();
      check(total.load() == 2, "an increment is missing");
    },
    "an increment is missing");
}

TEST_CASE("two preemptions are needed for a bug that needs two") {
  scenario body = [](run& r) {
    atomic<int> turn;
    auto relaxed = std::memory_order_relaxed;
    r.thread("a", [&] {
      turn.fetch_add(1, relaxed); // now 1
      turn.fetch_add(1, relaxed); // now 3, if b added 1 in between
    });
    r.thread("b", [&] {
      if (turn.fetch_add(1, relaxed) == 1)
        check(turn.fetch_add(1, relaxed) != 3, "a went on in between, once");
    });
    r.go();
  };
  CHECK_FALSE(explore_all("two", body, {.preemptions = 1}).failed);
  CHECK(explore_all("two", body, {.preemptions = 2}).failed);
  CHECK(explore_random("two", body, 2000).failed);
}

TEST_CASE("publication needs release and acquire") {
  verify("message", message(std::memory_order_release, std::memory_order_acquire));
  expect_failure("no release", message(std::memory_order_relaxed, std::memory_order_acquire),
                 "data race");
  expect_failure("no acquire", message(std::memory_order_release, std::memory_order_relaxed),
                 "data race");
}

TEST_CASE("a read-modify-write continues a release sequence, a store does not") {
  auto body = [](bool store) -> scenario {
    return [=](run& r) {
      plain<int> data;
      atomic<int> ready;
      r.thread("writer", [&] {
        data = 1;
        ready.store(1, std::memory_order_release);
        if (store)
          ready.store(2, std::memory_order_relaxed);
      });
      r.thread("middle", [&] { ready.fetch_add(10, std::memory_order_relaxed); });
      r.thread("reader", [&] {
        auto seen = ready.load(std::memory_order_acquire);
        if (seen == 1 || seen == 2 || seen == 11)
          check(data == 1, "reads the old data");
      });
      r.go();
    };
  };
  verify("release sequence", body(false));
  expect_failure("broken release sequence", body(true), "data race");
}

TEST_CASE("two flags need seq_cst so that one side sees the other's") {
  verify("dekker", dekker(std::memory_order_seq_cst, false));
  expect_failure("dekker with acquire and release", dekker(std::memory_order_acq_rel, false),
                 "both missed");
  verify("dekker that may miss", dekker(std::memory_order_relaxed, true));
}

TEST_CASE("one variable's stores are seen in their order") {
  verify("coherence", [](run& r) {
    atomic<int> x;
    r.thread("writer", [&] {
      x.store(1, std::memory_order_relaxed);
      x.store(2, std::memory_order_relaxed);
    });
    for (auto name : {"a", "b"})
      r.thread(name, [&] {
        auto first = x.load(std::memory_order_relaxed);
        check(x.load(std::memory_order_relaxed) >= first, "went back in time");
      });
    r.go();
  });
}

TEST_CASE("what a message says of a third variable cannot be unseen") {
  // Write-to-read causality: a tells b, b tells c, c knows what a did.
  auto body = [](std::memory_order second) -> scenario {
    return [=](run& r) {
      atomic<int> x, y;
      r.thread("a", [&] { x.store(1, std::memory_order_release); });
      r.thread("b", [&] {
        if (x.load(std::memory_order_acquire) == 1)
          y.store(1, second);
      });
      r.thread("c", [&] {
        if (y.load(std::memory_order_acquire) == 1)
          check(x.load(std::memory_order_relaxed) == 1, "knows less than its informant");
      });
      r.go();
    };
  };
  verify("causality", body(std::memory_order_release));
  expect_failure("no causality", body(std::memory_order_relaxed), "knows less");
}

TEST_CASE("readers and a writer race, readers among themselves do not") {
  verify("readers", [](run& r) {
    plain<int> data = 7;
    atomic<int> sum;
    for (auto name : {"a", "b"})
      r.thread(name, [&] { sum.fetch_add(data, std::memory_order_relaxed); });
    r.go();
    check(sum.load() == 14, "a wrong sum");
  });
  expect_failure(
    "reader and writer",
    [](run& r) {
      plain<int> data = 7;
      atomic<int> any;
      r.thread("reader", [&] {
        any.load(std::memory_order_relaxed);
        static_cast<void>(data.read());
      });
      r.thread("writer", [&] {
        any.load(std::memory_order_relaxed);
        data = 8;
      });
      r.go();
    },
    "data race");
}

TEST_CASE("threads that sleep for ever are a failure, unless they may") {
  auto body = [](bool may_sleep, bool wake) -> scenario {
    return [=](run& r) {
      atomic<std::uint32_t> word;
      r.thread(
        "sleeper",
        [&] {
          while (word.load(std::memory_order_acquire) == 0)
            word.futex_wait(0);
        },
        may_sleep);
      r.thread("waker", [&] {
        word.store(1, std::memory_order_release);
        if (wake)
          word.futex_wake_one(&word);
      });
      r.go();
    };
  };
  verify("wake-up", body(false, true));
  verify("may sleep", body(true, false));
  expect_failure("forgotten wake-up", body(false, false), "sleeps for ever: sleeper");
}

TEST_CASE("a futex wait may return for no reason") {
  expect_failure(
    "no loop around the wait",
    [](run& r) {
      atomic<std::uint32_t> word;
      r.thread("sleeper", [&] {
        word.futex_wait(0);
        check(word.load(std::memory_order_seq_cst) == 1, "awake without a reason");
      });
      r.thread("waker", [&] {
        word.store(1, std::memory_order_seq_cst);
        word.futex_wake_one(&word);
      });
      r.go();
    },
    "awake without a reason");
}

TEST_CASE("a weak compare-exchange may fail for no reason") {
  expect_failure(
    "no loop around the exchange",
    [](run& r) {
      atomic<int> x;
      r.thread("a", [&] {
        int expected = 0;
        check(x.compare_exchange_weak(expected, 1, std::memory_order_relaxed,
                                      std::memory_order_relaxed),
              "failed");
      });
      r.go();
    },
    "failed");
}

TEST_CASE("a mutex excludes and publishes") {
  auto body = [](bool lock) -> scenario {
    return [=](run& r) {
      mutex m;
      plain<int> total;
      atomic<int> any;
      for (auto name : {"a", "b", "c"})
        r.thread(name, [&] {
          if (lock)
            m.lock();
          total = total + 1;
          any.load(std::memory_order_relaxed); // a chance to interrupt
          if (lock)
            m.unlock();
        });
      r.go();
      check(total == 3, "an increment is missing");
    };
  };
  verify("mutex", body(true));
  expect_failure("no mutex", body(false), "data race");
}

TEST_CASE("a run that does not end is a failure") {
  expect_failure(
    "waits for nobody",
    [](run& r) {
      atomic<int> x;
      r.thread("spinner", [&] {
        while (x.load(std::memory_order_relaxed) == 0) {
        }
      });
      r.go();
    },
    "has not ended");
}

TEST_CASE("what must always hold is checked between operations") {
  expect_failure(
    "a gap",
    [](run& r) {
      atomic<int> x = 1;
      r.thread("a", [&] {
        x.store(0, std::memory_order_relaxed);
        x.store(1, std::memory_order_relaxed);
      });
      r.always([&] { check(x.load() == 1, "not one"); });
      r.go();
    },
    "not one");
}

TEST_CASE("the same seed gives the same schedule") {
  scenario body = [](run& r) {
    atomic<int> turn;
    for (int t = 0; t < 3; ++t)
      r.thread("t" + std::to_string(t), [&, t] {
        for (int i = 0; i < 4; ++i)
          check(turn.exchange(t, std::memory_order_relaxed) != (t + 1) % 3 || i < 3, "met");
      });
    r.go();
  };
  auto first = explore_random("seed", body, 1000);
  auto second = explore_random("seed", body, 1000);
  REQUIRE(first.failed);
  CHECK(first.schedule == second.schedule);
  CHECK(first.schedules == second.schedules);
  CHECK(first.trace == second.trace);
  CHECK(first.text().find("BASAL_MODEL_REPLAY='seed/" + first.schedule) != std::string::npos);
}

TEST_CASE("a schedule that cannot be read is refused") {
  for (auto text : {"", "x", "1", "1:", "1:2x", "1:2..3:4", "1:2."})
    CHECK_THROWS_AS(replay("nonsense", counting(2, 1), text), std::invalid_argument);
}
