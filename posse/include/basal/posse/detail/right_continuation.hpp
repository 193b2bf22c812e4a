#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/fwd.hpp>

namespace basal::posse {

/// The right branch of a fork while the left one runs: a node in the forking
/// frame, linked to the next older node of the same member.
///
/// All nodes of a member are read and written by the thread that runs the
/// member, and by nobody else: the victim's own executor looks for what can be
/// stolen and hands it over. So nothing here is atomic.
///
/// A fork writes `link_` and `ops_` and nothing else; the other fields get
/// their values when a survey or an allocation first meets the node. Sources:
/// heartbeat scheduling (Acar et al., PLDI 2018) for linking frames instead of
/// queueing tasks; Hemlock's "quantum generation" word per frame for the stamp.
class right_continuation {
public:
  enum class state : std::uintptr_t {
    fresh = 0,   ///< no survey has seen it since the fork
    stamped = 1, ///< `stamp` tells when it was first seen
    taken = 2,   ///< a delegate runs it, and the merge waits for `delegation`
  };

  /// How something is divided, of which a thief takes the last part.
  struct division {
    std::uint64_t parts = 2;
    std::uint64_t delay = 0; ///< ticks that the thief's part costs beside its work
  };

  /// Memory of the computations whose first fork is of one kind. Relaxed, as hints each of which is
  /// complete in itself; 0: there was none yet.
  struct past {
    std::atomic<std::uint64_t> stretch{0}; ///< ticks from a safepoint to the next, on average
    std::atomic<std::uint64_t> work{0};    ///< ticks of all executors together
    std::atomic<std::uint32_t> vain{0};    ///< computation::vain_thefts() at the end
  };

  /// Functions of a kind of node.
  struct operations {
    /// Makes the delegation that runs the right branch of `self`, or, of what can
    /// be divided, its part by `how`; null when there is no memory for it.
    detail::delegation* (*delegate)(right_continuation& self, detail::computation& origin,
                                    division how) noexcept;

    /// How many ticks all that `self` stands for will take, where its member's branch
    /// of the moment is to take `like` more; 0: not known. Null: as long as that.
    std::uint64_t (*expected)(const right_continuation& self, std::uint64_t like) noexcept;

    /// Whether it is known that all is done sooner by its member alone. Null: it is not.
    bool (*is_better_alone)(const right_continuation& self) noexcept = nullptr;

    /// Null: nothing is remembered.
    past* known = nullptr;
  };

  right_continuation(right_continuation* older, const operations& ops) noexcept
    : link_(reinterpret_cast<std::uintptr_t>(older)), ops_(&ops) {
    // A pointer's low bits are zero: fresh. The rest stays unset on purpose.
  }

  right_continuation(const right_continuation&) = delete;
  right_continuation& operator=(const right_continuation&) = delete;

  right_continuation* older() const noexcept {
    return reinterpret_cast<right_continuation*>(link_ & ~all_marks);
  }

  state current_state() const noexcept {
    return static_cast<state>(link_ & state_mask);
  }

  /// Nobody has written to it since the fork: then its link is a plain pointer.
  bool is_untouched() const noexcept {
    return (link_ & all_marks) == 0;
  }

  right_continuation* older_of_untouched() const noexcept {
    BASAL_ASSERT(is_untouched(), "the link of a continuation that was seen has marks");
    return reinterpret_cast<right_continuation*>(link_);
  }

  bool is_taken() const noexcept {
    return (link_ & static_cast<std::uintptr_t>(state::taken)) != 0;
  }

  /// `heap_before` is valid.
  bool is_weighed() const noexcept {
    return (link_ & weighed) != 0;
  }

  void weigh(std::size_t heap_bytes) noexcept {
    BASAL_ASSERT(!is_weighed() && !is_taken(), "a continuation is weighed once, before its theft");
    heap_before = heap_bytes;
    link_ |= weighed;
  }

  void mark_stamped(std::uint32_t when) noexcept {
    BASAL_ASSERT(current_state() == state::fresh, "a continuation is stamped once");
    stamp = when;
    link_ |= static_cast<std::uintptr_t>(state::stamped);
  }

  /// @returns null when there is no memory for it.
  std::unique_ptr<detail::delegation> make_delegation(detail::computation& origin,
                                                      division how) noexcept {
    return std::unique_ptr<detail::delegation>{ops_->delegate(*this, origin, how)};
  }

  /// Ticks that all that it stands for will take, if what its member does meanwhile takes `like`,
  /// or, with 0, where nothing is known of that; 0: not known.
  std::uint64_t expected(std::uint64_t like = 0) const noexcept {
    return ops_->expected != nullptr ? ops_->expected(*this, like) : like;
  }

  past* known() const noexcept {
    return ops_->known;
  }

  /// Whether a theft would gain nothing, however much work there is.
  bool is_better_alone() const noexcept {
    return ops_->is_better_alone != nullptr && ops_->is_better_alone(*this);
  }

  /// From now on the frame that owns the node owns `d`.
  void mark_taken(detail::delegation* d) noexcept {
    BASAL_ASSERT(current_state() == state::stamped,
                 "a survey comes before the theft, which is one");
    BASAL_ASSERT(d != nullptr, "a continuation is taken with its delegation");
    delegation = d;
    // A dump reads both in a signal handler on this thread; before, there is heap_before.
    std::atomic_signal_fence(std::memory_order_release);
    link_ = (link_ & ~all_marks) | static_cast<std::uintptr_t>(state::taken);
  }

private:
  static constexpr std::uintptr_t state_mask = 3;
  static constexpr std::uintptr_t weighed = 4;
  static constexpr std::uintptr_t all_marks = 7;

  std::uintptr_t link_; ///< the older node, with the marks in its low bits
  const operations* ops_;

public:
  // -- unset in a fresh node --------------------------------------------------

  /// The next younger node as of the member's last survey; stale after it.
  right_continuation* younger;

  union {
    /// Valid in a taken node. Owned by the fork's frame.
    detail::delegation* delegation;

    /// Valid in a weighed one that is not taken: bytes that the computation's heap
    /// on this executor held at the fork.
    std::size_t heap_before;
  };

  /// When the node was first seen, see member::survey().
  std::uint32_t stamp;
};

static_assert(alignof(right_continuation) >= 8, "three marks in the link");

} // namespace basal::posse
