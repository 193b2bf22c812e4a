#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace codesearch {

/// How far the indexing is. Written by the actors, each field by one of them at a time; read by
/// the terminal. Relaxed: for people to look at, nobody acts on it.
struct progress_counters {
  std::atomic<std::uint64_t> files_listed{0}; ///< by the walk, which runs ahead
  std::atomic<std::uint64_t> bytes_listed{0};
  std::atomic<std::uint64_t> files_done{0}; ///< indexed or skipped
  std::atomic<std::uint64_t> bytes_done{0};
  std::atomic<bool> walk_done{false}; ///< the number of files is final
};

/// A copy of the counters.
struct progress_state {
  std::uint64_t files_listed = 0;
  std::uint64_t bytes_listed = 0;
  std::uint64_t files_done = 0;
  std::uint64_t bytes_done = 0;
  bool walk_done = false;
};

[[nodiscard]] progress_state snapshot(const progress_counters& counters) noexcept;

/// "12,345 of 25,114 files, 98 MB/s, 47 % of 280 MB, 2 s left". While the walk goes on there is
/// more to come, so it says "at least" and no remaining time.
[[nodiscard]] std::string describe(const progress_state& state,
                                   std::chrono::duration<double> since_start);

/// "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t number);

/// Millions of bytes, with a digit behind the point below ten: "279", "1.4".
[[nodiscard]] std::string megabytes(std::uint64_t bytes);

} // namespace codesearch
