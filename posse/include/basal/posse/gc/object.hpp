#pragma once

#include <cstddef>
#include <memory> // std::allocator
#include <new>
#include <type_traits>

#include <basal/posse/gc/heap.hpp>
#include <basal/posse/gc/pointer_free.hpp>

namespace basal::posse::gc {

/// A type that may live in the heap: the collector runs no destructors, so there must be nothing
/// for one to do.
template <class T>
concept collectable = std::is_object_v<T> && std::is_trivially_destructible_v<T> //
                      && alignof(T) <= 16;

template <class T>
inline constexpr content content_of
  = is_pointer_free<T> ? content::pointer_free : content::pointers;

/// The values that point into the heap, by a member type. They may stand on
/// stacks, in objects of the heap, and in results of work that runs elsewhere. The
/// places where they would most easily get lost are compile errors: messages,
/// containers and maps with std::allocator, and what new or std::make_unique makes.
/// Not seen: a heap value in a struct or closure that is kept there (std::function,
/// std::make_shared, std::future), and one in an exception.
template <class T>
concept heap_value = requires {
  typename T::points_into_heap;
};

/// Found by whoever serialises or stores messages field by field, CAF for one.
template <class Inspector, heap_value T>
bool inspect(Inspector&, T&) {
  static_assert(!heap_value<T>, "the collector does not look into messages: what the object "
                                "points to could vanish. Send a basal::posse::gc::handle");
  return false;
}

namespace detail {

/// The std::allocator of heap values, so that std::vector<gc::ptr<T>> and its like do not compile.
/// Specialised for each of them: a constraint on all types would ask it of incomplete ones.
/// @tparam Dependent delays the question where T is no template
template <class T, class... Dependent>
struct no_allocator {
  static_assert(!heap_value<T>, "the collector does not look into memory of std::allocator. Use "
                                "basal::posse::gc::vector, or hold basal::posse::gc::handle");
};

/// The same for those that are no templates, whose allocator is complete from the
/// beginning: it fails when it is used.
template <class T>
struct no_allocation {
  using value_type = T;

  T* allocate(std::size_t) {
    return no_allocator<T>::value;
  }
  void deallocate(T*, std::size_t) {
  }
};

/// A base of heap values: new does not make them. For `Value` alone, so that two
/// values next to each other share no base.
template <class Value>
struct not_on_its_own {
  static void* operator new(std::size_t bytes) {
    static_assert(!heap_value<Value>, "the collector does not look into memory of operator new. "
                                      "Hold a basal::posse::gc::handle");
    return ::operator new(bytes);
  }

  static void* operator new[](std::size_t bytes) {
    return operator new(bytes);
  }

  static void* operator new(std::size_t, void* place) noexcept {
    return place;
  }
};

} // namespace detail

} // namespace basal::posse::gc
