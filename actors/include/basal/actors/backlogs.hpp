#pragma once

#include <basal/actors/detail/by_name.hpp>

#include <caf/fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace basal::actors {

/// Actors of one name that still had messages when their turn was over.
struct backlog_stats {
  std::string name;           ///< of CAF's `local_actor::name`
  std::uint64_t messages = 0; ///< in the mailbox of the one that was seen last
  std::uint64_t most = 0;     ///< the most that any had
  std::uint64_t seen = 0;     ///< how often one was seen so

  friend bool operator==(const backlog_stats&, const backlog_stats&) = default;
};

/// Keeps backlogs by name. Any thread; a mutex, taken at most once a quantum by each executor.
class backlog_log {
public:
  /// `job` has had its turn and has messages left. On its executor, which still owns it.
  void add(caf::resumable* job) noexcept;

  /// By name.
  std::vector<backlog_stats> snapshot() const {
    return records_.snapshot();
  }

private:
  detail::by_name<backlog_stats> records_;
};

} // namespace basal::actors
