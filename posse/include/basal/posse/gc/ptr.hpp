#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <new>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/gc/object.hpp>

namespace basal::posse::gc {

/// A pointer to an immutable object of the heap, null by default. As cheap as a
/// plain pointer, and like one, it keeps its object alive only where the
/// collector looks: see heap.hpp.
template <class T>
class ptr : public detail::not_on_its_own<ptr<T>> {
public:
  using points_into_heap = void; ///< see heap_value
  using element_type = const T;  ///< objects of the heap are immutable

  constexpr ptr() noexcept = default;

  /// The null pointer, and the conversion to a pointer to a base. No cost.
  /// @{
  constexpr ptr(std::nullptr_t) noexcept {
  }

  template <class Derived>
  requires std::convertible_to<const Derived*, const T*>
  constexpr ptr(ptr<Derived> p) noexcept : object_(p.get()) {
  }
  /// @}

  /// `object` must be in the heap, or live at least as long as this.
  explicit constexpr ptr(const T* object) noexcept : object_(object) {
  }

  /// As of a plain pointer; one that is null must not be dereferenced. The plain pointer keeps the
  /// object alive where the collector looks: on stacks and in the heap, see heap.hpp.
  /// @{
  constexpr const T* get() const noexcept {
    return object_;
  }
  constexpr const T& operator*() const noexcept {
    BASAL_ASSERT(object_ != nullptr, "a gc::ptr that is null has no object");
    return *object_;
  }
  constexpr const T* operator->() const noexcept {
    BASAL_ASSERT(object_ != nullptr, "a gc::ptr that is null has no object");
    return object_;
  }
  explicit constexpr operator bool() const noexcept {
    return object_ != nullptr;
  }
  /// @}

  /// The same object.
  friend constexpr bool operator==(ptr a, ptr b) noexcept {
    return a.object_ == b.object_;
  }
  friend constexpr auto operator<=>(ptr a, ptr b) noexcept {
    return std::compare_three_way{}(a.object_, b.object_);
  }

private:
  const T* object_ = nullptr;
};

/// A new object in the heap, immutable from here on. It dies when nobody points
/// to it any more.
/// @throws std::bad_alloc, what the account in force throws, what T throws.
template <class T, class... Args>
requires std::constructible_from<T, Args...> ptr<T> make(Args&&... args) {
  static_assert(collectable<T>,
                "the collector runs no destructors: an object of the heap must be trivially "
                "destructible and aligned to 16 bytes at most. In place of std::string and "
                "std::vector take gc::string and gc::vector");
  return ptr<T>{new (allocate(sizeof(T), content_of<T>)) T(std::forward<Args>(args)...)};
}

} // namespace basal::posse::gc

template <class T>
class std::allocator<basal::posse::gc::ptr<T>>
  : basal::posse::gc::detail::no_allocator<basal::posse::gc::ptr<T>> {};

template <class Key, class T>
class std::allocator<std::pair<const Key, basal::posse::gc::ptr<T>>>
  : basal::posse::gc::detail::no_allocator<basal::posse::gc::ptr<T>> {};

template <class T>
struct std::hash<basal::posse::gc::ptr<T>> {
  std::size_t operator()(basal::posse::gc::ptr<T> p) const noexcept {
    return std::hash<const T*>{}(p.get());
  }
};
