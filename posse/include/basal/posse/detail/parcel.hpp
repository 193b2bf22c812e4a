#pragma once

#include <atomic>
#include <cstdint>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/inbox.hpp>

namespace basal::posse::detail {

class delegation;

/// Decides who comes first to a delegation that was sent: the executor that it was sent to, or its
/// victim, which has come to the merge and would only wait. Goes sent -> begun, or sent ->
/// taken_back.
///
/// `Atomic` is a template parameter so that tests can run the same code under a
/// controlled scheduler.
template <template <class> class Atomic = std::atomic>
class basic_dispatch {
public:
  /// The executor that it was sent to, once.
  /// @returns false when it was taken back. Acquire, for that case: the victim touches
  ///          the object no more, which is the caller's to destroy.
  bool begin() noexcept {
    auto expected = sent;
    const bool begins = state_.compare_exchange_strong(expected, begun, std::memory_order_acquire,
                                                       std::memory_order_acquire);
    BASAL_ASSERT(begins || expected == taken_back, "a parcel is received once");
    return begins;
  }

  /// The victim, until it has succeeded.
  /// @returns whether that came first. Release: what the victim has done with the object
  ///          until now. If not, the executor has begun, and its end publishes the rest.
  bool take_back() noexcept {
    auto expected = sent;
    const bool takes = state_.compare_exchange_strong(
      expected, taken_back, std::memory_order_release, std::memory_order_relaxed);
    BASAL_ASSERT(takes || expected == begun, "a victim takes a parcel back once");
    return takes;
  }

  /// Any thread that may use the object. Relaxed: for people to read.
  bool has_begun() const noexcept {
    return state_.load(std::memory_order_relaxed) == begun;
  }

private:
  static constexpr std::uint32_t sent = 0;
  static constexpr std::uint32_t begun = 1;
  static constexpr std::uint32_t taken_back = 2;

  Atomic<std::uint32_t> state_{sent};
};

/// A delegation on its way. The delegation owns it, unless the victim takes that back:
/// then the executor does that the parcel was sent to, and finds it empty, maybe when
/// the computation is long gone.
struct parcel {
  explicit parcel(delegation& d) noexcept : contents(&d) {
  }

  delegation* const contents; ///< not to be used before dispatch.begin()
  basic_dispatch<> dispatch;
  executors::inbox_node node; ///< for the delegate's executor
};

} // namespace basal::posse::detail
