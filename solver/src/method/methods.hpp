// All methods in one place: how much scratch memory each needs, and which one a plan means.
#pragma once

#include "method/backward_push.hpp"
#include "method/bicgstab.hpp"
#include "method/conjugate_gradient.hpp"
#include "method/forward_push.hpp"
#include "method/neumann.hpp"
#include "method/random_walk.hpp"

namespace basal::solver::detail {

template <class T>
std::size_t method_scratch_bytes(const plan_data<T>& p) noexcept {
  const auto n = p.size();
  switch (p.chosen) {
  case method::neumann:
    return neumann<T>::scratch_bytes(n);
  case method::conjugate_gradient:
    return conjugate_gradient<T>::scratch_bytes(n, p.factor != nullptr);
  case method::forward_push:
    return forward_push<T>::scratch_bytes(n);
  case method::backward_push:
    return backward_push<T>::scratch_bytes(n);
  case method::random_walk:
    return random_walk<T>::scratch_bytes(n);
  default:
    return bicgstab<T>::scratch_bytes(n);
  }
}

// With all of x where the caller wants one entry of it.
template <class T>
std::size_t scratch_bytes(const plan_data<T>& p) noexcept {
  return method_scratch_bytes(p) + (p.extracts_entry() ? carver::bytes_for<T>(p.size()) : 0);
}

// Builds the plan's method in `memory`.
template <std::size_t Bytes, class T>
iteration* start_method(std::byte (&memory)[Bytes], const problem<T>& p, carver scratch) noexcept {
  const auto in_place = [&]<class Method>(std::in_place_type_t<Method>) -> iteration* {
    static_assert(sizeof(Method) <= Bytes && alignof(Method) <= alignof(std::max_align_t));
    return new (memory) Method{p, scratch};
  };
  switch (p.plan.chosen) {
  case method::neumann:
    return in_place(std::in_place_type<neumann<T>>);
  case method::conjugate_gradient:
    return in_place(std::in_place_type<conjugate_gradient<T>>);
  case method::forward_push:
    return in_place(std::in_place_type<forward_push<T>>);
  case method::backward_push:
    return in_place(std::in_place_type<backward_push<T>>);
  case method::random_walk:
    return in_place(std::in_place_type<random_walk<T>>);
  default:
    return in_place(std::in_place_type<bicgstab<T>>);
  }
}

} // namespace basal::solver::detail
