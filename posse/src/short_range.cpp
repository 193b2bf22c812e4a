#include <basal/posse/detail/short_range.hpp>

#include <algorithm>

#include <basal/posse/detail/divisible_range.hpp>
#include <basal/posse/detail/divisible_search.hpp>

namespace basal::posse::detail {

namespace {

/// The first few of a range that is done at once are such a part of it.
constexpr std::size_t parts_at_once = 16;

/// So few elements are timed from the first one on.
constexpr std::size_t fewest_untimed = 3;

} // namespace

/// When all would take eight steps at the pace of the first few, as where a place has cheap calls
/// and dear ones, no more of them.
template <class Place>
std::size_t short_range<Place>::run_timed(member& m, std::size_t first, std::size_t last, way how,
                                          jump& found, std::size_t least) {
  const auto forked = m.safepoints();
  const auto note_forks = [&] {
    if (m.safepoints() != forked)
      place_.sites.note_forks();
  };
  const auto begun = m.now();
  // Whole cache lines where it can be, so that what follows is as well aligned as the range is.
  constexpr std::size_t line = 16;
  const auto part = (last - first) / parts_at_once;
  const auto few
    = std::min(std::max<std::size_t>(least, part < line ? part : part / line * line), last - first);
  auto reached = place_.step(m, body_, first, first + few);
  if (reached == first + few) [[likely]] {
    const auto took = m.now() - begun;
    if (site().is_dear(took, few, last - first)) [[unlikely]] {
      found.begun = begun;
      if (m.safepoints() == forked) // else it is not their cost
        found.cost = pace::cost_of(took, few);
      note_forks();
      return reached;
    }
    if (reached != last)
      reached = place_.step(m, body_, reached, last);
  }
  if (how == way::timed_by_chance)
    site().note_whole(m.now() - begun, std::max<std::size_t>(1, reached - first), each_);
  note_forks();
  return reached;
}

template <class Place>
pace short_range<Place>::begin(const member& m, std::size_t first, std::size_t last,
                               const jump& found, std::size_t least) const {
  if (found.cost != 0)
    return range_site::begin_at(found.cost, first, last, m.least_left(), least);
  auto steps = site().begin(first, last, m.least_left(), each_, least);
  // Of two elements only the first one is followed by a look, and would never be timed.
  if (last - first <= fewest_untimed && last - first > 1 && site().cost(each_) == 0
      && !place_.sites.has_forks())
    steps.time_from(m.now());
  return steps;
}

template <class Place>
void short_range<Place>::end(const member& m, const jump& found) const noexcept {
  if (found.begun != 0)
    site().watch(m.now() - found.begun);
}

template class short_range<fork_place>;
template class short_range<search_place>;

} // namespace basal::posse::detail
