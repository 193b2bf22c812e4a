#pragma once

#include <caf/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace basal::actors {

/// Actors of one name that ran for more than a quantum between two messages or forks, so that
/// everything else on their executor had to wait. A name is that of CAF's `local_actor::name`.
struct overrun_stats {
  std::string name;
  std::uint64_t overruns = 0;   ///< how often
  std::uint64_t quanta = 0;     ///< the whole quanta in these
  std::uint64_t longest_us = 0; ///< the longest, in microseconds

  friend bool operator==(const overrun_stats&, const overrun_stats&) = default;
};

/// Counts overruns by name. Any thread; a mutex, taken at most once a quantum by each executor.
class overrun_log {
public:
  /// Names beyond so many are counted together.
  static constexpr std::size_t max_names = 1000;
  static constexpr const char* other_names = "(others)";

  /// `job` has run for `ticks` without a look. On its own executor, while it runs.
  void add(caf::resumable* job, std::uint64_t ticks, std::uint64_t quantum_ticks) noexcept;

  /// By name.
  std::vector<overrun_stats> snapshot() const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, overrun_stats, std::less<>> by_name_; // guarded by mutex_
};

} // namespace basal::actors
