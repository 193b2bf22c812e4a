// The closed set of methods. To add one: its enumerator in solve_options.hpp, its class with its
// facts in a file here, and its case below, which the compiler asks for.
#pragma once

#include <new>
#include <type_traits>

#include "method/backward_push.hpp"
#include "method/bicgstab.hpp"
#include "method/conjugate_gradient.hpp"
#include "method/direct.hpp"
#include "method/forward_push.hpp"
#include "method/gmres.hpp"
#include "method/neumann.hpp"
#include "method/random_walk.hpp"

namespace basal::solver::detail {

// f(std::type_identity<the class of m>{}), a pointer or a number; null for `automatic`, which has
// no class, and for numbers that are no method.
template <class T, class F>
auto with_class_of(method m, F f) {
  switch (m) {
  case method::automatic:
    break;
  case method::neumann:
    return f(std::type_identity<neumann<T>>{});
  case method::conjugate_gradient:
    return f(std::type_identity<conjugate_gradient<T>>{});
  case method::bicgstab:
    return f(std::type_identity<bicgstab<T>>{});
  case method::gmres:
    return f(std::type_identity<gmres<T>>{});
  case method::direct:
    return f(std::type_identity<direct<T>>{});
  case method::forward_push:
    return f(std::type_identity<forward_push<T>>{});
  case method::backward_push:
    return f(std::type_identity<backward_push<T>>{});
  case method::random_walk:
    return f(std::type_identity<random_walk<T>>{});
  }
  return decltype(f(std::type_identity<neumann<T>>{})){};
}

// With all of x where the caller wants one entry of it.
template <class T>
std::uint64_t scratch_bytes(const plan_data<T>& p) noexcept {
  return with_class_of<T>(
           p.chosen,
           [&p]<class Method>(std::type_identity<Method>) { return Method::scratch_bytes(p); })
         + (p.extracts_entry() ? carver::bytes_for<T>(p.size()) : 0);
}

// Builds the plan's method in `memory`.
template <std::size_t Bytes, class T>
iteration* start_method(std::byte (&memory)[Bytes], const problem<T>& p, carver scratch) noexcept {
  return with_class_of<T>(
    p.plan.chosen, [&]<class Method>(std::type_identity<Method>) -> iteration* {
      static_assert(sizeof(Method) <= Bytes && alignof(Method) <= alignof(std::max_align_t));
      return new (memory) Method{p, scratch};
    });
}

} // namespace basal::solver::detail
