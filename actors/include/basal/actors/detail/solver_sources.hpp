#pragma once

#include <basal/actors/solving_stats.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace basal::actors::detail {

/// The solvers of one actor system. Any thread; a mutex, held while their numbers are read.
class solver_sources {
public:
  using reader = std::function<solving_stats()>;

  /// @returns its number
  std::uint64_t add(reader read);

  /// Keeps what that one has counted; loses it where memory is short.
  void remove(std::uint64_t number) noexcept;

  /// The sum over those that there are and those that there were.
  solving_stats snapshot() const;

private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, reader> readers_; ///< guarded by mutex_
  std::uint64_t last_ = 0;                  ///< guarded by mutex_
  solving_stats ended_;                     ///< guarded by mutex_; nothing that holds now
};

} // namespace basal::actors::detail
