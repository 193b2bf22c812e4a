#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/detail/cells.hpp>
#include <basal/posse/detail/pace.hpp>
#include <basal/posse/detail/range_place.hpp>
#include <basal/posse/detail/range_site.hpp>
#include <basal/posse/detail/right_continuation.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse::detail {

/// Ticks that the elements which are left will take.
/// @param cost of each; 0: not known
/// @param like ticks that one takes, where `cost` is not known
inline std::uint64_t expected_work(pace::element_cost cost, std::size_t left,
                                   std::uint64_t like) noexcept {
  if (cost != 0)
    return pace::work_of(cost, left);
  constexpr std::uint64_t many = std::uint64_t{1} << 20;
  return std::min(like, many) * std::min<std::uint64_t>(left, many);
}

/// Elements, one at least, of those that are left: as many as a thief does while the other parts
/// are done. Of cheap ones the same number as the others: where loops in a row have the same
/// data, these stay in the caches where they are only if all loops are divided at the same place;
/// a cache line from another CPU takes longer than its elements would.
/// @param cost of each; 0: not known
inline std::size_t part_of(std::size_t left, pace::element_cost cost,
                           right_continuation::division how) noexcept {
  BASAL_ASSERT(how.parts >= 2, "a thief takes one part of two or more");
  constexpr std::size_t lines_of_hand_over = 5; // from one CPU to another before a delegate works
  const auto of_all = (left + how.parts - 1) / how.parts;
  if (pace::work_of(cost, lines_of_hand_over) < how.delay || how.delay == 0)
    return of_all;
  const auto work = pace::work_of(cost, left);
  const auto each = (work - std::min(work, how.delay)) / how.parts;
  return std::clamp<std::uint64_t>(((each << 8) + cost / 2) / cost, 1, of_all);
}

/// Of a range: what its place in the program knows of it, and how it is done where its elements are
/// known to be less than a step should.
///
/// @tparam Place a range_place
template <class Place>
class short_range {
protected:
  /// @param body is not looked at before there is an element
  /// @param each as for range_fork
  short_range(Place& place, void* body, int each) noexcept
    : place_(place), body_(body), each_(each) {
  }

  /// To be called first: there are n elements. Again, it changes nothing.
  void choose_site(std::size_t n) noexcept {
    if (site_ == nullptr)
      site_ = &place_.sites.of(n);
  }

  ~short_range() = default;

  /// All that the place knows of ranges of this one's size.
  range_site& site() const noexcept {
    return *site_;
  }

  /// A call that was known to be short, and whose first few elements took much longer.
  struct jump {
    pace::element_cost cost = 0; ///< as they have shown it; 0: there was none, or they forked
    std::uint64_t begun = 0;     ///< ticks; 0: there was none
  };

  /// How a call is done. Where all elements are known to take less than a step should, at once and
  /// without a node, since nobody could come for a part of them in time; few of these calls are
  /// timed, where that takes a part of them.
  enum class way : std::uint8_t { at_once, timed, timed_by_chance, in_steps };

  /// Of n elements, one at least. Passes a safepoint, if it is not in steps.
  static way choose_way(member& m, const range_site& site, std::size_t n, int each = 0) {
    const auto known = site.cost(each);
    if (!range_site::is_done_at_once(known, n))
      return way::in_steps;
    m.poll_lightly();
    const bool by_chance = m.cells_->one_in_eight();
    if (site.is_timed(pace::work_of(known, n), by_chance)) [[unlikely]]
      return by_chance ? way::timed_by_chance : way::timed;
    return way::at_once;
  }

  /// For way::at_once.
  /// @param call the body, for all elements: as a function, so that the compiler knows which one
  template <class Call>
  [[gnu::always_inline]] static inline auto run_at_once(Place& place, member& m, Call call) {
    const auto forked = m.safepoints();
    const auto reached = call();
    if (m.safepoints() != forked) [[unlikely]]
      place.sites.note_forks();
    return reached;
  }

  /// For way::timed and timed_by_chance: does the elements, or, before a jump, the first few.
  /// @param found set where there was a jump
  /// @param least of the first few, at least
  /// @returns the first that is not done
  std::size_t run_timed(member& m, std::size_t first, std::size_t last, way how, jump& found,
                        std::size_t least);

  /// The pace of the others, from `first` on.
  /// @param least as for pace
  pace begin(const member& m, std::size_t first, std::size_t last, const jump& found,
             std::size_t least = 1) const;

  /// To be called after all others.
  void end(const member& m, const jump& found) const noexcept;

  Place& place_;
  void* const body_;
  const int each_;

private:
  range_site* site_ = nullptr;
};

} // namespace basal::posse::detail
