#pragma once

#include <cstddef>
#include <cstdint>

#include <basal/executors/fwd.hpp>

namespace basal::executors {

/// The fibers that an executor has made and does not use now: parked inside its loop,
/// with nothing on their stacks that must unwind. Owner only.
///
/// Their stacks may have been deep. The memory goes back in steps, so that it is
/// neither held for ever nor fetched from the kernel again for each use:
///
/// - the `max_warm` latest ones stay as they were left;
/// - of those beyond, all but the first `kept_bytes` are given back at once;
/// - those beyond `max_spares` are destroyed, and their stacks are anybody's;
/// - before its executor sleeps in the kernel, rest() treats the warm ones, and the
///   fiber that runs, like those beyond.
class spare_fibers {
public:
  /// As many as wait for each other's results in one round, say; a guess. Together
  /// with a stack's size it bounds what a busy executor holds without need.
  static constexpr std::size_t max_warm = 16;

  /// Enough stack for most handlers, so that the next one on that stack faults no page in.
  static constexpr std::size_t kept_bytes = 16 * 1024;

  /// Each holds up to `kept_bytes`, and a page of the page table.
  static constexpr std::size_t max_spares = 1024;

  bool empty() const noexcept {
    return warm_ == nullptr && cool_ == nullptr;
  }

  /// The latest one, as it was left, or null.
  fiber* take() noexcept;

  /// Keeps `f`, which is parked or new, as it is.
  void keep(fiber& f) noexcept;

  /// Keeps `f`, which was left just now and whose stack `home` is no longer on, or
  /// destroys it.
  void put(fiber& f, executor& home) noexcept;

  /// See above; `running` is the calling fiber. A system call for itself and for each
  /// that was used since the last time.
  void rest(fiber& running) noexcept;

private:
  fiber* warm_ = nullptr;
  fiber* cool_ = nullptr;
  std::size_t num_warm_ = 0;
  std::size_t num_cool_ = 0;
};

} // namespace basal::executors
