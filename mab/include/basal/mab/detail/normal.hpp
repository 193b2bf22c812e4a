#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>

namespace basal::mab {

/// The standard normal quantile: the x below which a share `u` of the draws lies.
///
/// `u` strictly between 0 and 1. Relative error about 1e-7, far below what a
/// decision could notice. Any thread; 2 to 3 ns, 15 to 20 ns for the outer
/// 15 % of the draws.
///
/// One uniform number makes one normal number: a decision consumes exactly one
/// value of its random source per draw, so runs with equal seeds stay comparable
/// when a knob changes what is done with the draws. The polar and ziggurat
/// methods reject, and would not.
///
/// Source: Wichura, "Algorithm AS 241: The Percentage Points of the Normal
/// Distribution", Applied Statistics 37 (1988), routine PPND7.
inline double normal_quantile(double u) noexcept {
  assert(u > 0 && u < 1 && "the ends of the interval have infinite quantiles");
  const double q = u - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179)
           / (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1.0);
  }
  double r = std::sqrt(-std::log(std::min(u, 1 - u)));
  double tail = 0;
  if (r <= 5) {
    r -= 1.6;
    tail = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777)
           / ((0.12021132975 * r + 0.73700164250) * r + 1.0);
  } else {
    r -= 5;
    tail = (((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r + 6.6579051150)
           / ((0.012258202635 * r + 0.24197894225) * r + 1.0);
  }
  return q < 0 ? -tail : tail;
}

} // namespace basal::mab
