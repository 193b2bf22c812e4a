#pragma once

#include <basal/actors/stats.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace basal::observer {

/// Has a pool an executor that gets anywhere? Told by its statistics, so that it asks nothing of
/// the executors. Not thread-safe.
class liveness {
public:
  using clock = std::chrono::steady_clock;

  /// A pool is dead if all its executors have been running one piece of work for this time, without
  /// a message boundary, a suspension or an end.
  static constexpr std::chrono::seconds patience{30};

  /// One line for each pool: "[+]message ok" or "[-]message ..." with the reason.
  struct report {
    bool alive = true;
    std::string text;
  };

  /// Judges the statistics of `now` by those of the calls before.
  report look(const actors::system_stats& stats, clock::time_point now);

private:
  struct mark {
    std::uint64_t steps = 0;
    clock::time_point since;
  };

  static bool look(const std::vector<executors::executor_stats>& pool, std::vector<mark>& marks,
                   clock::time_point now);

  std::vector<mark> messages_;
  std::vector<mark> compute_;
};

} // namespace basal::observer
