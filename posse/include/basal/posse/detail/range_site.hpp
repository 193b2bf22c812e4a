#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <basal/posse/detail/pace.hpp>
#include <basal/posse/detail/step_trial.hpp>
#include <basal/posse/detail/unevenness.hpp>

namespace basal::posse {

/// Memory of the ranges of one place in the program, from call to call: the cost of an element
/// there. So a cheap loop begins with long steps, and one that is worth it is divided at its first
/// element.
///
/// One for each type of body, so for each function and kind of range, or one for each size of
/// these, see range_sites. Any thread. Bodies that fork
/// are known as such and nothing else is learned of them: the time of an element is then not its
/// cost, and steps must stay short, so that one element's forks are not stolen before the next
/// elements.
class alignas(64) range_site {
public:
  using element_cost = pace::element_cost;

  /// The pace at which to begin the elements [first, last).
  /// @param least_left see member::least_left
  /// @param each       as for cost()
  /// @param least      as for pace
  pace begin(std::size_t first, std::size_t last, std::size_t least_left = 0, int each = 0,
             std::size_t least = 1) const noexcept {
    const auto n = last - first;
    if (cost_.load(std::memory_order_relaxed) == forks) [[unlikely]]
      return pace{first};
    const auto known = cost(each);
    if (known == unknown) [[unlikely]]
      // Before half of them is done: how long so few take is learned only here.
      return pace{first, n / 4 < pace::untimed ? n / 4 : pace::untimed, least};
    return begin_at(known, first, last, least_left, least);
  }

  /// The same where an element is known to cost that much.
  static pace begin_at(element_cost known, std::size_t first, std::size_t last,
                       std::size_t least_left, std::size_t least = 1) noexcept {
    const auto n = last - first;
    const auto longest = std::max(n / parts_untimed, std::min(least, n / 2));
    return pace{first, longest, known, std::max(n, least_left), least};
  }

  /// Cost of 2^each elements, which are one to the range; 0: not known.
  element_cost cost(int each = 0) const noexcept {
    const auto known = cost_.load(std::memory_order_relaxed);
    if (known == forks)
      return unknown;
    return known <= pace::most_costly >> each ? known << each : pace::most_costly;
  }

  /// The same as `steps`, which went through some of the elements, knows it.
  element_cost cost(const pace& steps) const noexcept {
    return cost_.load(std::memory_order_relaxed) == forks ? unknown : steps.cost();
  }

  /// 2^each elements cost that much just now. Others' time slices are measured, too, and
  /// loops may share a site: so what is known changes at most by a factor of two;
  /// and it is written only when it has changed by more than an eighth, because
  /// many threads read it.
  void learn(element_cost measured, int each = 0) noexcept {
    const auto known = cost_.load(std::memory_order_relaxed);
    if (measured == unknown || known == forks)
      return;
    measured = std::max<element_cost>(1, measured >> each);
    if (known != unknown)
      measured = static_cast<element_cost>(std::clamp<std::uint64_t>(
        measured, std::uint64_t{known} - known / 2,
        std::min<std::uint64_t>(2 * std::uint64_t{known}, pace::most_costly)));
    const auto difference = measured > known ? measured - known : known - measured;
    if (difference > known / 8)
      cost_.store(measured, std::memory_order_relaxed);
  }

  /// Nothing is known here, and elements are taken to be like those of `other` until there is.
  void begin_like(const range_site& other) noexcept {
    const auto its = other.cost_.load(std::memory_order_relaxed);
    if (its == unknown)
      return;
    cost_.store(its, std::memory_order_relaxed);
    longer_steps.begin_like(other.longer_steps);
  }

  /// How many elements are to be done at a time, at least.
  detail::step_trial longer_steps;

  /// Whether anything is known of the elements.
  bool is_known() const noexcept {
    return cost_.load(std::memory_order_relaxed) != unknown;
  }

  /// Elements pass safepoints of their own.
  void note_forks() noexcept {
    if (cost_.load(std::memory_order_relaxed) != forks)
      cost_.store(forks, std::memory_order_relaxed);
  }

  /// Whether elements are known to pass safepoints of their own.
  bool has_forks() const noexcept {
    return cost_.load(std::memory_order_relaxed) == forks;
  }

  // -- ranges that were divided ----------------------------------------------------

  /// Two members that were to end at the same time ended so many ticks apart. That is much if it
  /// is more than twice `least`, since half of that work could have been taken, and than a part of
  /// `busy`.
  /// @param busy  ticks of all elements
  /// @param least ticks of work that are worth to be taken
  void note_ends(std::uint64_t apart, std::uint64_t busy, std::uint64_t least) noexcept {
    uneven_.note(apart > std::max(2 * least, busy / 16));
  }

  /// Whether that was much lately, more than once.
  bool is_uneven() const noexcept {
    return uneven_.is_known();
  }

  // -- calls that are known to take less than a step should ------------------------

  /// Whether n elements of that cost are so little work that nobody could come for a part of them
  /// in time.
  static constexpr bool is_done_at_once(element_cost known, std::size_t n) noexcept {
    constexpr std::size_t many = std::size_t{1} << 20;
    return known != unknown && n <= many && pace::work_of(known, n) < pace::target;
  }

  /// Whether such a call is to be timed. Of those that it takes a part of, some by chance, but each
  /// at first, and for a while after one that was much dearer, since others may be like it.
  /// @param work ticks that it is known to take
  bool is_timed(std::uint64_t work, bool by_chance) const noexcept {
    return by_chance || work >= least_timed || watched_.load(std::memory_order_relaxed) != 0;
  }

  /// After the first few of n elements: whether all take eight steps at their pace, so much more
  /// than what is known that it is not that lines were cold. Then what is known is forgotten.
  bool is_dear(std::uint64_t took, std::size_t few, std::size_t n) noexcept {
    if (took * n / few < 8 * pace::target) [[likely]]
      return false;
    forget();
    return true;
  }

  /// At the end of a call that was timed and turned out to be dear: so many others are timed that
  /// it takes about a half of its time, which is what two executors gain where they divide the next
  /// one like it.
  void watch(std::uint64_t took) noexcept {
    const auto turns = static_cast<std::uint32_t>(std::min(took / ticks_a_turn, most_turns));
    auto seen = watched_.load(std::memory_order_relaxed);
    while (seen < turns
           && !watched_.compare_exchange_weak(seen, turns, std::memory_order_relaxed)) {
    }
  }

  /// At the end of one that was timed by chance, for all n elements that it did. Others may have
  /// taken longer than the first few. If it took less than known, that is learned; if more, only of
  /// many elements, since the call itself takes some time, too.
  void note_whole(std::uint64_t took, std::size_t n, int each = 0) noexcept {
    if (took >= 4 * pace::target) [[unlikely]] {
      forget();
      watch(took);
      return;
    }
    constexpr std::size_t many = 64;
    if (const auto measured = pace::cost_of(took, n); n >= many || measured < cost(each))
      learn(measured, each);
    if (auto turns = watched_.load(std::memory_order_relaxed); turns != 0)
      watched_.compare_exchange_weak(turns, turns - 1, std::memory_order_relaxed);
  }

  /// Steps, at least, of a range whose cost is known: where its elements cost more now, no more
  /// than this part of it cannot be stolen.
  static constexpr std::size_t parts_untimed = 4;

private:
  static constexpr element_cost unknown = 0;
  static constexpr element_cost forks = pace::most_costly + 1;

  /// Ticks. The clock is read twice, which takes some 50 ticks: a twentieth of this.
  static constexpr std::uint64_t least_timed = pace::target / 4;

  /// To time eight calls takes some 400 ticks, a half of this.
  static constexpr std::uint64_t ticks_a_turn = 2 * 400;

  static constexpr std::uint64_t most_turns = 1 << 12; // of calls that take 3 ms together, or more

  /// The known cost was wrong by much: the next call learns it anew.
  void forget() noexcept {
    if (cost_.load(std::memory_order_relaxed) != forks)
      cost_.store(unknown, std::memory_order_relaxed);
  }

  // Relaxed: hints, each complete in itself.
  std::atomic<element_cost> cost_{unknown};
  std::atomic<std::uint32_t> watched_{2}; ///< turns of about eight calls
  detail::unevenness uneven_;
};

/// The same of one place for ranges of each size, to a factor of two: what an element costs often
/// has to do with how many there are, as in the levels of a transform, whose rows and columns get
/// shorter and fewer. A size that is new begins like the one next to it that is not. Any thread.
class range_sites {
public:
  static constexpr unsigned classes = 8; ///< sizes that are 256 times as large share one

  /// Which one ranges of n elements have.
  static unsigned class_of(std::size_t n) noexcept {
    return static_cast<unsigned>(std::bit_width(n)) % classes;
  }

  range_site& of(std::size_t n) noexcept {
    const auto at = class_of(n);
    if (!all_[at].is_known()) [[unlikely]]
      begin(at);
    return all_[at];
  }

  /// Elements pass safepoints of their own, whatever the size.
  void note_forks() noexcept {
    if (!has_forks())
      for (auto& site : all_)
        site.note_forks();
  }

  bool has_forks() const noexcept {
    return all_.front().has_forks();
  }

private:
  [[gnu::noinline, gnu::cold]] void begin(unsigned at) noexcept {
    for (unsigned apart = 1; apart <= classes / 2 && !all_[at].is_known(); ++apart) {
      all_[at].begin_like(all_[(at + classes - apart) % classes]);
      if (!all_[at].is_known())
        all_[at].begin_like(all_[(at + apart) % classes]);
    }
  }

  std::array<range_site, classes> all_;
};

} // namespace basal::posse
