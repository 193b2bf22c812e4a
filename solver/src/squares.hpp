// Sums of squares in double, whatever T is: a sum of floats loses digits with each, and their
// squares vanish. For what decides how a solve ends, not for each step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace basal::solver::detail {

// Of v, times `scale`.
template <class T>
double squares(std::span<const T> v, double scale = 1) noexcept {
  constexpr std::size_t lanes = 8; // partial sums, so that additions need not wait for each other
  double sums[lanes] = {};
  const auto add = [&](std::size_t lane, T x) {
    const double scaled = scale * static_cast<double>(x);
    sums[lane] += scaled * scaled;
  };
  std::size_t i = 0;
  for (; i + lanes <= v.size(); i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane)
      add(lane, v[i + lane]);
  for (; i < v.size(); ++i)
    add(i % lanes, v[i]);
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// Of each column of a block that is stored by rows, times `scales`.
template <class T>
void column_squares(std::span<const T> v, std::size_t width, const double* scales,
                    double* sums) noexcept {
  std::fill_n(sums, width, 0.0);
  for (std::size_t i = 0; i < v.size(); i += width)
    for (std::size_t k = 0; k < width; ++k) {
      const double scaled = scales[k] * static_cast<double>(v[i + k]);
      sums[k] += scaled * scaled;
    }
}

} // namespace basal::solver::detail
