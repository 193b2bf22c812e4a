#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace basal::solver {

/// Limits of one solve. A solve ends when the first limit is reached, with the state
/// budget_exhausted and the x that it has reached by then. A limit of 0 allows nothing: the solve
/// ends before its first tick.
struct budget {
  /// The limit that is none.
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

  /// Dispatches of the tick scheduler. Exact. The default is the source's.
  std::uint64_t ticks = 100'000;

  /// Iterations of the method (terms, steps, batches of walks). Exact.
  std::uint64_t iterations = unlimited;

  /// Wall time from the first tick on. The clock is read rarely, the more often
  /// the nearer the limit is: while ticks take equally long, the solve ends with
  /// the tick in which the limit falls.
  std::chrono::nanoseconds time = std::chrono::nanoseconds::max();

  /// Bytes of scratch memory. Exact; looked at before the first tick, since a
  /// solve takes all its scratch memory at once.
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
};

/// Which limit ended a solve.
enum class budget_kind : std::uint8_t { none, ticks, iterations, time, bytes };

/// The enumerator's name.
constexpr const char* to_string(budget_kind kind) noexcept {
  switch (kind) {
  case budget_kind::none:
    return "none";
  case budget_kind::ticks:
    return "ticks";
  case budget_kind::iterations:
    return "iterations";
  case budget_kind::time:
    return "time";
  case budget_kind::bytes:
    return "bytes";
  }
  return "unknown";
}

} // namespace basal::solver
