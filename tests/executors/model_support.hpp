#pragma once

// Parts shared by the model tests of this folder. Includes the code under test with its contracts
// checked by the harness, so include this first.

#include "support/interleave/contracts.hpp"

#include <array>
#include <cstdint>

#include <basal/executors/detail/run_queue.hpp>

#include "support/interleave/atomic.hpp"
#include "support/interleave/verify.hpp"

namespace model {

using basal::interleave::atomic;
using basal::interleave::check;
using basal::interleave::expect_failure;
using basal::interleave::limits;
using basal::interleave::plain;
using basal::interleave::run;
using basal::interleave::scenario;
using basal::interleave::verify;

/// A type that the harness can watch: each item is run once, on any thread.
using item = plain<int>;

/// Items 1 to N, each to be seen exactly once.
template <int N>
class tally {
public:
  void see(int number) {
    check(number >= 1 && number <= N, "came out, but was never pushed: item", number);
    check(++seen_[static_cast<std::size_t>(number)] == 1, "came out twice: item", number);
  }

  /// After the run: all of 1 to `last` have been seen.
  void expect_all(int last = N) const {
    for (int i = 1; i <= last; ++i)
      check(seen_[static_cast<std::size_t>(i)] == 1, "is lost: item", i);
  }

private:
  std::array<int, N + 1> seen_{};
};

/// For run_queue: its positions start just before they wrap.
template <class T>
class near_wrap : public atomic<T> {
public:
  near_wrap(T) noexcept : atomic<T>(static_cast<T>(start)) {
  }

private:
  static constexpr std::uint64_t position = 0xffff'ffff;
  static constexpr std::uint64_t start = sizeof(T) == 8 ? position << 32 | position : position;
};

} // namespace model
