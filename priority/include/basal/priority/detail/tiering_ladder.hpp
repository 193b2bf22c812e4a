#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <basal/executors/detail/assert.hpp>

namespace basal::priority {

/// State of the compilation of one item to one tier.
///
///     not_started <-> compiling -> ready, failed or superseded
///
/// It goes back to not_started only when the task that would compile it was
/// not run. The last three are final.
enum class compile_state : std::uint8_t {
  not_started,
  compiling,  ///< submitted, or being compiled
  ready,      ///< there is code
  failed,     ///< the compiler threw; it is not asked again
  superseded, ///< a higher tier was ready before it began
};

} // namespace basal::priority

namespace basal::priority::detail {

/// How often an item was executed, and which code there is for it: the part of tiering that threads
/// share. Tiers are numbered from 1; 0 is what the item starts with, and needs no code. Any thread;
/// wait-free, except for publish().
///
/// The thread that claims a tier compiles it, alone, and then calls exactly one of publish(), end()
/// and give_back(). Code is written before publish() and read after best().
///
/// `Atomic` is a template parameter so that tests can run the same code under a
/// controlled scheduler.
template <template <class> class Atomic = std::atomic>
class basic_tiering_ladder {
public:
  static constexpr std::size_t most_tiers = 8;

  explicit basic_tiering_ladder(std::size_t tiers) noexcept : tiers_(tiers) {
    BASAL_ASSERT(tiers >= 1 && tiers <= most_tiers, "a ladder has 1 to most_tiers tiers");
  }

  std::size_t tiers() const noexcept {
    return tiers_;
  }

  /// Counts an execution. @returns how many there were, this one included
  std::uint64_t count() noexcept {
    // Relaxed: it only says when to compile; the claim decides who does.
    return executions_.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  std::uint64_t executions() const noexcept {
    return executions_.load(std::memory_order_relaxed);
  }

  /// Whether nothing will be compiled any more, so that counting is of no use.
  /// May lag behind.
  bool settled() const noexcept {
    return settled_.load(std::memory_order_relaxed) != 0;
  }

  /// The highest tier that is ready. Acquire: pairs with publish(), so the code
  /// of this tier may be read.
  std::size_t best() const noexcept {
    return best_.load(std::memory_order_acquire);
  }

  compile_state state(std::size_t tier) const noexcept {
    BASAL_ASSERT(tier >= 1 && tier <= tiers_, "tiers are numbered from 1 to how many there are");
    return static_cast<compile_state>(states_[tier - 1].load(std::memory_order_acquire));
  }

  /// not_started -> compiling. @returns false when somebody else was first.
  bool claim(std::size_t tier) noexcept {
    BASAL_ASSERT(tier >= 1 && tier <= tiers_, "tiers are numbered from 1 to how many there are");
    auto expected = word(compile_state::not_started);
    // Acquire: pairs with give_back(), for what the previous claimant wrote.
    return states_[tier - 1].compare_exchange_strong(expected, word(compile_state::compiling),
                                                     std::memory_order_acq_rel,
                                                     std::memory_order_relaxed);
  }

  /// compiling -> not_started: the claim is void, somebody may claim again.
  void give_back(std::size_t tier) noexcept {
    BASAL_ASSERT(tier >= 1 && tier <= tiers_, "tiers are numbered from 1 to how many there are");
    states_[tier - 1].store(word(compile_state::not_started), std::memory_order_release);
  }

  /// compiling -> ready. The code was written before.
  void publish(std::size_t tier) noexcept {
    BASAL_ASSERT(tier >= 1 && tier <= tiers_, "tiers are numbered from 1 to how many there are");
    // Tiers may become ready in any order; best_ only rises. Seq_cst: see
    // settle(); it also releases the code.
    auto seen = best_.load(std::memory_order_relaxed);
    while (seen < tier
           && !best_.compare_exchange_weak(seen, tier, std::memory_order_seq_cst,
                                           std::memory_order_relaxed)) {
    }
    end(tier, compile_state::ready);
  }

  /// compiling -> `how`, one of the final states.
  void end(std::size_t tier, compile_state how) noexcept {
    BASAL_ASSERT(tier >= 1 && tier <= tiers_, "tiers are numbered from 1 to how many there are");
    BASAL_ASSERT(how != compile_state::not_started && how != compile_state::compiling,
                 "a compilation ends in a final state");
    states_[tier - 1].store(word(how), std::memory_order_seq_cst);
    settle();
  }

private:
  static constexpr std::uint32_t word(compile_state s) noexcept {
    return static_cast<std::uint32_t>(s);
  }

  /// Settled is who has no open tier above the best one. Of several tiers that
  /// end at the same time the last must notice: each first writes its own state
  /// and then reads the others', all in seq_cst, so that two cannot miss each
  /// other.
  void settle() noexcept {
    for (auto tier = best_.load(std::memory_order_seq_cst) + 1; tier <= tiers_; ++tier) {
      const auto s = states_[tier - 1].load(std::memory_order_seq_cst);
      if (s == word(compile_state::not_started) || s == word(compile_state::compiling))
        return;
    }
    settled_.store(1, std::memory_order_relaxed);
  }

  const std::size_t tiers_;
  Atomic<std::uint64_t> executions_{0};
  // Read by every execution, written a few times: not in the line of the counter.
  alignas(64) Atomic<std::size_t> best_{0};
  Atomic<std::uint32_t> settled_{0};
  std::array<Atomic<std::uint32_t>, most_tiers> states_{};
};

} // namespace basal::priority::detail
