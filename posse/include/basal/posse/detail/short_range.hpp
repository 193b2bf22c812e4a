#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/detail/cells.hpp>
#include <basal/posse/detail/pace.hpp>
#include <basal/posse/detail/range_site.hpp>
#include <basal/posse/detail/right_continuation.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse::detail {

/// Of a range whose elements a `Body` does: what its place in the program knows of them, and how it
/// is done where they are known to be less than a step should.
///
/// `Body` is called as `body(member&, first, last)` and does the elements [first, last). It returns
/// nothing, or a std::size_t: `last`, or the element at which all ends early.
template <class Body>
class short_range {
public:
  using result = std::invoke_result_t<Body&, member&, std::size_t, std::size_t>;

  /// Ticks that the elements which are left will take.
  /// @param cost of each; 0: not known
  /// @param like ticks that one takes, where `cost` is not known
  static std::uint64_t expected_work(pace::element_cost cost, std::size_t left,
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
  static std::size_t part_of(std::size_t left, pace::element_cost cost,
                             right_continuation::division how) noexcept {
    BASAL_ASSERT(how.parts >= 2, "a thief takes one part of two or more");
    const auto of_all = (left + how.parts - 1) / how.parts;
    if (pace::work_of(cost, lines_of_hand_over) < how.delay || how.delay == 0)
      return of_all;
    const auto work = pace::work_of(cost, left);
    const auto each = (work - std::min(work, how.delay)) / how.parts;
    return std::clamp<std::uint64_t>(((each << 8) + cost / 2) / cost, 1, of_all);
  }

  /// The elements of one step.
  /// @returns the first that is not done
  static std::size_t step(member& m, Body& body, std::size_t first, std::size_t last) {
    if constexpr (std::is_void_v<result>) {
      call(m, body, first, last);
      return last;
    } else {
      const std::size_t reached = call(m, body, first, last);
      BASAL_ASSERT(first <= reached && reached <= last,
                   "a body returns an element of its part, or the part's end");
      return reached;
    }
  }

  /// Elements pass safepoints of their own.
  static void note_forks() noexcept {
    sites.note_forks();
  }

  /// All that the place knows of ranges of this one's size.
  range_site& site() const noexcept {
    return *site_;
  }

protected:
  /// Whether elements are known to pass safepoints of their own.
  static bool has_forks() noexcept {
    return sites.has_forks();
  }

  /// @param each as for range_fork
  explicit short_range(Body body, int each) noexcept : body_(std::move(body)), each_(each) {
  }

  /// To be called first: there are n elements. Again, it changes nothing.
  void choose_site(std::size_t n) noexcept {
    if (site_ == nullptr)
      site_ = &sites.of(n);
  }

  ~short_range() = default;

  /// A call that was known to be short, and whose first few elements took much longer.
  struct jump {
    pace::element_cost cost = 0; ///< as they have shown it; 0: there was none, or they forked
    std::uint64_t begun = 0;     ///< ticks; 0: there was none
  };

  /// Does the elements, one at least, or, before a jump, the first few of them, if they are known
  /// to take less than a step should: without a node, since nobody could come for a part of them in
  /// time. Few calls are timed that are so short that it takes a part of them.
  /// @param first set to the first that is not done
  /// @param found set where there was a jump
  /// @returns false if there is more to do
  bool run_if_short(member& m, std::size_t& first, std::size_t last, jump& found) {
    const auto known = site().cost(each_);
    if (!range_site::is_done_at_once(known, last - first))
      return false;
    m.poll_lightly();
    const auto forked = m.safepoints();
    const bool by_chance = m.cells_->one_in_eight();
    if (site().is_timed(pace::work_of(known, last - first), by_chance)) [[unlikely]]
      first = run_timed(m, first, last, by_chance, found);
    else
      first = step(m, body_, first, last);
    if (m.safepoints() != forked) [[unlikely]]
      note_forks();
    return found.begun == 0 || first == last;
  }

  /// The pace of the others, from `first` on.
  /// @param least as for pace
  pace begin(const member& m, std::size_t first, std::size_t last, const jump& found,
             std::size_t least = 1) const {
    if (found.cost != 0)
      return range_site::begin_at(found.cost, first, last, m.least_left(), least);
    auto steps = site().begin(first, last, m.least_left(), each_, least);
    // Of two elements only the first one is followed by a look, and would never be timed.
    if (last - first <= fewest_untimed && last - first > 1 && site().cost(each_) == 0
        && !has_forks())
      steps.time_from(m.now());
    return steps;
  }

  /// To be called after all others.
  void end(const member& m, const jump& found) const noexcept {
    if (found.begun != 0) [[unlikely]]
      site().watch(m.now() - found.begun);
  }

  Body body_;
  const int each_;

private:
  /// So many cache lines go from one CPU to another before a delegate works.
  static constexpr std::size_t lines_of_hand_over = 5;

  static inline range_sites sites;

  range_site* site_ = nullptr;

  /// So few elements are timed from the first one on.
  static constexpr std::size_t fewest_untimed = 3;

  /// The first few of a range that is done at once are such a part of it.
  static constexpr std::size_t parts_at_once = 16;

  /// Not inlined: a loop over elements would share the registers with all that happens between
  /// steps, and g++ then moves vectors to and from the stack at each turn (a sixth of a stencil's
  /// time). A call is 1 to 2 ns of a step's 1 us. Nor does it keep `last` to return it, if that is
  /// known: with one register more, a filter took a third less time.
  [[gnu::noinline]] static result call(member& m, Body& body, std::size_t first, std::size_t last) {
    return body(m, first, last);
  }

  /// When all would take eight steps at the pace of the first few, as where a place has cheap calls
  /// and dear ones, no more of them.
  [[gnu::noinline]] std::size_t run_timed(member& m, std::size_t first, std::size_t last,
                                          bool by_chance, jump& found) {
    const auto forked = m.safepoints();
    const auto begun = m.now();
    // Whole cache lines where it can be, so that what follows is as well aligned as the range is.
    constexpr std::size_t line = 16;
    const auto part = (last - first) / parts_at_once;
    const auto few = std::max<std::size_t>(1, part < line ? part : part / line * line);
    auto reached = step(m, body_, first, first + few);
    if (reached == first + few) [[likely]] {
      const auto took = m.now() - begun;
      if (site().is_dear(took, few, last - first)) [[unlikely]] {
        found.begun = begun;
        if (m.safepoints() == forked) // else it is not their cost
          found.cost = pace::cost_of(took, few);
        return reached;
      }
      if (reached != last)
        reached = step(m, body_, reached, last);
    }
    if (by_chance)
      site().note_whole(m.now() - begun, std::max<std::size_t>(1, reached - first), each_);
    return reached;
  }
};

} // namespace basal::posse::detail
