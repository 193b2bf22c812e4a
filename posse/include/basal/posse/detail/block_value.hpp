#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/collector.hpp>

namespace basal::posse::detail {

/// Blocks that a reduction has, at most: what a block has is not divided, and of 129 to 256 of them
/// eight executors end within a sixteenth of their time. Of small values twice as many, see
/// block_fold.
inline constexpr std::size_t usual_blocks = 256;

/// Bytes of a stack that the values of blocks may take. More than that is allocated.
inline constexpr std::size_t most_on_stack = std::size_t{16} << 10;

/// Bytes that may be allocated: half of those from which on malloc() takes memory from the system
/// for each reduction anew, page by page.
inline constexpr std::size_t most_allocated = std::size_t{64} << 10;

/// Values of which there is room for one of each block. They are folded where they are, one by one,
/// whereas in a tree each operation has a frame and a copy of both. That goes for what is trivial
/// to copy: it is no larger than an element's value, however many it was made of, so an operation
/// takes the same whatever came before. (A sorted vector grows, and merged with one element after
/// the other it takes the square of them.) Their assignment reads nothing of what was there.
template <class T>
inline constexpr bool is_block_value
  = std::is_trivially_copyable_v<T>&& std::is_trivially_copy_constructible_v<T>&&
      std::is_trivially_copy_assignable_v<T> && sizeof(T) * usual_blocks <= most_allocated;

/// The assignment of a pair is not trivial, but assigns its parts alone.
template <class A, class B>
inline constexpr bool is_block_value<std::pair<A, B>> = std::conjunction_v<
  std::bool_constant<is_block_value<A> && is_block_value<B>>,
  std::is_trivially_copy_constructible<std::pair<A, B>>,
  std::is_trivially_destructible<std::pair<A, B>>, std::is_copy_assignable<std::pair<A, B>>,
  std::bool_constant<sizeof(std::pair<A, B>) * usual_blocks <= most_allocated>>;

/// Room for up to `Size` of these, which begin to exist when they are assigned or constructed: no
/// constructor is needed for those that a short range leaves unused. On the stack.
template <class T, std::size_t Size>
class value_room {
public:
  T* data([[maybe_unused]] std::size_t count = Size) noexcept {
    return std::launder(reinterpret_cast<T*>(bytes_));
  }

private:
  alignas(T) std::byte bytes_[Size * sizeof(T)];
};

/// More than `most_on_stack` is allocated: where a collector looks, as it looks at stacks.
template <class T, std::size_t Size>
requires(Size * sizeof(T) > most_on_stack) class value_room<T, Size> {
public:
  value_room() = default;
  value_room(const value_room&) = delete;
  value_room& operator=(const value_room&) = delete;

  ~value_room() {
    if (allocated_ != nullptr)
      executors::visible_to_collector::operator delete(allocated_, alignment);
  }

  /// @throws std::bad_alloc
  T* data(std::size_t count) {
    if (count <= near)
      return few_.data();
    allocated_ = executors::visible_to_collector::operator new(count * sizeof(T), alignment);
    return std::launder(static_cast<T*>(allocated_));
  }

private:
  static constexpr std::size_t near = most_on_stack / sizeof(T);
  static constexpr auto alignment = std::align_val_t{std::max<std::size_t>(alignof(T), 64)};

  value_room<T, near> few_;
  void* allocated_ = nullptr;
};

} // namespace basal::posse::detail
