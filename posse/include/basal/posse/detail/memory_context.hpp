#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/executor.hpp>
#include <basal/posse/detail/cheaply_aligned.hpp>
#include <basal/posse/fwd.hpp>

namespace basal::posse::detail {

class computation;

/// One computation on one executor: its members there, and the bytes of their stacks and of their
/// allocations. Made when the executor joins the cabal, kept until the computation ends.
///
/// charge() and refund(), and so the memory resource, may be called from any
/// thread: results move to other executors with what they own. The rest belongs
/// to the executor's thread unless it says otherwise.
class memory_context final : public std::pmr::memory_resource, public cheaply_aligned {
public:
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  memory_context(computation& its_origin, executors::executor& executor) noexcept
    : origin(its_origin), where(&executor) {
  }

  /// Counts `bytes` of heap. @throws memory_limit_exceeded, with nothing counted
  void charge(std::size_t bytes);

  void refund(std::size_t bytes) noexcept {
    [[maybe_unused]] const auto before = heap_.fetch_sub(bytes, std::memory_order_relaxed);
    BASAL_ASSERT(before >= bytes, "no more memory is given back than was counted");
  }

  std::size_t heap_bytes() const noexcept {
    return heap_.load(std::memory_order_relaxed);
  }

  /// Heap and stacks. Any thread.
  std::size_t bytes() const noexcept {
    return heap_bytes() + stacks_.load(std::memory_order_relaxed);
  }

  /// The most that bytes() was. Any thread; exact at rest.
  std::size_t most_bytes() const noexcept {
    return most_.load(std::memory_order_relaxed);
  }

  /// A member's stack has grown (or, modulo 2^64, shrunk) by that much.
  void add_stack(std::size_t difference) noexcept {
    BASAL_ASSERT(executors::executor::current() == where, "an executor counts its own stacks");
    stacks_.store(stacks_.load(std::memory_order_relaxed) + difference, std::memory_order_relaxed);
    note_peak();
  }

  /// Sets the limit that charge() checks heap_bytes() against, on behalf of the running member.
  void limit_heap(std::size_t bytes) noexcept {
    heap_limit_.store(bytes, std::memory_order_relaxed);
  }

  computation& origin;
  executors::executor* where;           ///< set before others see the context
  std::unique_ptr<memory_context> next; ///< guarded by the computation

  /// Of the members here, in the order they began. In another line than what their victims read as
  /// they look for an executor.
  alignas(64) member* oldest = nullptr;
  member* youngest = nullptr;
  member* running = nullptr;

  /// Delegates on their way here; counted under a memory limit alone, since the line goes to and
  /// fro with each. Any thread; relaxed: delivering one publishes it, and the executor sleeps or is
  /// busy with the posse until then.
  std::atomic<std::uint32_t> expected{0};

  void note_arrival() noexcept {
    [[maybe_unused]] const auto before = expected.fetch_sub(1, std::memory_order_relaxed);
    BASAL_ASSERT(before > 0, "what arrives at an executor was sent to it");
  }

private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;

  void note_peak() noexcept;

  // Relaxed throughout: counts, which publish nothing.
  std::atomic<std::size_t> heap_{0};
  std::atomic<std::size_t> heap_limit_{unlimited};
  std::atomic<std::size_t> stacks_{0}; ///< written by the executor's thread alone
  std::atomic<std::size_t> most_{0};
};

} // namespace basal::posse::detail
