// Items that climb their tiers, under controlled schedules: one compilation per
// item and tier, no code that is read before it is written, and an end.

#include "support/interleave/contracts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include <basal/priority/detail/tiering_ladder.hpp>

#include "support/interleave/atomic.hpp"
#include "support/interleave/verify.hpp"

using namespace basal::interleave;
using basal::priority::compile_state;
using basal::priority::detail::basic_tiering_ladder;

namespace {

/// An item as tiering has it, with what the compiler would do in the thread
/// that claims; `code` is what it makes.
template <template <class> class Atomic>
struct item {
  basic_tiering_ladder<Atomic> ladder{2};
  std::array<plain<int>, 2> code;
  std::array<int, 2> compiled{};

  /// @param fails the tier that cannot be compiled; 0: none
  void compile(std::size_t tier, std::size_t fails) {
    ++compiled[tier - 1];
    if (ladder.best() > tier) {
      ladder.end(tier, compile_state::superseded);
    } else if (tier == fails) {
      ladder.end(tier, compile_state::failed);
    } else {
      code[tier - 1] = static_cast<int>(10 * tier);
      ladder.publish(tier);
    }
  }

  /// @returns the tier that ran
  std::size_t execute(std::size_t fails, std::array<std::uint64_t, 2> thresholds = {1, 2}) {
    const auto n = ladder.count();
    for (std::size_t tier = 1; tier <= 2; ++tier)
      if (n >= thresholds[tier - 1] && ladder.claim(tier))
        compile(tier, fails);
    const auto best = ladder.best();
    if (best != 0)
      check(code[best - 1] == static_cast<int>(10 * best), "runs code that is not there");
    return best;
  }
};

/// Threads that execute the same item at the same time.
template <template <class> class Atomic>
scenario climbing(std::size_t fails) {
  return [=](run& r) {
    item<Atomic> i;
    for (const char* name : {"a", "b"})
      r.thread(name, [&i, fails] {
        const auto first = i.execute(fails);
        check(i.execute(fails) >= first, "an item has fallen to a lower tier");
      });
    r.go();
    for (std::size_t tier = 1; tier <= 2; ++tier) {
      check(i.compiled[tier - 1] == 1, "was not compiled once: tier",
            static_cast<std::int64_t>(tier));
      const auto s = i.ladder.state(tier);
      check(s == compile_state::ready || s == compile_state::superseded
              || (tier == fails && s == compile_state::failed),
            "wrong end of tier", static_cast<std::int64_t>(tier));
    }
    check(i.ladder.best() == (fails == 2 ? 1 : 2), "wrong tier at the end");
    check(i.ladder.settled(), "goes on counting for ever");
    check(i.ladder.executions() == 4, "an execution was not counted");
  };
}

/// Two tiers that are compiled by two threads at the same time.
template <template <class> class Atomic>
scenario compiled_side_by_side(std::size_t fails) {
  return [=](run& r) {
    item<Atomic> i;
    for (const std::size_t tier : {1, 2})
      r.thread(tier == 1 ? "low" : "high", [&i, fails, tier] {
        check(i.ladder.claim(tier), "cannot claim");
        i.compile(tier, fails);
      });
    r.thread("reader", [&i] {
      const auto best = i.ladder.best();
      if (best != 0)
        check(i.code[best - 1] == static_cast<int>(10 * best), "runs code that is not there");
    });
    r.go();
    check(i.ladder.best() == (fails == 2 ? 1 : 2), "wrong tier at the end");
    check(i.ladder.settled(), "goes on counting for ever");
  };
}

/// A claim that is given back is there for exactly one of those who want it.
scenario given_back() {
  return [](run& r) {
    basic_tiering_ladder<atomic> ladder{1};
    plain<int> task; // written by a claimant, as the handle of its task
    std::array<int, 3> claims{};
    for (const std::size_t t : {0, 1, 2})
      r.thread("t" + std::to_string(t), [&, t] {
        if (!ladder.claim(1))
          return;
        ++claims[t];
        task = static_cast<int>(t);
        if (t == 0)
          ladder.give_back(1);
      });
    r.go();
    check(claims[1] + claims[2] <= 1, "two have the same claim");
    const bool open = ladder.state(1) == compile_state::not_started;
    check(open == (claims[1] + claims[2] == 0), "the claim is lost");
  };
}

// -- bugs that the above must catch -------------------------------------------

/// Claims by looking first and writing then.
template <class T>
struct two_steps : atomic<T> {
  using atomic<T>::atomic;

  bool compare_exchange_strong(T& expected, T desired, std::memory_order,
                               std::memory_order) noexcept {
    if (this->load(std::memory_order_seq_cst) != expected)
      return false;
    this->store(desired, std::memory_order_seq_cst);
    return true;
  }
};

/// Publishes nothing but numbers.
template <class T>
struct relaxed : atomic<T> {
  using atomic<T>::atomic;

  bool compare_exchange_weak(T& expected, T desired, std::memory_order,
                             std::memory_order) noexcept {
    return atomic<T>::compare_exchange_weak(expected, desired, std::memory_order_relaxed,
                                            std::memory_order_relaxed);
  }
};

/// Acquires and releases, where all must agree on one order.
template <class T>
struct not_seq_cst : atomic<T> {
  using atomic<T>::atomic;

  T load(std::memory_order order = std::memory_order_acquire) const noexcept {
    return atomic<T>::load(order == std::memory_order_seq_cst ? std::memory_order_acquire : order);
  }

  void store(T value, std::memory_order order = std::memory_order_release) noexcept {
    atomic<T>::store(value, order == std::memory_order_seq_cst ? std::memory_order_release : order);
  }
};

} // namespace

TEST_CASE("each tier is compiled once, and its code is there when it is run") {
  verify("climbing", climbing<atomic>(0));
  verify("climbing past a tier that fails", climbing<atomic>(1));
  verify("climbing to a tier that fails", climbing<atomic>(2));
}

TEST_CASE("tiers that end at the same time leave the best one, and somebody notices the end") {
  verify("side by side", compiled_side_by_side<atomic>(0), {.anomalies = 2});
  verify("side by side, low fails", compiled_side_by_side<atomic>(1), {.anomalies = 2});
  verify("side by side, high fails", compiled_side_by_side<atomic>(2), {.anomalies = 2});
}

TEST_CASE("a claim that is given back goes to one other") {
  verify("given back", given_back());
}

TEST_CASE("claiming in two steps compiles twice") {
  expect_failure("claim in two steps", climbing<two_steps>(0), "data race: writes");
}

TEST_CASE("code that is published without a release is read too early") {
  expect_failure("published relaxed", compiled_side_by_side<relaxed>(0), "data race");
}

TEST_CASE("without one order for all, two tiers that end miss each other") {
  expect_failure("settled without seq_cst", compiled_side_by_side<not_seq_cst>(2),
                 "goes on counting for ever", {.anomalies = 2});
}
