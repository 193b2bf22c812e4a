#pragma once

#include "process.hpp"

#include <basal/actors/stats.hpp>

#include <caf/fwd.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace basal::observer {

/// The statistics of one moment. Any thread once it is made.
struct sample {
  std::uint64_t number = 0; ///< 1 is the first one that this observer took
  std::chrono::steady_clock::time_point taken;
  std::chrono::system_clock::time_point when;
  actors::system_stats stats;
  process_facts process;

  /// The same as JSON, one line; made by the first who asks.
  const std::string& json() const;

private:
  mutable std::once_flag once_;
  mutable std::string json_; // written under once_
};

/// Takes samples when it is asked, on the thread that asks; one serves all who ask at about the
/// same time. Any thread.
class sampler {
public:
  explicit sampler(caf::actor_system& system) : system_(system) {
  }

  /// The newest one if it is not older than that, else a new one. The first to ask reads the
  /// statistics while others wait for them; executors do not notice.
  std::shared_ptr<const sample> not_older_than(std::chrono::milliseconds age);

  /// The same. Whoever asks looks at actors, too: they are counted for at least that much longer.
  std::shared_ptr<const sample> watched(std::chrono::milliseconds age,
                                        std::chrono::milliseconds longer);

  /// How many were taken.
  std::uint64_t taken() const;

private:
  caf::actor_system& system_;
  mutable std::mutex mutex_;
  std::shared_ptr<const sample> newest_; // guarded by mutex_
};

} // namespace basal::observer
