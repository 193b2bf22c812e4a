#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/tick_clock.hpp>

namespace basal::posse {

/// How many elements of a range to do between two safepoints: one at first,
/// and more while they turn out to be cheap, so that neither a range of a
/// million additions pays for its safepoints nor one of ten simulations is kept
/// from being shared. This is what makes a grain size unnecessary.
///
/// The first elements are not timed: most ranges are short. From then on steps grow while one takes
/// less than a quarter of the target, about 1 us, and shrink when they take more than twice that.
/// While they stay the same, looks grow rare, and the time alone is read halfway to the next one.
/// The cost of an element is known from then on as well; where it was known before, from calls at
/// the same place (range_site), steps begin as long as the cost allows.
///
/// One per member and range; not thread-safe.
class pace {
public:
  /// Cost of an element, in 1/256 ticks of tick_clock; 0: not known.
  using element_cost = std::uint32_t;

  static constexpr element_cost most_costly = 0xffff'fffe;

  /// No step is longer, since the next element may be the expensive one. A step's end costs 30 to
  /// 200 ns: with 2048, loops of 0.1 ns an element took up to a tenth longer.
  static constexpr std::size_t longest_step = 8192;

  /// So many that steps are as long as they may be, whatever an element costs.
  static constexpr std::size_t many = std::size_t{1} << 31;

  /// Elements that are done one by one before the first look at the clock.
  static constexpr std::size_t untimed = 16;

  /// @param first the element to begin with
  /// @param least no step has fewer elements, unless these take longer than `longest_least`: for a
  ///              body to which few at a time may be dearer, as columns of a matrix are
  explicit pace(std::size_t first, std::size_t before_look = untimed,
                std::size_t least = 1) noexcept
    : next_look_(first + before_look), looked_at_(first), least_step_(least) {
  }

  /// @param cost    expected cost of an element
  /// @param longest no step is longer: the cost may have changed since
  /// @param left    elements of the range from `first` on
  /// @param least   as above
  pace(std::size_t first, std::size_t longest, element_cost cost, std::size_t left,
       std::size_t least = 1) noexcept
    : step_(std::clamp<std::size_t>(std::max(step_of(cost, aim(cost, left)), least_of(least, cost)),
                                    1, std::max<std::size_t>(1, longest))),
      next_look_(first + step_),
      looked_at_(first),
      least_step_(least),
      cost_(cost),
      measured_(cost) {
  }

  /// The first elements are timed as well, from `now` on, in ticks of tick_clock.
  void time_from(std::uint64_t now) noexcept {
    last_look_ = now;
    looks_ = 1;
  }

  /// The smaller of the last two measurements, so that one in which others had a time
  /// slice does not count; at first, what was known before.
  element_cost cost() const noexcept {
    return cost_;
  }

  /// The last measurement.
  element_cost measured() const noexcept {
    return measured_;
  }

  /// Whether what the last look has measured is worth telling others, whose cache lines that costs:
  /// at first each time, then less and less often. The first look measures nothing.
  bool is_news() const noexcept {
    return looks_ > 1 && std::has_single_bit(looks_);
  }

  /// How many steps there were since the last look, at most, if the next one begins with `next`:
  /// long ones may be shorter, by less than a line each.
  std::size_t steps_before(std::size_t next) const noexcept {
    return (next - looked_at_) / (step_ < aligned ? step_ : step_ - line + 1);
  }

  /// Elements until the next safepoint.
  std::size_t step() const noexcept {
    return step_;
  }

  /// Whether it is time to call look(): to be asked after each step. Also when steps have become
  /// slow, where the next look is some of them away. Halfway there alone: the clock is read when
  /// all that comes before is done, which keeps the processor from beginning with the next step.
  /// @param next the first element that is not done
  /// @param now  returns the time, in ticks of tick_clock; not called where it makes no difference
  template <class Clock>
  [[gnu::always_inline]] inline bool is_look_due(std::size_t next, Clock now) const noexcept {
    return next >= next_look_ || (next - halfway_ < step_ && now() >= look_by_);
  }

  /// The pace from here on, after a look at the clock. By value, so that the
  /// compiler may keep a pace in registers.
  [[nodiscard, gnu::noinline]] pace look(std::size_t next) const noexcept {
    return look(next, executors::tick_clock::now());
  }

  /// The same at a time that the caller knows, in ticks of tick_clock.
  /// @param left elements of the range from `next` on, for longer steps where there are many
  [[nodiscard]] pace look(std::size_t next, std::uint64_t now,
                          std::size_t left = 0) const noexcept {
    BASAL_ASSERT(next >= looked_at_, "a range is gone through forwards");
    pace result{*this};
    if (last_look_ != 0) {
      const auto elements = std::max<std::size_t>(1, next - looked_at_);
      auto took = (now - last_look_) * step_ / elements;
      result.measured_ = cost_of(now - last_look_, elements);
      result.cost_ = measured_ != 0 ? std::min(measured_, result.measured_) : result.measured_;
      const auto wanted = aim(result.cost_, left);
      if (took < wanted / 4)
        result.step_ = std::min(longest_step, step_ * growth);
      else if (took > wanted * 2)
        result.step_ = std::max<std::size_t>(1, step_ * wanted / took);
      result.step_ = std::max(result.step_, least_of(least_step_, result.cost_));
    }
    result.last_look_ = now;
    ++result.looks_;
    result.looked_at_ = next;
    result.part_looks(result.step_ == step_);
    result.next_look_ = next + result.apart_ * result.step_;
    return result;
  }

  /// There is no look, nor is the clock read, before `next` is reached.
  void put_off_look(std::size_t next) noexcept {
    next_look_ = std::max(next_look_, next);
    halfway_ = nowhere;
  }

  /// Ticks that `elements` of that cost take.
  static constexpr std::uint64_t work_of(element_cost each, std::size_t elements) noexcept {
    return (each * static_cast<std::uint64_t>(elements)) >> 8;
  }

  /// Its inverse: the cost of each of `elements`, one at least, that took so many ticks together.
  static constexpr element_cost cost_of(std::uint64_t ticks, std::size_t elements) noexcept {
    return static_cast<element_cost>(
      std::clamp<std::uint64_t>((ticks << 8) / elements, 1, most_costly));
  }

  /// Elements of a step, at least, by what it would take: see `longest_least`.
  static constexpr std::size_t least_of(std::size_t least, element_cost cost) noexcept {
    if (least <= 1)
      return 1;
    const auto most = (longest_least << 8) / std::max<element_cost>(1, cost);
    return std::clamp<std::size_t>(most, 1, std::min(least, longest_step));
  }

  /// Where about n elements from `first` on end: of many, at a multiple of a cache line's, so that
  /// the next ones are as well aligned as the range is. The vectors of a loop that begins elsewhere
  /// lie across two lines: a triad of 100,000 floats took a seventh longer.
  static constexpr std::size_t end_of(std::size_t first, std::size_t n) noexcept {
    return n < aligned ? first + n : (first + n) / line * line;
  }

  /// The longest step of so many ticks at such a cost; one element where that is not known.
  static constexpr std::size_t step_within(std::uint64_t ticks, element_cost cost) noexcept {
    return cost == 0 ? 1 : std::clamp<std::size_t>((ticks << 8) / cost, 1, longest_step);
  }

  /// Steps between looks, at most. A look takes longer than all else between two steps: with one
  /// after each, regions of 50 us took 12 % longer.
  static constexpr std::size_t looks_apart = 8;

  /// The aim for a step, in ticks: 1-2 us, 1 % of the default quantum.
  static constexpr std::uint64_t target = 4096;

  /// The same where much is left: a thief waits for a step, which is little of what it then gets. A
  /// step's end costs 30 to 200 ns: the processor has nothing of the next element ready, and has
  /// forgotten how an element's branches go.
  static constexpr std::uint64_t longest_target = 8 * target;

  /// Ticks that a step may take for the sake of `least`, some 50 us.
  static constexpr std::uint64_t longest_least = 32 * target;

private:
  static constexpr std::size_t growth = 4;

  /// Elements of four bytes each; of larger ones they are more than a line.
  static constexpr std::size_t line = 16;

  /// So many and more are aligned: a line is little of them.
  static constexpr std::size_t aligned = 16 * line;

  /// Steps, at least, in what is left, where these are longer than the target.
  static constexpr std::uint64_t steps_left = 64;

  static constexpr std::uint64_t aim(element_cost cost, std::size_t left) noexcept {
    return std::clamp(((cost * std::uint64_t{left}) >> 8) / steps_left, target, longest_target);
  }

  /// So far behind all elements that no step reaches it.
  static constexpr auto nowhere = std::numeric_limits<std::size_t>::max() / 2;

  /// Sets the steps until the next look: twice as many as long as they stay the same, and no more
  /// than take `longest_target`.
  void part_looks(bool same) noexcept {
    halfway_ = nowhere;
    const auto before = std::exchange(apart_, 1);
    if (looks_ < 2) // nothing was measured yet
      return;
    const auto most = same ? 2 * before : 1;
    const auto ticks = std::max<std::uint64_t>(1, (std::uint64_t{cost_} * step_) >> 8);
    apart_ = std::clamp<std::size_t>(longest_target / ticks, 1, std::min(most, looks_apart));
    if (apart_ > 1) {
      halfway_ = looked_at_ + (apart_ + 1) / 2 * step_;
      look_by_ = last_look_ + 2 * apart_ * ticks;
    }
  }

  /// Elements in a step of about half of `aim`.
  static constexpr std::size_t step_of(element_cost cost, std::uint64_t aim) noexcept {
    const auto half = aim << 7;
    return cost <= half / longest_step ? longest_step : half / cost;
  }

  std::size_t step_ = 1;
  std::size_t next_look_;
  std::size_t looked_at_;
  std::size_t least_step_ = 1;
  std::size_t apart_ = 1;         ///< steps until the next look
  std::size_t halfway_ = nowhere; ///< to the next look, if that is some steps away
  std::uint64_t look_by_ = 0;     ///< ticks; the time to look there
  element_cost cost_ = 0;
  element_cost measured_ = 0;
  std::uint32_t looks_ = 0;     ///< at the clock
  std::uint64_t last_look_ = 0; ///< tick_clock; 0: not yet
};

} // namespace basal::posse
