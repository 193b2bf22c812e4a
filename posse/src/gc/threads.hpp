#pragma once

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/collector.hpp>
#include <basal/executors/fwd.hpp>
#include <basal/posse/detail/charge_frame.hpp>
#include <basal/posse/gc/account.hpp>
#include <basal/posse/gc/heap.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace basal::posse::gc {

using posse::detail::charge_frame;

/// Objects are of whole granules.
inline constexpr std::size_t granule = 16;

/// Objects up to this size come from a thread's own lists. Larger ones are rare
/// enough, and too many for one refill.
inline constexpr std::size_t max_listed_bytes = 256;

/// One list per size, in memory that the collector scans: the marker follows the
/// links, so that what is listed stays allocated.
struct free_lists {
  template <class T>
  using per_size = std::array<T, max_listed_bytes / granule + 1>; ///< by granules

  per_size<void*> first;
  per_size<void*> spare;        ///< the first of lists, each linked by its second word
  per_size<std::uint8_t> burst; ///< lists that the last refill fetched
};

/// A registered thread. Its own, except where a comment says otherwise.
struct thread_state {
  free_lists* free = nullptr;
  std::size_t uncharged = 0;       ///< allocated since an account was charged
  charge_frame* charged = nullptr; ///< the innermost, on a thread that is no executor
  std::uint64_t allocated = 0;     ///< ever; atomic_ref where others read it

  // -- under the collector's lock ---------------------------------------------

  thread_state* next = nullptr;
  thread_state** link = nullptr; ///< the pointer to this one
  void* collector_handle = nullptr;
  void* native_top = nullptr; ///< beginning of the thread's own stack

  /// Place where the thread keeps its executor; null if it has none yet.
  executors::executor* const* executor = nullptr;
};

/// The calling thread's state; registers the thread the first time. Not inlined,
/// so that no compiler carries a thread-local's address across a fiber switch.
[[gnu::noinline]] thread_state& this_thread();

/// Lengths of the collections' pauses; the stacks are those of the last one.
struct pause_record {
  std::chrono::nanoseconds last{};
  executors::collector_pauses all;
  std::size_t suspended_stacks = 0;
  std::size_t suspended_stack_bytes = 0;
};

struct threads_snapshot {
  pause_record pauses;
  std::size_t threads = 0;
  std::uint64_t allocated = 0;
};

threads_snapshot snapshot_threads();

/// @returns bytes that this thread has allocated since the last call.
std::size_t count_allocated(thread_state& self) noexcept;

/// Charges them to the account in force, if there is one. @throws as the account's charge
void settle(thread_state& self);

/// The same without a look at the limit.
void add_allocated(thread_state& self) noexcept;

/// Detached work charges an account when whoever began it may have forgotten both.
struct detail::loans {
  static void begin(account& a) noexcept {
    a.loans_.fetch_add(1, std::memory_order_relaxed); // handing the work over publishes it
  }
  static void end(account& a) noexcept {
    [[maybe_unused]] const auto before = a.loans_.fetch_sub(1, std::memory_order_release);
    BASAL_ASSERT(before > 0, "detached work gives its account back once");
  }
};

/// Bytes in blocks of the heap that are not free as a whole.
std::size_t used_bytes() noexcept;

/// The account that the running fiber, or this thread, charges; null: none.
account* account_in_force(const thread_state& self) noexcept;

charge_frame* innermost_charge(const thread_state& self) noexcept;
void set_innermost_charge(thread_state& self, charge_frame* f) noexcept;

} // namespace basal::posse::gc
