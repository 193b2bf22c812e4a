#pragma once

// The process's garbage collected heap: Boehm's conservative, non-moving,
// stop-the-world collector (Boehm and Weiser, "Garbage Collection in an
// Uncooperative Environment", 1988). Objects in it are immutable and may be
// shared by all members of all computations.
//
// A pointer into the heap keeps its object alive in these places: on the stack of a fiber or thread
// that takes part in a computation or has touched the heap, suspended or not; in another object of
// the heap that may hold pointers; in a global variable. Not in memory from malloc or new: not in a
// std::vector, not in a message, not in an exception in flight. There, hold a handle.
//
// Functions may be called from any thread. Threads register themselves when
// they first take part and are stopped during collections from then on; one
// that never does is not.

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace basal::posse::gc {

/// The content that an object may hold.
enum class content {
  pointers,     ///< scanned: may refer to other objects of the heap
  pointer_free, ///< never scanned: numbers, text
};

/// Zeroed memory (if `content::pointers`), aligned to 16 bytes, at least one
/// byte longer than asked for so that a past-the-end pointer keeps it alive.
/// Small objects with pointers come from a list of the thread's own: some 10 ns.
/// Charged to the account in force, see charge_scope.
/// @throws std::bad_alloc, and what the account throws.
void* allocate(std::size_t bytes, content kind);

/// Collects now. Some 0.2 ms, and 20 ms for each 100 MB of live objects that
/// hold pointers.
void collect();

/// The initial value of set_least_garbage().
inline constexpr std::size_t least_garbage_bytes = 16 << 20;

/// The collector works when about twice as much was allocated as was alive after
/// the last collection, and not before it is this much. More makes collections
/// rarer, and the heap larger by as much. Holds from the next collection on.
void set_least_garbage(std::size_t bytes);

/// This thread's stacks may hold pointers into the heap from now on. Needed only
/// before a raw pointer arrives by ways that the heap does not see: an
/// allocation, a handle or a computation does it by itself.
void enter() noexcept;

/// Counts of the collector; see stats().
struct heap_stats {
  std::uint64_t collections = 0; ///< completed ones
  std::size_t heap_bytes = 0;    ///< held, used or not
  std::size_t used_bytes = 0; ///< in blocks that hold an object: live at most, after a collection
  std::uint64_t allocated_bytes = 0;        ///< ever
  std::chrono::nanoseconds last_pause{};    ///< other threads stood still
  std::chrono::nanoseconds longest_pause{}; ///< of all collections
  std::chrono::nanoseconds all_pauses{};    ///< sum over all collections
  std::size_t threads = 0;                  ///< registered
  std::size_t markers = 0;                  ///< threads that share the work of a collection
  std::size_t suspended_stacks = 0;         ///< at the last collection
  std::size_t suspended_stack_bytes = 0;    ///< scanned on them
};

heap_stats stats();

} // namespace basal::posse::gc
