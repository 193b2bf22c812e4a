#include <basal/posse/detail/division_trial.hpp>

#include <algorithm>
#include <cmath>

namespace basal::posse {

namespace {

/// Ranges of a trial that count.
constexpr std::uint32_t runs = 16;

/// Trials in a row that must agree, unless one is clear.
constexpr std::uint32_t enough = 3;

/// In a clear one, ranges take so many times as long divided, and their logarithms' means differ by
/// so many times what chance explains. Both are guesses.
constexpr double far_slower = 2;
constexpr double clearly = 4;

/// The first trial is put off by so many times the expected work of a range, and then by twice as
/// many, up to the last: what is expected of the first ranges is often far more than they take.
constexpr std::uint32_t first_delay = 4;
constexpr std::uint32_t last_delay = 32;

/// From one trial to the next passes so many times what a range of the last one took on average,
/// and then as many ranges, for time passes in a pause, too: at first, and after many that have
/// told nothing new.
constexpr std::uint32_t least_patience = 1024;
constexpr std::uint32_t most_patience = 4096;

/// Ranges of another size in a row after which the trial goes on with that one.
constexpr std::uint32_t most_missed = 16;

/// Ranges that were to be divided, and were not, after which the trial ends.
constexpr std::uint32_t most_undivided = 16;

/// A trial of which no range has begun for so long, in ticks, is somebody else's to begin anew.
constexpr std::uint64_t too_long = std::uint64_t{1} << 26;

/// Ranges that are expected to take one member longer, in ticks, are not tried: nobody should wait
/// for them.
constexpr std::uint64_t most_work = std::uint64_t{1} << 24;

/// A range that takes so many times as long as the longest of a trial is not what was tried.
constexpr std::uint64_t far_longer = 4;

/// By how much ranges take longer divided.
struct slowdown {
  double of_means;  ///< of the logarithms of the times for an element
  double by_chance; ///< the standard error of that
};

slowdown slowdown_of(double divided_sum, double alone_sum, double squares) noexcept {
  constexpr double half = runs / 2.;
  const auto divided = divided_sum / half;
  const auto alone = alone_sum / half;
  const auto variance
    = std::max(0., squares - half * (divided * divided + alone * alone)) / (runs - 2);
  return {divided - alone, std::sqrt(variance * 2 / half)};
}

} // namespace

division_trial::course division_trial::try_it(std::size_t n, std::uint64_t work, std::uint64_t now,
                                              const void* who) noexcept {
  const auto* tries = tries_.load(std::memory_order_relaxed);
  if (work > most_work || (tries != nullptr && tries != who && !is_left(now)))
    return known(n);
  const std::unique_lock guard{mutex_, std::try_to_lock};
  if (!guard)
    return known(n);
  if (delay_ < last_delay) {
    delay_ = delay_ == 0 ? first_delay : 2 * delay_;
    next_at_.store(now + delay_ * work, std::memory_order_relaxed);
    return known(n);
  }
  return takes_part(n, now, who) ? next_course(now) : known(n);
}

std::uint64_t division_trial::alone_for(course c) const noexcept {
  return c == course::alone         ? alone_for_.load(std::memory_order_relaxed)
         : c == course::timed_alone ? most_work
                                    : 0;
}

bool division_trial::is_left(std::uint64_t now) const noexcept {
  return now >= next_at_.load(std::memory_order_relaxed) + too_long;
}

bool division_trial::takes_part(std::size_t n, std::uint64_t now, const void* who) noexcept {
  const auto* tries = tries_.load(std::memory_order_relaxed);
  if (tries == who) {
    if (n < trial_.elements / 2 || n / 2 > trial_.elements) {
      if (++trial_.missed >= most_missed || is_left(now))
        begin_trial(n, now);
      return false;
    }
  } else {
    if (tries != nullptr) {
      if (!is_left(now))
        return false;
      wait_longer();
    }
    tries_.store(who, std::memory_order_relaxed);
    begin_trial(n, now);
  }
  trial_.missed = 0;
  next_at_.store(now, std::memory_order_relaxed);
  if (to_pass_ == 0)
    return true;
  --to_pass_;
  return false;
}

void division_trial::begin_trial(std::size_t n, std::uint64_t now) noexcept {
  next_at_.store(now, std::memory_order_relaxed);
  trial_ = {.elements = n};
}

void division_trial::wait_longer() noexcept {
  patience_ = std::clamp(2 * patience_, least_patience, most_patience);
  to_pass_ = patience_;
}

/// By chance, and half of them each in the end; each twice in a row.
division_trial::course division_trial::next_course(std::uint64_t now) const noexcept {
  if (trial_.again != course::as_usual)
    return trial_.again;
  constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15;
  const auto chance = (now * golden) >> 32;
  return chance % (runs - trial_.run) < runs / 2 - trial_.divided ? course::timed_divided
                                                                  : course::timed_alone;
}

void division_trial::end(course c, std::size_t n, std::uint64_t took, bool was_divided,
                         std::uint64_t now, const void* who) noexcept {
  const std::unique_lock guard{mutex_, std::try_to_lock};
  if (!guard || tries_.load(std::memory_order_relaxed) != who)
    return; // somebody else begins anew, or has
  const bool divided = c == course::timed_divided;
  if ((divided ? trial_.divided : trial_.run - trial_.divided) == runs / 2)
    return; // one within another, both timed
  // If not, it was asleep after ranges done alone, or busy: another range may do.
  if (divided && !was_divided && ++trial_.undivided < most_undivided)
    return;
  const bool is_first = trial_.again != c;
  trial_.again = is_first ? c : course::as_usual;
  if (is_first)
    return; // that has moved what elements use
  trial_.ticks += took;
  ++trial_.run;
  if (divided != was_divided) {
    wait_longer();
    end_trial(now + least_patience * trial_.ticks / trial_.run);
    return;
  }
  const auto each
    = std::log(static_cast<double>(std::max<std::uint64_t>(1, took)) / static_cast<double>(n));
  trial_.divided += divided;
  (divided ? trial_.divided_sum : trial_.alone_sum) += each;
  trial_.squares += each * each;
  trial_.longest = std::max(trial_.longest, took);
  if (trial_.run == runs)
    conclude(now);
}

void division_trial::end_trial(std::uint64_t next_at) noexcept {
  next_at_.store(next_at, std::memory_order_relaxed);
  tries_.store(nullptr, std::memory_order_relaxed);
}

void division_trial::conclude(std::uint64_t now) noexcept {
  const auto slower = slowdown_of(trial_.divided_sum, trial_.alone_sum, trial_.squares);
  const bool is_better_alone = slower.of_means >= slower.by_chance;
  const bool is_clear
    = slower.of_means >= std::log(far_slower) && slower.of_means >= clearly * slower.by_chance;
  agreeing_ = !is_better_alone ? 0 : is_clear ? enough : std::min(agreeing_ + 1, enough);
  if (is_better_alone && agreeing_ < enough) {
    end_trial(now);
    return;
  }
  if ((alone_up_to_.load(std::memory_order_relaxed) != 0) != is_better_alone)
    patience_ = 0; // news
  alone_for_.store(far_longer * trial_.longest, std::memory_order_relaxed);
  alone_up_to_.store(is_better_alone ? 2 * trial_.elements : 0, std::memory_order_relaxed);
  wait_longer();
  end_trial(now + patience_ * trial_.ticks / runs);
}

} // namespace basal::posse
