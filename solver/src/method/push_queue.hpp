// The work list of the push methods: places whose residual is large, each at most once, first in
// first out. All memory is scratch.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>

#include <basal/solver/fwd.hpp>

#include "method/iteration.hpp"

namespace basal::solver::detail {

class push_queue {
public:
  static std::uint64_t scratch_bytes(std::size_t n) noexcept {
    return carver::bytes_for<index_type>(n) + carver::bytes_for<std::uint8_t>(n);
  }

  push_queue(std::size_t n, carver& scratch) noexcept
    : ring_(scratch.take<index_type>(n)), waiting_(scratch.take<std::uint8_t>(n)) {
    std::fill(waiting_.begin(), waiting_.end(), std::uint8_t{0});
  }

  bool empty() const noexcept {
    return count_ == 0;
  }

  void push(index_type i) noexcept {
    auto& waits = waiting_[static_cast<std::size_t>(i)];
    if (waits != 0)
      return;
    assert(count_ < ring_.size() && "each place is in the queue at most once");
    waits = 1;
    auto slot = head_ + count_++;
    if (slot >= ring_.size())
      slot -= ring_.size();
    ring_[slot] = i;
  }

  index_type pop() noexcept {
    assert(count_ > 0 && "an empty queue has no first place");
    const index_type i = ring_[head_];
    if (++head_ == ring_.size())
      head_ = 0;
    --count_;
    waiting_[static_cast<std::size_t>(i)] = 0;
    return i;
  }

private:
  std::span<index_type> ring_;
  std::span<std::uint8_t> waiting_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

} // namespace basal::solver::detail
