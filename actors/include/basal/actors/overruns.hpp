#pragma once

#include <basal/actors/detail/by_name.hpp>

#include <caf/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace basal::actors {

/// Actors of one name that ran for more than a quantum between two messages or forks, so that
/// everything else on their executor had to wait. A name is that of CAF's `local_actor::name`.
struct overrun_stats {
  std::string name;             ///< see above
  std::uint64_t overruns = 0;   ///< how often
  std::uint64_t quanta = 0;     ///< the whole quanta in these
  std::uint64_t longest_us = 0; ///< the longest, in microseconds

  /// Of these quanta, those on each message executor, up to the last one that has any.
  std::vector<std::uint64_t> quanta_on = {};

  friend bool operator==(const overrun_stats&, const overrun_stats&) = default;
};

/// Counts overruns by name. Any thread; a mutex, taken at most once a quantum by each executor.
class overrun_log {
public:
  /// `job` has run for `ticks` without a look, on the executor with that index. There, while it
  /// runs.
  void add(caf::resumable* job, std::size_t executor, std::uint64_t ticks,
           std::uint64_t quantum_ticks) noexcept;

  /// By name.
  std::vector<overrun_stats> snapshot() const {
    return records_.snapshot();
  }

private:
  detail::by_name<overrun_stats> records_;
};

} // namespace basal::actors
