#pragma once

#include <caf/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace basal::actors {

/// Actors of one name that still had messages when their turn was over.
struct backlog_stats {
  std::string name;
  std::uint64_t messages = 0; ///< in the mailbox of the one that was seen last
  std::uint64_t most = 0;     ///< the most that any had
  std::uint64_t seen = 0;     ///< how often one was seen so

  friend bool operator==(const backlog_stats&, const backlog_stats&) = default;
};

/// Keeps backlogs by name. Any thread; a mutex, taken at most once a quantum by each executor.
class backlog_log {
public:
  /// Names beyond so many are counted together.
  static constexpr std::size_t max_names = 1000;
  static constexpr const char* other_names = "(others)";

  /// `job` has had its turn and has messages left. On its executor, which still owns it.
  void add(caf::resumable* job) noexcept;

  /// By name.
  std::vector<backlog_stats> snapshot() const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, backlog_stats, std::less<>> by_name_; // guarded by mutex_
};

} // namespace basal::actors
