#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace basal::interleave {

class run;

/// Builds the objects under test, declares the threads, lets them run with
/// run::go() and checks what came out. Called once per schedule; must do the
/// same each time. One scenario runs at a time, on the calling thread.
using scenario = std::function<void(run&)>;

/// Bounds of a schedule's deviations from the plain one, in which a thread runs until it blocks or
/// ends, loads see the newest store, and nothing fails spuriously.
struct limits {
  /// Times a thread is interrupted although it could go on. Exhaustive
  /// exploration only; random schedules have no such bound.
  std::uint32_t preemptions = 2;

  /// Loads that see an older store than the newest (where the memory order
  /// permits it), weak compare-exchanges that fail without reason, and waits
  /// that end without a wake-up. Exhaustive exploration only.
  std::uint32_t anomalies = 1;

  /// Operations after which a run that has not ended is a failure.
  std::uint32_t steps = 20'000;

  /// Schedules after which exhaustive exploration gives up.
  std::uint64_t schedules = 50'000'000;
};

/// The result of an exploration.
struct outcome {
  std::string name;
  std::uint64_t schedules = 0; ///< that were run
  std::uint64_t steps = 0;     ///< operations in all of them
  bool complete = false;       ///< there are no others within the limits

  bool failed = false;
  std::string what;     ///< the first failure: which check, or which threads hang
  std::string schedule; ///< replays it; see replay()
  std::string trace;    ///< its last operations, one a line

  /// All of the above for a person, and how to replay a failure.
  std::string text() const;
};

/// Runs every schedule within `bounds`, until one fails.
///
/// `name` identifies the scenario, for `BASAL_MODEL_REPLAY`: when that variable
/// is `NAME/SCHEDULE`, this and explore_random() run that one schedule only and
/// print each operation; scenarios of other names are skipped.
outcome explore_all(std::string_view name, const scenario& body, limits bounds = {});

/// 10,000, or the value of `BASAL_MODEL_SCHEDULES`; fewer under a sanitizer, see
/// sanitizer_slowdown().
std::uint64_t random_schedules();

/// How many times slower than usual a schedule is, roughly. Sanitizers watch the
/// harness here, not the code under test, so fewer schedules will do.
constexpr std::uint64_t sanitizer_slowdown() {
#if defined(__SANITIZE_THREAD__)
  return 200; // it makes a new fiber for each thread of each run
#elif defined(__SANITIZE_ADDRESS__)
  return 10;
#else
  return 1;
#endif
}

/// Runs `schedules` random schedules, until one fails. Each follows from a
/// seed and its number; `BASAL_MODEL_SEED` sets the seed (default 1).
outcome explore_random(std::string_view name, const scenario& body,
                       std::uint64_t schedules = random_schedules(), limits bounds = {});

/// Runs one schedule, in the notation of outcome::schedule: `-`, or the choices
/// that deviate from the plain schedule as `POSITION:CHOICE`, joined by dots.
/// @throws std::invalid_argument if `schedule` isn't written like that
outcome replay(std::string_view name, const scenario& body, std::string_view schedule,
               limits bounds = {});

} // namespace basal::interleave
