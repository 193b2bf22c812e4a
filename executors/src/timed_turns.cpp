// Turns that are timed now and then, for `speedup`: an executor times one of them until the next
// one begins, and between the two asks whether it is time to try something else.

#include <basal/executors/executor_pool.hpp>

#include <algorithm>
#include <cstdint>

namespace basal::executors {

namespace {

/// Turns from one that is timed to the next one, on average, at most: not so many that a period
/// has ended before one that waits for many short turns.
constexpr std::uint64_t most_between = 64;

} // namespace

/// A turn begins, which is to be timed, or behind one that was.
/// @returns whether the caller times it
bool executor::times_turn() noexcept {
  if (turn_costs_ == nullptr)
    return false; // until_timed_ is 0, and seldom is again
  until_timed_ = 1;
  if (!std::exchange(timed_.is_open, false))
    return true;
  const auto present = now();
  note_turn(present);
  if (pool_.judge_speedup(present))
    pool_.say_work_goes_around(*this);
  const auto item = std::max<std::uint64_t>(1, item_ticks_.load(std::memory_order_relaxed));
  const auto mean = std::min(pool_.speedup_.pause() / item, most_between);
  if (mean == 0)
    return true;
  // Not each so many: of actors that take turns, it would be the same ones each time.
  until_timed_ = static_cast<std::uint32_t>(1 + random_.below(2 * mean));
  return false;
}

std::uint64_t executor::begin_timed_turn(const void* kind) noexcept {
  timed_
    = {.kind = kind, .messages = 0, .width = pool_.num_at_work(), .from = now(), .is_open = true};
  return timed_.from;
}

void executor::end_timed_turn(std::uint64_t begun, std::uint64_t messages) noexcept {
  if (!timed_.is_open || timed_.from != begun)
    return; // it was suspended, and others have run
  timed_.messages = messages;
  timed_.until = now();
}

/// The same beside a turn that goes on for longer than work was to stay: nobody else ends it then.
bool executor::work_still_stays() noexcept {
  return pool_.work_stays() && !pool_.judge_speedup(now());
}

/// The timed turn, with all until `present`; but if there was nothing to do after it, that is not a
/// part of it.
void executor::note_turn(std::uint64_t present) noexcept {
  if (timed_.messages == 0)
    return;
  const auto took = (awake_since_ > timed_.from ? timed_.until : present) - timed_.from;
  const auto width = pool_.num_at_work();
  auto& speedup = pool_.speedup_;
  if (width <= 1 && timed_.width <= 1)
    turn_costs_->note_alone(speedup.period_alone(), timed_.kind, timed_.messages, took);
  else if (width > 1 && timed_.width > 1)
    turn_costs_->note_beside(speedup.period_beside(), timed_.kind, timed_.messages, took,
                             (width + timed_.width) / 2);
  if (speedup.note_message(took / timed_.messages >= wake_up_ticks_))
    pool_.say_work_goes_around(*this);
}

// -- the pool -----------------------------------------------------------------

/// How many executors have found something to do.
std::size_t executor_pool::num_at_work() const noexcept {
  const auto awake = idle_.num_awake();
  return awake - std::min<std::size_t>(awake, hunting_.load(std::memory_order_relaxed));
}

/// @returns whether work does not stay any more, as it did until now
bool executor_pool::judge_speedup(std::uint64_t present) noexcept {
  return speedup_.go_on(
    present, [this] { return samples_alone(); }, [this] { return evidence(); });
}

std::uint64_t executor_pool::samples_alone() const noexcept {
  std::uint64_t samples = 0;
  for (const auto& e : executors_)
    samples += e->turn_costs_->samples_alone(speedup_.period_alone());
  return samples;
}

turn_costs::evidence executor_pool::evidence() const noexcept {
  return turn_costs::sum_up(
    [this](auto f) {
      for (const auto& e : executors_)
        f(*e->turn_costs_);
    },
    speedup_.period_beside(), speedup_.period_alone(), tick_clock::to_ticks(executor::wake_up));
}

/// Nobody was woken for what waits here while work stayed.
void executor_pool::say_work_goes_around(executor& here) noexcept {
  if (here.work_waits())
    notify();
}

} // namespace basal::executors
