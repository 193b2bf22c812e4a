#pragma once

// Parts shared by the model tests of this folder. Includes the code under test with its contracts
// checked by the harness, so include this first.

#include "support/interleave/contracts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <basal/executors/detail/idle_set.hpp>
#include <basal/executors/detail/parker.hpp>
#include <basal/executors/detail/sleepers.hpp>
#include <basal/priority/detail/futex_lock.hpp>
#include <basal/priority/detail/gate.hpp>
#include <basal/priority/detail/task.hpp>
#include <basal/priority/priority_queue.hpp>

#include "support/interleave/atomic.hpp"
#include "support/interleave/verify.hpp"

namespace model {

using basal::interleave::atomic;
using basal::interleave::check;
using basal::interleave::expect_failure;
using basal::interleave::plain;
using basal::interleave::run;
using basal::interleave::scenario;
using basal::interleave::verify;

using lock = basal::priority::detail::basic_futex_lock<atomic<std::uint32_t>>;
using queue = basal::priority::basic_priority_queue<int, atomic, lock>;
using sleepers
  = basal::executors::basic_sleepers<basal::executors::basic_idle_set<atomic>,
                                     basal::executors::basic_parker<atomic<std::uint32_t>>>;

/// Something that happens once and that one thread waits for.
class signal {
public:
  void set() {
    word_.store(1, std::memory_order_seq_cst);
    atomic<std::uint32_t>::futex_wake_one(&word_);
  }

  void wait() {
    while (word_.load(std::memory_order_seq_cst) == 0)
      word_.futex_wait(0);
  }

private:
  atomic<std::uint32_t> word_{0};
};

} // namespace model
