#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/stopwatch.hpp>
#include <basal/executors/fwd.hpp>
#include <basal/executors/sequential_scope.hpp>

namespace basal::executors {

/// The relation of handed-over work to the party that hands it over.
enum class errand : std::uint8_t {
  awaited,  ///< a part of their own work: they do nothing until it has ended
  branch,   ///< a part that was begun at a fork; it ends before its frame does
  detached, ///< work of its own, which may run when they have long gone on
};

/// Four words in the frame of the executor that runs carried work.
struct carrier_room {
  alignas(void*) std::byte bytes[4 * sizeof(void*)];
};

/// Something that running work has, and that its fiber or thread keeps for it: an
/// account that pays for its memory, the name under which it logs. Work that is
/// handed over brings it along. One constant table a kind, by the module that
/// knows what it is; see carriers::add().
struct carrier {
  /// Returns the value that the work gets, on the thread that hands it over; null: nothing.
  void* (*capture)(errand what) noexcept;

  /// The captured value is not needed any more. Any thread, once for each value
  /// that is not null. Null: there is nothing to do.
  void (*drop)(void* captured, errand what) noexcept;

  /// Around the work, on the executor that runs it, on its fiber. For every piece
  /// of work, also where nothing was captured: it must not find what the fiber or
  /// the thread has by chance. `room` stays where it is from enter() to leave().
  void (*enter)(void* captured, executor& self, carrier_room& room) noexcept;
  void (*leave)(executor& self, carrier_room& room) noexcept;
};

/// The kinds of this program. Added at static initialisation, never removed.
class carriers {
public:
  static constexpr std::size_t most = 4;

  /// Work that was handed over before is not affected. One at a time.
  static void add(const carrier& kind) noexcept;

  static std::size_t count() noexcept {
    return count_.load(std::memory_order_acquire);
  }

  static const carrier& at(std::size_t i) noexcept {
    BASAL_ASSERT(i < count(), "a carrier's index is below count()");
    return *table_[i];
  }

private:
  /// Entries are written before the release store of the count that covers them.
  inline static constinit std::atomic<std::size_t> count_{0};
  inline static constinit std::array<const carrier*, most> table_{};
};

/// The values that one piece of work carries. Made on the thread that hands the work over; costs a
/// load and the look for a stopwatch where there are no carriers. Allocates nothing.
class carried {
public:
  explicit carried(errand what) noexcept;

  ~carried() {
    drop();
  }

  carried(const carried&) = delete;
  carried& operator=(const carried&) = delete;

  /// Gives `kind` another value than what capture() found; nothing happens if
  /// the work does not carry that kind.
  void replace(const carrier& kind, void* value) noexcept;

  /// The stopwatch whose time includes the work's time; null: none. Set by the constructor for
  /// awaited work.
  stopwatch* account = nullptr;

  /// The work is a part of something that must not be divided; see
  /// sequential_scope. Likewise.
  bool in_sequence = false;

  /// Gives back what was captured. Of detached work before its end is announced:
  /// who waits for that may destroy what it carries. A second call has no effect.
  void drop() noexcept {
    if (count_ != 0) [[unlikely]]
      drop_all();
  }

private:
  friend class carrying;

  void capture_all() noexcept;
  void drop_all() noexcept;

  const errand what_;
  std::uint8_t count_ = 0; ///< of `values_`; carriers may be added later
  std::array<void*, carriers::most> values_;
};

/// While it lives, this executor's running fiber has what the work carries, and
/// its time counts for whoever handed it over.
class carrying {
public:
  carrying(executor& self, const carried& what) noexcept
    : time_(self, what.account), self_(self), what_(what) {
    if (what.in_sequence) [[unlikely]]
      sequence_.emplace();
    if (what.count_ != 0) [[unlikely]]
      enter_all();
  }

  ~carrying() {
    if (what_.count_ != 0) [[unlikely]]
      leave_all();
  }

  carrying(const carrying&) = delete;
  carrying& operator=(const carrying&) = delete;

private:
  void enter_all() noexcept;
  void leave_all() noexcept;

  delegated_time time_;
  std::optional<sequential_scope> sequence_;
  executor& self_;
  const carried& what_;
  std::array<carrier_room, carriers::most> rooms_;
};

} // namespace basal::executors
