#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace basal::interleave {

/// Logical threads of a run, the scenario itself (number 0) included.
inline constexpr std::size_t max_threads = 8;

/// Atomics that one scenario may hold.
inline constexpr std::size_t max_atomics = 40;

/// A thread's knowledge. A store with release leaves a copy in the atomic; the load with acquire
/// that reads it joins the copy with the reader's own view.
struct view {
  /// Per thread: everything that it did up to this moment happened before.
  std::array<std::uint32_t, max_threads> clock{};

  /// Per atomic: the oldest store, by its position in the modification order,
  /// that may still be read. Coherence forbids the ones before it.
  std::array<std::uint32_t, max_atomics> oldest{};

  void join(const view& other) noexcept {
    for (std::size_t i = 0; i < clock.size(); ++i)
      clock[i] = std::max(clock[i], other.clock[i]);
    for (std::size_t i = 0; i < oldest.size(); ++i)
      oldest[i] = std::max(oldest[i], other.oldest[i]);
  }
};

} // namespace basal::interleave
