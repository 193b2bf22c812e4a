// Turns that are timed now and then, for `speedup`: an executor times one of them until the next
// one begins, and between the two asks whether it is time to try something else.

#include <basal/executors/executor_pool.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "backstop.hpp"

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
  pool_.judge_speedup(present);
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

/// A tick is over, in which an item took `item` on average: of a program that has become another
/// one it may be long until a turn is timed.
void executor::note_tick_while_work_stays(std::uint64_t present, std::uint64_t item) noexcept {
  if (item >= wake_up_ticks_ && pool_.speedup_.note_messages(true, item))
    pool_.say_work_goes_around();
  else
    pool_.judge_speedup(present);
}

/// The timed turn, with all until `present`; but if there was nothing to do after it, that is not a
/// part of it.
void executor::note_turn(std::uint64_t present) noexcept {
  if (timed_.messages == 0)
    return;
  const auto took = (awake_since_ > timed_.from ? timed_.until : present) - timed_.from;
  const auto width = pool_.num_at_work();
  auto& speedup = pool_.speedup_;
  // Not of one that works alone since there is no more to do: that may be something else.
  if (width <= 1 && timed_.width <= 1 && num_waiting() > 0 && pool_.work_stays())
    turn_costs_->note_alone(speedup.period_alone(), timed_.kind, timed_.messages, took);
  else if (width > 1 && timed_.width > 1)
    turn_costs_->note_beside(speedup.period_beside(), timed_.kind, timed_.messages, took,
                             (width + timed_.width) / 2);
  if (speedup.note_messages(took / timed_.messages >= wake_up_ticks_, took))
    pool_.say_work_goes_around();
}

// -- the pool -----------------------------------------------------------------

/// How many executors have found something to do.
std::size_t executor_pool::num_at_work() const noexcept {
  const auto awake = idle_.num_awake();
  return awake - std::min<std::size_t>(awake, hunting_.load(std::memory_order_relaxed));
}

/// @returns whether work does not stay any more, as it did until now
bool executor_pool::judge_speedup(std::uint64_t present) noexcept {
  if (backstop_->is_refused()) // nobody would help who waits behind a long turn
    return false;
  const bool has_ended = speedup_.go_on(
    present, [this] { return samples_alone(); }, [this] { return evidence(); });
  if (has_ended)
    say_work_goes_around();
  return has_ended;
}

/// Somebody waits for work that is to stay.
void executor_pool::let_work_go_around() noexcept {
  if (speedup_.give_up())
    say_work_goes_around();
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

/// Nobody was woken for what waits in the queues of executors that are awake, of which each may be
/// in the middle of a turn that waits for it.
void executor_pool::say_work_goes_around() noexcept {
  if (work_for_searchers())
    notify();
}

} // namespace basal::executors
