// Bugs that schedulers of this kind have had, put back in: each must be caught,
// or the tests beside this one prove nothing. The code under test is the
// runtime's own; what is wrong is a part that is passed to its templates.

// wide_positions makes the run queue compute with the wrong width.
#pragma GCC diagnostic ignored "-Wconversion"

#include "model_pool.hpp"

#include <basal/executors/completion.hpp>

using namespace model;

namespace {

// -- atomics that do not do what they are told --------------------------------

constexpr std::memory_order without_release(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_relaxed ? order
         : order == std::memory_order_release ? std::memory_order_relaxed
                                              : std::memory_order_acquire;
}

constexpr std::memory_order without_acquire(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_relaxed ? order
         : order == std::memory_order_acquire ? std::memory_order_relaxed
                                              : std::memory_order_release;
}

constexpr std::memory_order without_seq_cst(std::memory_order order) {
  return order == std::memory_order_seq_cst ? std::memory_order_acq_rel : order;
}

/// Passes every order through `Change` first.
template <class T, std::memory_order (*Change)(std::memory_order)>
class reordered : public atomic<T> {
public:
  using base = atomic<T>;
  using base::base;
  using order = std::memory_order;

  T load(order o = order::seq_cst) const noexcept {
    return base::load(Change(o));
  }
  void store(T value, order o = order::seq_cst) noexcept {
    base::store(value, Change(o));
  }
  T exchange(T value, order o = order::seq_cst) noexcept {
    return base::exchange(value, Change(o));
  }
  bool compare_exchange_strong(T& expected, T desired, order success, order failure) noexcept {
    return base::compare_exchange_strong(expected, desired, Change(success), Change(failure));
  }
  bool compare_exchange_weak(T& expected, T desired, order success, order failure) noexcept {
    return base::compare_exchange_weak(expected, desired, Change(success), Change(failure));
  }
  T fetch_add(T n, order o = order::seq_cst) noexcept {
    return base::fetch_add(n, Change(o));
  }
  T fetch_sub(T n, order o = order::seq_cst) noexcept {
    return base::fetch_sub(n, Change(o));
  }
  T fetch_or(T bits, order o = order::seq_cst) noexcept {
    return base::fetch_or(bits, Change(o));
  }
  T fetch_and(T bits, order o = order::seq_cst) noexcept {
    return base::fetch_and(bits, Change(o));
  }
};

template <class T>
using no_release = reordered<T, without_release>;
template <class T>
using no_acquire = reordered<T, without_acquire>;
template <class T>
using no_seq_cst = reordered<T, without_seq_cst>;

/// The run queue's head: a thief that claims slots gives them back to the owner
/// with the same exchange, before it has read them.
template <class T>
class early_release : public atomic<T> {
public:
  using atomic<T>::atomic;

  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure) noexcept {
    if constexpr (sizeof(T) == 8)
      desired = (desired << 32) | (desired & 0xffff'ffff);
    return atomic<T>::compare_exchange_weak(expected, desired, success, failure);
  }
};

/// The run queue's tail, widened: differences no longer wrap at 2^32.
template <class T>
class wide_positions : public near_wrap<T> {
public:
  using near_wrap<T>::near_wrap;

  std::uint64_t load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    return near_wrap<T>::load(order);
  }
};

// -- idle sets and parkers ----------------------------------------------------

/// Volt's mistake: tests the bit, then clears it, so that an executor which takes itself
/// out and one that claims it may both believe that they cleared it.
class tests_then_clears : public basic_idle_set<atomic> {
public:
  using basic_idle_set<atomic>::basic_idle_set;

  bool leave(std::size_t index) noexcept {
    auto was_there = claimed_[index].load(std::memory_order_seq_cst) == 0;
    basic_idle_set<atomic>::leave(index);
    claimed_[index].store(0, std::memory_order_seq_cst);
    return was_there;
  }

  template <class Awake>
  std::optional<claimed_searcher> claim_searcher(Awake is_awake) noexcept {
    auto claimed = basic_idle_set<atomic>::claim_searcher(is_awake);
    if (claimed)
      claimed_[claimed->index].store(1, std::memory_order_seq_cst);
    return claimed;
  }

private:
  std::array<atomic<int>, 2> claimed_; // the bit as the owner tests it
};

/// Counts searchers one by one but forgets that a claimed executor is one.
class forgets_claimed_searcher : public basic_idle_set<atomic> {
public:
  using basic_idle_set<atomic>::basic_idle_set;

  template <class Awake>
  std::optional<claimed_searcher> claim_searcher(Awake) noexcept {
    if (num_searching() != 0)
      return std::nullopt;
    const auto index = claim_any();
    return index ? std::optional{claimed_searcher{*index, false}} : std::nullopt;
  }
};

/// A searcher that stops never learns that it was the last one.
class never_last : public basic_idle_set<atomic> {
public:
  using basic_idle_set<atomic>::basic_idle_set;

  bool stop_searching() noexcept {
    basic_idle_set<atomic>::stop_searching();
    return false;
  }
};

/// Puts the token down without waking who sleeps already.
class no_futex_wake : public atomic<std::uint32_t> {
public:
  using atomic<std::uint32_t>::atomic;

  static void futex_wake_one(no_futex_wake*) noexcept {
  }
};

// -- pools made of them -------------------------------------------------------

struct no_last_look : sound {
  static constexpr bool looks_again = false;
};

struct no_search_when_out : sound {
  static constexpr bool searches_when_out = false;
};

struct patient_last_look : patient {
  static constexpr bool last_look_sees_few = false;
};

struct forgotten_unpark : sound {
  static constexpr bool stop_wakes = false;
};

struct leaves_without_look : sound {
  static constexpr bool leaves_with_look = false;
};

struct leaves_with_backstop_busy : sound {
  static constexpr bool stop_waits_for_backstop = false;
};

template <class IdleSet>
struct with_idle_set : sound {
  using sleepers_type = basic_sleepers<IdleSet, parker>;
};

template <template <class> class Atomic>
struct with_atomics : sound {
  using sleepers_type = basic_sleepers<basic_idle_set<Atomic>, basic_parker<Atomic<std::uint32_t>>>;
  using ring = basal::executors::run_queue<item, 4, Atomic>;
  using inbox = basic_inbox<Atomic>;
};

struct with_no_futex_wake : sound {
  using sleepers_type = basic_sleepers<basic_idle_set<atomic>, basic_parker<no_futex_wake>>;
};

// -- scenarios ----------------------------------------------------------------

template <template <class> class Atomic>
scenario robbery() {
  return [](run& r) {
    basal::executors::run_queue<item, 2, Atomic> victim, loot;
    tally<4> seen;
    r.thread("owner", [&] {
      item out;
      for (int i = 1; i <= 4; ++i)
        while (!victim.push_back(i)) {
          if (!victim.pop_front(out)) {
            seen.see(i);
            break;
          }
          seen.see(out);
        }
    });
    r.thread("thief", [&] {
      item out;
      for (int i = 0; i < 2; ++i)
        if (victim.steal_into(loot, out).count > 0)
          seen.see(out);
    });
    r.go();
    item out;
    while (victim.pop_front(out))
      seen.see(out);
    seen.expect_all();
  };
}

/// The owner alone fills a ring.
template <template <class> class Atomic>
scenario filling() {
  return [](run& r) {
    basal::executors::run_queue<item, 4, Atomic> ring;
    r.thread("owner", [&] {
      item out;
      for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 4; ++i)
          check(ring.push_back(i), "full too early");
        check(!ring.push_back(4), "not full");
        for (int i = 0; i < 4; ++i)
          check(ring.pop_front(out) && out == i, "another item than was pushed");
        check(!ring.pop_front(out), "not empty");
      }
    });
    r.go();
  };
}

template <class Parts, std::size_t Executors>
scenario submitting(int items, int spawning = 0) {
  return [=](run& r) {
    pool<Executors, Parts> p;
    tally<8> seen;
    for (std::size_t i = 0; i < Executors; ++i)
      r.thread(
        "executor " + std::to_string(i),
        [&, i] {
          p.run_executor(i, [&](auto& self, int number) {
            seen.see(number);
            if (number <= spawning)
              p.push_back(self, items + number);
          });
        },
        true);
    r.thread("producer", [&] {
      for (int k = 1; k <= items; ++k)
        p.submit(k);
    });
    r.go();
    p.expect_at_rest();
    seen.expect_all(items + spawning);
  };
}

/// Item 1 cannot end before item 2 has run, so two executors must be awake.
/// `inside`: item 1 pushes item 2.
template <class Parts, std::size_t Executors>
scenario depending(bool inside = false) {
  return [=](run& r) {
    pool<Executors, Parts> p;
    tally<2> seen;
    atomic<std::uint32_t> second_ran;
    for (std::size_t i = 0; i < Executors; ++i)
      r.thread(
        "executor " + std::to_string(i),
        [&, i] {
          p.run_executor(i, [&](auto& self, int number) {
            seen.see(number);
            if (inside && number == 1)
              p.push_back(self, 2);
            if (number == 2) {
              second_ran.store(1, std::memory_order_relaxed);
              second_ran.futex_wake_one(&second_ran);
            }
            while (number == 1 && second_ran.load(std::memory_order_relaxed) == 0)
              second_ran.futex_wait(0);
          });
        },
        true);
    r.thread("producer", [&] {
      p.submit(1);
      if (!inside)
        p.submit(2);
    });
    r.go();
    p.expect_at_rest();
    seen.expect_all();
  };
}

template <class Parts>
scenario delivering() {
  return [](run& r) {
    pool<1, Parts> p;
    tally<1> seen;
    letter one{1};
    r.thread(
      "executor", [&] { p.run_executor(0, [&](auto&, int number) { seen.see(number); }); }, true);
    r.thread("sender", [&] { p.deliver(0, one); });
    r.go();
    p.expect_at_rest();
    seen.expect_all();
  };
}

template <template <class> class Atomic>
scenario mailing() {
  return [](run& r) {
    basic_inbox<Atomic> box;
    letter one{0};
    r.thread("sender", [&] {
      one.number = 1;
      box.push(one.node);
    });
    r.thread("owner", [&] {
      inbox_list taken;
      box.take_all(taken);
      if (auto* node = taken.pop_front())
        check(static_cast<letter*>(node->item.object)->number == 1, "an unwritten letter");
    });
    r.go();
  };
}

template <template <class> class Atomic>
scenario polling() {
  return [](run& r) {
    basal::executors::basic_completion_state<Atomic> done;
    plain<int> result;
    r.thread("setter", [&] {
      result = 42;
      done.set();
    });
    r.thread("waiter", [&] {
      if (done.is_set() || !done.start_waiting())
        check(result == 42, "does not see the result");
    });
    r.go();
  };
}

template <class Parts>
scenario stopping(bool with_backstop) {
  return [=](run& r) {
    pool<1, Parts> p;
    tally<2> seen;
    bool accepted = false;
    p.backstop_busy.store(with_backstop ? 1 : 0);
    r.thread("executor", [&] {
      p.run_executor(0, [&](auto& self, int number) {
        seen.see(number);
        if (number == 1)
          p.push_newest(self, 2);
      });
    });
    if (with_backstop)
      r.thread("backstop", [&] { p.backstop_look(0); });
    r.thread("producer", [&] {
      accepted = p.submit(1);
      p.stop();
    });
    r.go();
    seen.expect_all(accepted ? 2 : 0);
  };
}

} // namespace

TEST_CASE("the scenarios hold when nothing is broken") {
  verify("sound, robbery", robbery<atomic>());
  verify("sound, robbery near the wrap", robbery<near_wrap>());
  verify("sound, filling near the wrap", filling<near_wrap>());
  verify("sound, depending", depending<sound, 2>(), {.anomalies = 0});
  verify("sound, patient thieves", depending<patient, 2>(true), {.anomalies = 0});
  verify("sound, submitting", submitting<sound, 1>(2));
  verify("sound, submitting to 2", submitting<sound, 2>(2, 1), {.preemptions = 1});
  verify("sound, delivering", delivering<sound>());
  verify("sound, mailing", mailing<atomic>());
  verify("sound, polling", polling<atomic>());
  verify("sound, stopping", stopping<sound>(false));
  verify("sound, stopping with backstop", stopping<sound>(true), {.anomalies = 0});
}

TEST_CASE("bugs of the run queue are caught") {
  expect_failure("bug: run queue without release", robbery<no_release>(), "data race");
  expect_failure("bug: run queue without acquire", robbery<no_acquire>(), "data race");
  expect_failure("bug: slots released before they are read", robbery<early_release>(), "data race");
  expect_failure("bug: positions do not wrap", filling<wide_positions>(), "full too early");
}

TEST_CASE("bugs of going to sleep are caught") {
  expect_failure("bug: no look after entering the idle set", submitting<no_last_look, 1>(1),
                 "work waits, and everybody sleeps");
  expect_failure("bug: no look at the inbox either", delivering<no_last_look>(),
                 "work waits, and everybody sleeps");
  expect_failure("bug: wake-up reason tested, then cleared",
                 submitting<with_idle_set<tests_then_clears>, 2>(2), "");
  expect_failure("bug: claimed executor not counted as searching",
                 submitting<with_idle_set<forgets_claimed_searcher>, 2>(1), "contract");
  expect_failure("bug: the last searcher wakes nobody", depending<with_idle_set<never_last>, 2>(),
                 "work waits, and everybody sleeps");
  expect_failure("bug: not searching when out of the idle set", depending<no_search_when_out, 2>(),
                 "work waits, and everybody sleeps");
  expect_failure("bug: the last look is patient, too", depending<patient_last_look, 2>(true),
                 "work waits, and everybody sleeps");
  expect_failure("bug: token without wake-up", submitting<with_no_futex_wake, 1>(1),
                 "work waits, and everybody sleeps");
  expect_failure("bug: acquire and release where seq_cst is needed, ring",
                 submitting<with_atomics<no_seq_cst>, 2>(1, 1), "work waits");
  expect_failure("bug: acquire and release where seq_cst is needed, inbox",
                 delivering<with_atomics<no_seq_cst>>(), "work waits");
}

TEST_CASE("bugs of handing over are caught") {
  expect_failure("bug: inbox without release", mailing<no_release>(), "data race");
  expect_failure("bug: inbox without acquire", mailing<no_acquire>(), "data race");
  expect_failure("bug: completion without release", polling<no_release>(), "data race");
  expect_failure("bug: completion without acquire", polling<no_acquire>(), "data race");
}

TEST_CASE("bugs of stopping are caught") {
  expect_failure("bug: stop wakes nobody", stopping<forgotten_unpark>(false), "sleeps for ever");
  expect_failure("bug: leaves without a look after the stop", stopping<leaves_without_look>(false),
                 "is lost: item");
  expect_failure("bug: leaves while the backstop is busy",
                 stopping<leaves_with_backstop_busy>(true), "is lost: item 2");
}
