#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <basal/posse/detail/claimers.hpp>
#include <basal/posse/detail/pace.hpp>
#include <basal/posse/detail/range_place.hpp>
#include <basal/posse/detail/short_range.hpp>
#include <basal/posse/fwd.hpp>

namespace basal::posse::detail {

/// One for each type of body of a range_search.
struct search_place : range_place<std::size_t> {
  /// Elements, up to the end, of the searches here, on average; 0: there was none. Relaxed: a hint.
  std::atomic<std::size_t> usual{0};
};

extern template class short_range<search_place>;

/// A range_search without the type of its body, see there.
///
/// Protocol: `next_`, at which the elements begin that nobody has claimed, is only increased, by
/// who claims: a hint to others, as in `claimers`.
class divisible_search : private short_range<search_place>, private claimers {
public:
  /// One through the elements [first, last), one at least.
  /// @param body outlives the call
  /// @param call for the elements from `first` to before another: see short_range::run_at_once
  template <class Call>
  [[gnu::always_inline]] static inline std::size_t
  run(search_place& place, void* body, member& m, std::size_t first, std::size_t last, Call call) {
    auto& site = place.sites.of(last - first);
    // It probably ends before that.
    const auto usual = place.usual.load(std::memory_order_relaxed);
    const auto few = usual == 0 || (last - first) / 2 <= usual ? last : first + 2 * usual;
    const auto how = choose_way(m, site, few - first);
    auto reached = first;
    if (how == way::at_once) {
      reached = run_at_once(place, m, [&] { return call(few); });
      if (reached != few || few == last) {
        note_end(place, reached - first + 1);
        return reached;
      }
    }
    return go_on(place, body, m, first, reached, few, last, how);
  }

private:
  /// Begins nothing yet.
  /// @param body outlives this
  divisible_search(search_place& place, void* body) noexcept : short_range(place, body, 0) {
  }

  divisible_search(const divisible_search&) = delete;
  divisible_search& operator=(const divisible_search&) = delete;

  class claimer;
  struct help;
  class rest;

  std::size_t search(member& m, std::size_t begin, std::size_t first, std::size_t last,
                     const jump& found);
  void learn(pace::element_cost measured) const noexcept;

  /// All that is not done at once. In the library, so that a loop has no room for the object.
  static std::size_t go_on(search_place& place, void* body, member& m, std::size_t first,
                           std::size_t reached, std::size_t few, std::size_t last, way how);
  std::size_t go_on(member& m, std::size_t first, std::size_t reached, std::size_t few,
                    std::size_t last, way how);

  /// So many were looked at in the end.
  static void note_end(search_place& place, std::size_t n) noexcept {
    const auto before = place.usual.load(std::memory_order_relaxed);
    const auto mean = before == 0 ? n : before - before / 4 + n / 4 + 1;
    const auto difference = mean > before ? mean - before : before - mean;
    if (difference > before / 64) // not for each, since many threads read it
      place.usual.store(mean, std::memory_order_relaxed);
  }

  std::size_t left() const noexcept;
  std::size_t expected_left() const noexcept;
  void claim_parts(member& m, void* body, claimer& mine, pace steps, std::size_t position);
  void do_part(member& m, void* body, const claimer& mine, rest* node, pace& steps,
               std::size_t& position);
  void offer(member& m, const rest& node) noexcept;
  pace look(member& m, rest& node, std::size_t position, pace steps);
  void merge(member& m, rest& node);

  alignas(64) std::atomic<std::size_t> next_{0};
  std::size_t begin_ = 0;
  std::size_t part_ = 1; ///< elements that are claimed at a time, at least
};

} // namespace basal::posse::detail
