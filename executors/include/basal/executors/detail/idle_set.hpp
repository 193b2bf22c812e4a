#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <basal/executors/detail/assert.hpp>

namespace basal::executors {

/// Which executors of a pool sleep, how many are searching for work, and how many are coming: woken
/// to search, from a sleep in the kernel, of which it takes them 50 us and more to come out. All
/// members may be called from any thread; lock-free; allocates in the
/// constructor only.
///
/// A set bit means: this executor is about to sleep or asleep, and nobody has
/// undertaken to wake it. Whoever clears the bit owes the executor exactly one
/// wake-up token (parker::unpark), unless it is the executor itself, in
/// `leave`. That makes the number of parked executors equal to the number of
/// set bits, with no second counter that could disagree.
///
/// Why seq_cst: an executor sets its bit and then looks at every queue once
/// more; a producer fills a queue and then looks at the bits. If both looks
/// could miss, the item would wait beside a sleeping executor. With all four
/// operations in the one total order of seq_cst, at least one look sees the
/// other side's write.
///
/// Source: the idle state of Volt and of Tokio (`idle.rs`). Deviations: the
/// parked bits span any number of words; `num_parked` is derived; the wake-up
/// reason travels with the token instead of being guessed from the bit, which
/// in Volt corrupted both counters when a claim met a time-out.
template <template <class> class Atomic = std::atomic>
class basic_idle_set {
public:
  explicit basic_idle_set(std::size_t executors)
    : executors_(executors), words_(std::make_unique<Atomic<std::uint64_t>[]>(word_count())) {
    BASAL_ASSERT(executors > 0, "a pool has executors");
    for (std::size_t i = 0; i < word_count(); ++i)
      words_[i].store(0, std::memory_order_relaxed); // before publication
  }

  // -- the executor's side ----------------------------------------------------

  /// Publishes that executor `index` goes to sleep. The caller must then look
  /// at every source of work again before it really does.
  void enter(std::size_t index) noexcept {
    [[maybe_unused]] auto before
      = word_of(index).fetch_or(mask_of(index), std::memory_order_seq_cst);
    BASAL_ASSERT((before & mask_of(index)) == 0, "an executor goes to sleep once");
  }

  /// Takes executor `index` out of the set again.
  /// @returns false when somebody claimed it first: a token is on its way, and
  ///          the executor must consume it.
  bool leave(std::size_t index) noexcept {
    return clear(index);
  }

  /// Registers the caller as searching. Refused when half of the executors
  /// search already; the check may overshoot by those who check at once.
  bool start_searching() noexcept {
    if (2 * num_searching() >= executors_)
      return false;
    searchers_.fetch_add(one_searches, std::memory_order_seq_cst);
    return true;
  }

  /// Registers the caller as searching, however many do: for one who comes out
  /// of the set (see basic_sleepers).
  void resume_searching() noexcept {
    searchers_.fetch_add(one_searches, std::memory_order_seq_cst);
  }

  /// The caller was coming, and is here: it searches.
  void arrive() noexcept {
    [[maybe_unused]] auto before
      = searchers_.fetch_add(one_searches - one_comes, std::memory_order_seq_cst);
    BASAL_ASSERT(coming(before) > 0, "an executor arrives that counted as coming");
  }

  /// Ends the caller's search.
  /// @returns true when it was the last searcher: if there is work left, it
  ///          must wake another executor, because producers that saw a searcher
  ///          woke nobody.
  bool stop_searching() noexcept {
    auto before = searchers_.fetch_sub(one_searches, std::memory_order_seq_cst);
    BASAL_ASSERT(searching(before) > 0, "a search that ends has begun");
    return searching(before) == 1;
  }

  // -- the producer's side ----------------------------------------------------

  /// An executor that was claimed to search.
  struct claimed_searcher {
    std::size_t index;
    bool comes; ///< it sleeps in the kernel, and counts as coming; else as searching
  };

  /// For a producer that has just filled a queue. Unless somebody is searching already, claims an
  /// executor with `is_awake(index)`; if there is none, and nobody is coming, any other one.
  template <class Awake>
  std::optional<claimed_searcher> claim_searcher(Awake is_awake) noexcept {
    const auto searchers = searchers_.load(std::memory_order_seq_cst);
    if (searching(searchers) != 0)
      return std::nullopt;
    if (auto index = claim_first(is_awake)) {
      searchers_.fetch_add(one_searches, std::memory_order_seq_cst);
      return claimed_searcher{*index, false};
    }
    if (coming(searchers) != 0)
      return std::nullopt;
    auto index = claim_any();
    if (!index)
      return std::nullopt;
    searchers_.fetch_add(one_comes, std::memory_order_seq_cst);
    return claimed_searcher{*index, true};
  }

  /// A claimed executor will never come: the caller owes the look that it would have had.
  void give_up(const claimed_searcher& claimed) noexcept {
    searchers_.fetch_sub(claimed.comes ? one_comes : one_searches, std::memory_order_seq_cst);
  }

  /// Claims any sleeping executor, if possible one with `preferred(index)`; lowest index first.
  template <class Preferred>
  std::optional<std::size_t> claim_any(Preferred preferred) noexcept {
    auto any = claim_first(preferred);
    return any ? any : claim_any();
  }

  std::optional<std::size_t> claim_any() noexcept {
    return claim_first([](std::size_t) { return true; });
  }

  /// Claims executor `index` if it sleeps.
  bool claim(std::size_t index) noexcept {
    return is_parked(index) && clear(index);
  }

  // -- observers: snapshots ---------------------------------------------------

  bool any_parked() const noexcept {
    for (std::size_t w = 0; w < word_count(); ++w)
      if (words_[w].load(std::memory_order_seq_cst) != 0)
        return true;
    return false;
  }

  bool is_parked(std::size_t index) const noexcept {
    return (word_of(index).load(std::memory_order_seq_cst) & mask_of(index)) != 0;
  }

  /// The next executor behind `index`, round about, that is not in the set; `index` if none is.
  std::size_t next_awake(std::size_t index) const noexcept {
    auto next = index;
    do
      next = next + 1 < executors_ ? next + 1 : 0;
    while (next != index && is_parked(next));
    return next;
  }

  std::size_t num_parked() const noexcept {
    std::size_t result = 0;
    for (std::size_t w = 0; w < word_count(); ++w)
      result += static_cast<std::size_t>(std::popcount(words_[w].load(std::memory_order_seq_cst)));
    return result;
  }

  std::size_t num_searching() const noexcept {
    return searching(searchers_.load(std::memory_order_seq_cst));
  }

  /// Whether somebody searches or is coming to.
  bool any_searcher() const noexcept {
    return searchers_.load(std::memory_order_seq_cst) != 0;
  }

  std::size_t num_coming() const noexcept {
    return coming(searchers_.load(std::memory_order_seq_cst));
  }

private:
  std::size_t word_count() const noexcept {
    return (executors_ + 63) / 64;
  }

  Atomic<std::uint64_t>& word_of(std::size_t index) const noexcept {
    BASAL_ASSERT(index < executors_, "an executor's index is below the pool's size");
    return words_[index / 64];
  }

  static std::uint64_t mask_of(std::size_t index) noexcept {
    return std::uint64_t{1} << (index % 64);
  }

  template <class Wanted>
  std::optional<std::size_t> claim_first(Wanted wanted) noexcept {
    for (std::size_t w = 0; w < word_count(); ++w)
      for (auto bits = words_[w].load(std::memory_order_seq_cst); bits != 0; bits &= bits - 1) {
        auto index = w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
        if (wanted(index) && clear(index))
          return index;
      }
    return std::nullopt;
  }

  /// One fetch-and decides who cleared the bit; testing first and clearing
  /// later would let two parties believe so.
  bool clear(std::size_t index) noexcept {
    auto before = word_of(index).fetch_and(~mask_of(index), std::memory_order_seq_cst);
    return (before & mask_of(index)) != 0;
  }

  const std::size_t executors_;

  static constexpr std::uint64_t one_searches = 1;
  static constexpr std::uint64_t one_comes = std::uint64_t{1} << 32;

  static constexpr std::size_t searching(std::uint64_t searchers) noexcept {
    return searchers & (one_comes - 1);
  }

  static constexpr std::size_t coming(std::uint64_t searchers) noexcept {
    return searchers >> 32;
  }

  /// Executors that look through other queues, or were woken to do so while they were awake; above
  /// them those that are coming. One word, so that who arrives is always counted.
  alignas(64) Atomic<std::uint64_t> searchers_{0};

  alignas(64) std::unique_ptr<Atomic<std::uint64_t>[]> words_;
};

using idle_set = basic_idle_set<>;

} // namespace basal::executors
