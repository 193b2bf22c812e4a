// Logarithm, exponential and length with the same bits everywhere. Those of C libraries differ in
// the last bit from CPU to CPU, since they use fused multiply-add where there is one, and
// summation::portable promises that nothing does.
//
// Source: e_log.c and e_exp.c of fdlibm 5.3 (Sun Microsystems, 1993), whose errors are below one
// unit in the last place. Deviations: frexp and ldexp instead of bits, and no cases apart near 0.
#pragma once

#include <algorithm>
#include <cmath>

namespace basal::solver::detail {

inline constexpr double ln2_high
  = 6.93147180369123816490e-01; // 33 bits: times a small integer exact
inline constexpr double ln2_low = 1.90821492927058770002e-10;

/// ln x.
inline double portable_log(double x) noexcept {
  if (!(x > 0) || !std::isfinite(x))
    return std::log(x); // an infinity or no number, exactly
  constexpr double square_root_of_half = 0.70710678118654752440;
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < square_root_of_half) {
    mantissa *= 2;
    --exponent;
  }
  const double f = mantissa - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  const double w = z * z;
  const double even
    = w
      * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double odd = z
                     * (6.666666666666735130e-01
                        + w
                            * (2.857142874366239149e-01
                               + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  const double half_square = 0.5 * f * f;
  const double k = exponent;
  return k * ln2_high - ((half_square - (s * (half_square + (even + odd)) + k * ln2_low)) - f);
}

/// e^x; 0 and infinity where it is out of range.
inline double portable_exp(double x) noexcept {
  constexpr double inverse_ln2 = 1.44269504088896338700;
  if (x > 710)
    return HUGE_VAL;
  if (x < -746)
    return 0;
  const double k = std::floor(x * inverse_ln2 + 0.5);
  const double high = x - k * ln2_high;
  const double low = k * ln2_low;
  const double r = high - low;
  const double t = r * r;
  const double c
    = r
      - t
          * (1.66666666666666019037e-01
             + t
                 * (-2.77777777770155933842e-03
                    + t
                        * (6.61375632143793436117e-05
                           + t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))));
  return std::ldexp(1 - ((low - (r * c) / (2 - c)) - high), static_cast<int>(k));
}

/// The length of (x, y), without squares that overflow.
inline double portable_hypot(double x, double y) noexcept {
  const double larger = std::max(std::abs(x), std::abs(y));
  if (larger == 0 || !std::isfinite(larger))
    return std::hypot(x, y);
  const double ratio = std::min(std::abs(x), std::abs(y)) / larger;
  return larger * std::sqrt(1 + ratio * ratio);
}

} // namespace basal::solver::detail
