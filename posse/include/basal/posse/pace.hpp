#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <basal/executors/tick_clock.hpp>

namespace basal::posse {

/// How many elements of a range to do between two safepoints: one at first,
/// and more while they turn out to be cheap, so that neither a range of a
/// million additions pays for its safepoints nor one of ten simulations is kept
/// from being shared. This is what makes a grain size unnecessary.
///
/// The first steps read no clock: most ranges are short. From then on steps
/// grow while one takes less than a quarter of the target, about 1 us, and
/// shrink at once when one takes more than twice that.
///
/// One per member and range; not thread-safe.
class pace {
public:
  /// No step is longer, since the next element may be the expensive one.
  static constexpr std::size_t longest_step = 512;

  /// Elements until the next safepoint.
  std::size_t step() const noexcept {
    return step_;
  }

  /// Call after each step.
  [[gnu::always_inline]] inline void step_done() noexcept {
    if (--steps_until_look_ == 0) [[unlikely]]
      look();
  }

private:
  /// Steps of one element that come before the first look at the clock.
  static constexpr std::uint32_t untimed_steps = 16;

  /// Steps between looks at the clock (10-20 ns) when steps are longest.
  static constexpr std::uint32_t looks_apart = 8;

  /// A step should take so many ticks: 1-2 us, 1 % of the default quantum.
  static constexpr std::uint64_t target = 4096;

  static constexpr std::size_t growth = 4;

  [[gnu::noinline]] void look() noexcept {
    auto now = executors::tick_clock::now();
    if (last_look_ != 0) {
      auto took = (now - last_look_) / steps_timed_;
      if (took < target / 4)
        step_ = std::min(longest_step, step_ * growth);
      else if (took > target * 2)
        step_ = std::max<std::size_t>(1, static_cast<std::size_t>(step_ * target / took));
    }
    last_look_ = now;
    steps_timed_ = steps_until_look_ = step_ == longest_step ? looks_apart : 1;
  }

  std::size_t step_ = 1;
  std::uint32_t steps_until_look_ = untimed_steps;
  std::uint32_t steps_timed_ = 1;
  std::uint64_t last_look_ = 0; ///< tick_clock; 0: not yet
};

} // namespace basal::posse
