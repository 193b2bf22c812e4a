#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace basal::executors {

/// A fiber's stack, from high addresses to low: `bytes` that whoever runs on it was
/// promised, down to `base`; a margin, down to `floor`, which exists but which
/// nobody was promised; and a guard, which turns an overflow into a fault.
///
/// The margin is for who checks the depth from time to time only: what runs between
/// two checks may go below `base`. Memory is committed when it is first touched, so
/// a margin costs addresses.
struct stack {
  std::byte* floor = nullptr; ///< lowest address that exists
  std::byte* base = nullptr;  ///< lowest address that was promised
  std::size_t bytes = 0;      ///< promised size

  std::byte* top() const noexcept {
    return base + bytes;
  }
};

/// Hands out stacks of one size and keeps returned ones for reuse. Any thread; a
/// mutex; system calls for each stack that was not used before.
///
/// Stacks lie side by side in chunks of address space, each above its guard. Where
/// the kernel can mark pages as guards (Linux 6.13, MADV_GUARD_INSTALL), the
/// accessible part of a chunk stays one memory mapping, and what bounds the number of
/// stacks is memory. Elsewhere a guard is pages without permissions, a mapping of
/// its own, and a process may have 65,530 of them (vm.max_map_count): 32,000 stacks.
///
/// Pages become accessible stack by stack, because under vm.overcommit_memory=2 the
/// kernel counts what is accessible as used.
class stack_pool {
public:
  enum class guard_kind {
    best,      ///< marked pages, or protected ones where the kernel has no marks
    protected_ ///< pages without permissions, as on older kernels
  };

  /// @param stack_bytes promised bytes per stack, rounded up to whole pages;
  ///                    from `min_stack_bytes` to `max_stack_bytes`.
  /// @throws std::invalid_argument naming the value and the range.
  explicit stack_pool(std::size_t stack_bytes, guard_kind guards = guard_kind::best);
  ~stack_pool();

  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;

  /// @throws std::system_error when the kernel has no more memory, addresses or
  ///         mappings, with the knobs to turn in its message.
  stack acquire();

  /// Takes a stack back, and its memory with it. Nothing may run on it any more.
  void release(stack s) noexcept;

  /// Gives back the memory of `s` below `lowest_used`, which stays usable and reads
  /// as zero when it is touched again. A system call, also if there is none.
  static void give_back_below(const stack& s, const std::byte* lowest_used) noexcept;

  /// Leaves all stacks mapped for good: the caller may run on one.
  void abandon() noexcept {
    chunks_.clear();
  }

  std::size_t stack_bytes() const noexcept {
    return stack_bytes_;
  }

  /// Stacks made so far, in use or not.
  std::size_t mapped() const noexcept;

  /// Whether guards are marked pages, as far as stacks were made.
  bool marks_guards() const noexcept;

  /// A single frame that is larger may step over the guard, unless the code was
  /// compiled with -fstack-clash-protection. A page is marked once.
  static constexpr std::size_t guard_bytes = 1024 * 1024;

  /// See stack. Together with the guard and default_stack_bytes it makes 32 MiB, of
  /// which a million stacks take a quarter of the addresses of a process.
  static constexpr std::size_t least_margin_bytes = 23 * 1024 * 1024;

  static constexpr std::size_t min_stack_bytes = 64 * 1024;

  /// More is a slip of the keyboard; the address space would hold only a few.
  static constexpr std::size_t max_stack_bytes = std::size_t{1} << 30;

  /// Stacks in a chunk, at most.
  static constexpr std::size_t max_chunk_stacks = 1024;

private:
  struct chunk {
    std::byte* memory;
    std::size_t bytes;
  };

  void reserve_chunk_locked();
  void make_accessible_locked(std::byte* slot);

  const std::size_t stack_bytes_;
  const std::size_t slot_bytes_; ///< guard, margin and stack
  mutable std::mutex mutex_;

  // -- guarded by the mutex ---------------------------------------------------

  bool marks_guards_;
  std::vector<std::byte*> free_; ///< slots that were used; room for all, so that release()
                                 ///< cannot fail
  std::size_t mapped_ = 0;
  std::byte* next_slot_ = nullptr; ///< of the last chunk, never used before
  std::byte* end_of_slots_ = nullptr;
  std::vector<chunk> chunks_;
};

} // namespace basal::executors
