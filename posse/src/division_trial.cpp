#include <basal/posse/detail/division_trial.hpp>

#include <algorithm>
#include <cmath>

namespace basal::posse {

namespace {

/// Ranges of a trial.
constexpr std::uint32_t runs = 16;

/// Trials in a row that must agree.
constexpr std::uint32_t enough = 3;

/// The first trial comes so many times the expected work of the first range after that.
constexpr std::uint32_t first_after = 256;

/// From one trial to the next passes so many times what a range of the last one took on average,
/// and a sixteenth as many ranges: at first, and after many that have told nothing new.
constexpr std::uint32_t least_patience = 256;
constexpr std::uint32_t most_patience = 4096;
constexpr std::uint32_t ranges_share = 16;

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

} // namespace

division_trial::course division_trial::try_it(std::size_t n, std::uint64_t work, std::uint64_t now,
                                              const void* who) noexcept {
  if (next_at_.load(std::memory_order_relaxed) == 0)
    next_at_.store(now + first_after * work, std::memory_order_relaxed);
  else if (work <= most_work && takes_part(n, now, who))
    return next_course(now);
  return known(n);
}

std::uint64_t division_trial::alone_for(course c) const noexcept {
  return c == course::alone         ? alone_for_.load(std::memory_order_relaxed)
         : c == course::timed_alone ? most_work
                                    : 0;
}

bool division_trial::takes_part(std::size_t n, std::uint64_t now, const void* who) noexcept {
  const auto* tries = tries_.load(std::memory_order_relaxed);
  const bool is_left = now >= next_at_.load(std::memory_order_relaxed) + too_long;
  if (tries == who) {
    const auto first = elements_.load(std::memory_order_relaxed);
    if (n < first / 2 || n / 2 > first) {
      const auto missed = missed_.load(std::memory_order_relaxed) + 1;
      missed_.store(missed, std::memory_order_relaxed);
      if (missed >= most_missed || is_left)
        begin_trial(n, now);
      return false;
    }
  } else {
    if ((tries != nullptr && !is_left)
        || !tries_.compare_exchange_strong(tries, who, std::memory_order_relaxed))
      return false;
    if (tries != nullptr)
      wait_longer();
    begin_trial(n, now);
  }
  missed_.store(0, std::memory_order_relaxed);
  next_at_.store(now, std::memory_order_relaxed);
  const auto to_pass = to_pass_.load(std::memory_order_relaxed);
  if (to_pass == 0)
    return true;
  to_pass_.store(to_pass - 1, std::memory_order_relaxed);
  return false;
}

void division_trial::begin_trial(std::size_t n, std::uint64_t now) noexcept {
  next_at_.store(now, std::memory_order_relaxed);
  run_.store(0, std::memory_order_relaxed);
  divided_.store(0, std::memory_order_relaxed);
  undivided_.store(0, std::memory_order_relaxed);
  missed_.store(0, std::memory_order_relaxed);
  elements_.store(n, std::memory_order_relaxed);
}

/// @returns the patience from now on
std::uint32_t division_trial::wait_longer() noexcept {
  const auto patience
    = std::clamp(2 * patience_.load(std::memory_order_relaxed), least_patience, most_patience);
  patience_.store(patience, std::memory_order_relaxed);
  to_pass_.store(patience / ranges_share, std::memory_order_relaxed);
  return patience;
}

/// By chance, and half of them each in the end.
division_trial::course division_trial::next_course(std::uint64_t now) const noexcept {
  const auto left = runs - std::min(run_.load(std::memory_order_relaxed), runs - 1);
  const auto divided = std::min(divided_.load(std::memory_order_relaxed), runs / 2);
  constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15;
  const auto chance = (now * golden) >> 32;
  return chance % left < runs / 2 - divided ? course::timed_divided : course::timed_alone;
}

void division_trial::end(course c, std::size_t n, std::uint64_t took, bool was_divided,
                         std::uint64_t now, const void* who) noexcept {
  if (tries_.load(std::memory_order_relaxed) != who)
    return; // somebody else has begun anew
  const bool divided = c == course::timed_divided;
  const auto run = run_.load(std::memory_order_relaxed);
  const auto all = took + (run == 0 ? 0 : ticks_.load(std::memory_order_relaxed));
  if (divided && !was_divided) { // asleep after ranges done alone, or busy: another one may do
    const auto undivided = undivided_.load(std::memory_order_relaxed) + 1;
    undivided_.store(undivided, std::memory_order_relaxed);
    if (undivided < most_undivided)
      return;
  }
  if (divided != was_divided) {
    wait_longer();
    end_trial(now + least_patience * all / (run + 1));
    return;
  }
  const auto sum_up = [run](std::atomic<double>& sum, double x, bool counts = true) {
    const auto before = run == 0 ? 0 : sum.load(std::memory_order_relaxed);
    sum.store(counts ? before + x : before, std::memory_order_relaxed);
  };
  const auto each
    = std::log(static_cast<double>(std::max<std::uint64_t>(1, took)) / static_cast<double>(n));
  sum_up(divided_sum_, each, divided);
  sum_up(alone_sum_, each, !divided);
  sum_up(squares_, each * each);
  ticks_.store(all, std::memory_order_relaxed);
  const auto longest = run == 0 ? 0 : longest_.load(std::memory_order_relaxed);
  longest_.store(std::max(longest, took), std::memory_order_relaxed);
  run_.store(run + 1, std::memory_order_relaxed);
  if (divided)
    divided_.store(divided_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (run + 1 == runs)
    conclude(are_slower_divided(), all / runs, now);
}

/// By the logarithms of the times for an element: their means differ by more than chance explains,
/// the standard error of the difference.
bool division_trial::are_slower_divided() const noexcept {
  constexpr double half = runs / 2.;
  const auto divided = divided_sum_.load(std::memory_order_relaxed) / half;
  const auto alone = alone_sum_.load(std::memory_order_relaxed) / half;
  const auto squares = squares_.load(std::memory_order_relaxed);
  const auto variance
    = std::max(0., squares - half * (divided * divided + alone * alone)) / (runs - 2);
  return divided - alone >= std::sqrt(variance * 2 / half);
}

void division_trial::end_trial(std::uint64_t next_at) noexcept {
  next_at_.store(next_at, std::memory_order_relaxed);
  tries_.store(nullptr, std::memory_order_relaxed);
}

/// @param took ticks, the ranges on average
void division_trial::conclude(bool is_better_alone, std::uint64_t took,
                              std::uint64_t now) noexcept {
  const auto agreeing = is_better_alone ? agreeing_.load(std::memory_order_relaxed) + 1 : 0;
  agreeing_.store(std::min(agreeing, enough), std::memory_order_relaxed);
  if (is_better_alone && agreeing < enough) {
    end_trial(now);
    return;
  }
  if ((alone_up_to_.load(std::memory_order_relaxed) != 0) != is_better_alone)
    patience_.store(0, std::memory_order_relaxed); // news
  alone_for_.store(far_longer * longest_.load(std::memory_order_relaxed),
                   std::memory_order_relaxed);
  alone_up_to_.store(is_better_alone ? 2 * elements_.load(std::memory_order_relaxed) : 0,
                     std::memory_order_relaxed);
  end_trial(now + wait_longer() * took);
}

} // namespace basal::posse
