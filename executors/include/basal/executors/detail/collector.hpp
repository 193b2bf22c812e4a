#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include <basal/executors/detail/time_buckets.hpp>

namespace basal::executors {

/// Times for which collections have stopped all threads.
struct collector_pauses {
  std::uint64_t sum_ns = 0;
  std::uint64_t longest_ns = 0;
  std::array<std::uint64_t, time_buckets::size> buckets{}; ///< how many, by their length

  /// One more. Does not allocate: it is called while nothing can be.
  constexpr void add(std::uint64_t ns) noexcept {
    sum_ns += ns;
    longest_ns = std::max(longest_ns, ns);
    ++buckets[time_buckets::of(ns)];
  }
};

/// Calls between a garbage collected heap and the executors. A heap sets them before main();
/// without a heap, each use costs a load.
struct collector_hooks {
  /// This thread's stacks may hold pointers into the heap from now on. Called
  /// often.
  void (*enter)() noexcept;

  /// Memory in which the collector looks for pointers; null when there is none.
  void* (*allocate)(std::size_t bytes) noexcept;
  void (*release)(void* memory) noexcept; ///< any address in it

  /// On an executor that is about to go on with another fiber: what the heap
  /// counts by thread belongs to the one that runs now. May be a thread that
  /// has never been in enter().
  void (*leaves_fiber)() noexcept;

  /// Bytes of the heap that are in use, garbage included.
  std::size_t (*used_bytes)() noexcept;

  /// Collects. @returns the bytes that are in use then
  std::size_t (*collect)() noexcept;

  /// Those so far.
  collector_pauses (*pauses)() noexcept;
};

/// Written once. Release and acquire, so that the table is seen whole.
inline constinit std::atomic<const collector_hooks*> collector{nullptr};

[[gnu::always_inline]] inline void enter_collected_heap() noexcept {
  if (const auto* hooks = collector.load(std::memory_order_acquire)) [[unlikely]]
    hooks->enter();
}

/// A base for what lives outside of stacks and may hold values that nothing else
/// holds: results on their way, functions that have not run. It is allocated
/// where the collector looks.
class visible_to_collector {
public:
  static void* operator new(std::size_t bytes) {
    if (auto* memory = operator new(bytes, std::nothrow))
      return memory;
    throw std::bad_alloc{};
  }

  static void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    const auto* hooks = collector.load(std::memory_order_acquire);
    return hooks != nullptr ? hooks->allocate(bytes) : ::operator new(bytes, std::nothrow);
  }

  static void operator delete(void* memory) noexcept {
    const auto* hooks = collector.load(std::memory_order_acquire);
    if (hooks != nullptr)
      hooks->release(memory);
    else
      ::operator delete(memory);
  }

  static void operator delete(void* memory, const std::nothrow_t&) noexcept {
    operator delete(memory);
  }

  // The same for what is aligned to more than 16 bytes.

  static void* operator new(std::size_t bytes, std::align_val_t alignment) {
    if (auto* memory = operator new(bytes, alignment, std::nothrow))
      return memory;
    throw std::bad_alloc{};
  }

  static void* operator new(std::size_t bytes, std::align_val_t alignment,
                            const std::nothrow_t&) noexcept {
    const auto* hooks = collector.load(std::memory_order_acquire);
    if (hooks == nullptr)
      return ::operator new(bytes, alignment, std::nothrow);
    auto room = bytes + static_cast<std::size_t>(alignment);
    void* memory = hooks->allocate(room);
    return memory == nullptr ? nullptr
                             : std::align(static_cast<std::size_t>(alignment), bytes, memory, room);
  }

  static void operator delete(void* memory, std::align_val_t alignment) noexcept {
    const auto* hooks = collector.load(std::memory_order_acquire);
    if (hooks != nullptr)
      hooks->release(memory);
    else
      ::operator delete(memory, alignment);
  }

  static void operator delete(void* memory, std::align_val_t alignment,
                              const std::nothrow_t&) noexcept {
    operator delete(memory, alignment);
  }
};

/// Allocates such memory for containers of a computation's own. Elements of any
/// alignment up to that of operator new.
template <class T>
class visible_allocator {
public:
  using value_type = T;

  visible_allocator() = default;

  template <class U>
  visible_allocator(const visible_allocator<U>&) noexcept {
  }

  T* allocate(std::size_t n) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    if (n > static_cast<std::size_t>(-1) / sizeof(T))
      throw std::bad_array_new_length{};
    if (auto* memory = visible_to_collector::operator new(n * sizeof(T), std::nothrow))
      return static_cast<T*>(memory);
    throw std::bad_alloc{};
  }

  void deallocate(T* memory, std::size_t) noexcept {
    visible_to_collector::operator delete(memory);
  }

  friend bool operator==(const visible_allocator&, const visible_allocator&) = default;
};

/// A vector for elements that a collector may have to find. Numbers it need not
/// see, and what is aligned to more than usual it does not.
template <class T>
using visible_vector = std::vector<
  T, std::conditional_t<std::is_arithmetic_v<T> || (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__),
                        std::allocator<T>, visible_allocator<T>>>;

} // namespace basal::executors
