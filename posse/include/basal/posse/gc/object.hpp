#pragma once

#include <memory> // std::allocator
#include <type_traits>

#include <basal/posse/gc/heap.hpp>
#include <basal/posse/gc/pointer_free.hpp>

namespace basal::posse::gc {

/// What may live in the heap: the collector runs no destructors, so there must
/// be nothing that one would do.
template <class T>
concept collectable = std::is_object_v<T> && std::is_trivially_destructible_v<T> //
                      && alignof(T) <= 16;

template <class T>
inline constexpr content content_of
  = is_pointer_free<T> ? content::pointer_free : content::pointers;

/// The values that point into the heap, by a member type. They may stand on
/// stacks and in objects of the heap; the two places where they would most easily
/// get lost are compile errors: messages, and containers with std::allocator.
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

/// What std::allocator is for heap values, so that std::vector<gc::ptr<T>> and its
/// like do not compile. Specialised for each of them: a constraint on all types
/// would ask it of incomplete ones.
template <class T>
struct no_allocator {
  static_assert(!heap_value<T>, "the collector does not look into memory of std::allocator. Use "
                                "basal::posse::gc::vector, or hold basal::posse::gc::handle");
};

} // namespace detail

} // namespace basal::posse::gc
