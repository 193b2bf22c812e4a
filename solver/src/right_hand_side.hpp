// The check that every vector from outside passes.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <string>

#include <basal/solver/errors.hpp>

#include "portable.hpp"
#include "squares.hpp"

namespace basal::solver::detail {

// Whether a sum of squares, in double, could be computed with in T.
template <class T>
bool has_all_digits(double squared) noexcept {
  return squared >= double{std::numeric_limits<T>::min()}
         && squared <= double{std::numeric_limits<T>::max()};
}

// The 2-norm; 0 for zeros alone. Throws error{not_finite} for NaN and infinities, and where the
// squares over- or underflow, since residuals could not be measured then.
template <class T>
double checked_norm(std::span<const T> v, const char* name) {
  const double squared = squares(v);
  if (has_all_digits<T>(squared)) [[likely]]
    return std::sqrt(squared);
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (!std::isfinite(v[i]))
      throw error{errc::not_finite, std::string{name} + ": entry " + std::to_string(i) + " is "
                                      + std::to_string(v[i])};
  }
  if (all_of(v, [](T x) { return x == 0; }))
    return 0;
  throw error{errc::not_finite, std::string{name} + ": the squares of its entries "
                                  + (squared > 1 ? "overflow" : "vanish") + "; scale the system"};
}

} // namespace basal::solver::detail
