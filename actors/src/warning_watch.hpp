#pragma once

#include "warning_rules.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

namespace basal::actors {

/// From findings to warnings: one is raised when it has been found for as long as its kind needs,
/// and cleared when it has not been found for a while. Not thread-safe.
class warning_list {
public:
  using clock = std::chrono::steady_clock;

  /// The longest time between two findings of one warning before it is raised.
  static constexpr std::chrono::milliseconds gap{1000};

  static constexpr std::chrono::milliseconds cleared_after{5000};

  /// Takes the findings of the moment `now`, which is `today` on the wall.
  /// @returns the warnings that they raise
  std::vector<warning> update(const std::vector<finding>& found, clock::time_point now,
                              std::chrono::system_clock::time_point today);

  /// Oldest first.
  std::vector<warning> raised() const;

private:
  struct entry {
    warning_kind kind;
    warning what;
    clock::time_point first;
    clock::time_point last;
    bool raised = false;
  };

  std::vector<entry> entries_;
};

/// The warnings of one actor system, judged when somebody asks for its statistics. Any thread.
class warning_watch {
public:
  /// Between two judgements at least: shares of less are chance.
  static constexpr std::chrono::milliseconds least_interval{200};

  /// Judges the statistics. @returns the raised warnings. A new warning is logged; and if the
  /// program wants a recording of a crash (recorder::write_when_fatal), the last 10 s are written
  /// beside that one, at most once a minute, as FILE.KIND.
  /// @param system on basal
  /// @param stats of this moment
  std::vector<warning> update(caf::actor_system& system, const system_stats& stats);

private:
  void tell(const warning& raised);

  std::mutex mutex_;
  std::optional<evidence> before_; // guarded by mutex_, as all that follows
  warning_list list_;
  std::optional<std::chrono::steady_clock::time_point> recorded_;
};

} // namespace basal::actors
