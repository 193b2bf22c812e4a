#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "failure.hpp"
#include "value.hpp"

namespace tiered {

// The operations that every tier must compute alike, listed once. The lists make enumerations and
// dispatch tables, so that an operation that is added here is missing nowhere.

/// Comparisons of two operands; the result is the integer 0 or 1.
#define TIERED_COMPARISONS(X)                                                                      \
  X(lt_i)                                                                                          \
  X(le_i)                                                                                          \
  X(gt_i)                                                                                          \
  X(ge_i)                                                                                          \
  X(eq_i)                                                                                          \
  X(ne_i)                                                                                          \
  X(lt_d)                                                                                          \
  X(le_d)                                                                                          \
  X(gt_d)                                                                                          \
  X(ge_d)                                                                                          \
  X(eq_d)                                                                                          \
  X(ne_d)

/// Other operations of two operands.
#define TIERED_ARITHMETIC(X)                                                                       \
  X(add_i)                                                                                         \
  X(sub_i)                                                                                         \
  X(mul_i)                                                                                         \
  X(div_i)                                                                                         \
  X(rem_i)                                                                                         \
  X(and_i)                                                                                         \
  X(or_i)                                                                                          \
  X(xor_i)                                                                                         \
  X(shl_i)                                                                                         \
  X(shr_i)                                                                                         \
  X(add_d)                                                                                         \
  X(sub_d)                                                                                         \
  X(mul_d)                                                                                         \
  X(div_d)

/// Operations of one operand.
#define TIERED_UNARY(X)                                                                            \
  X(neg_i)                                                                                         \
  X(neg_d)                                                                                         \
  X(sqrt_d)                                                                                        \
  X(to_real)                                                                                       \
  X(to_integer)

#define TIERED_NAME(o) o,
enum class operation : std::uint8_t {
  TIERED_COMPARISONS(TIERED_NAME) TIERED_ARITHMETIC(TIERED_NAME) TIERED_UNARY(TIERED_NAME)
};
#undef TIERED_NAME

[[nodiscard]] constexpr bool is_comparison(operation o) noexcept {
  return o <= operation::ne_d;
}

[[nodiscard]] constexpr bool is_unary(operation o) noexcept {
  return o >= operation::neg_i;
}

/// The doubles that truncate to a 64-bit integer are in [-2^63, 2^63).
inline constexpr double two_to_63 = 9223372036854775808.0;

/// Computes `O`. Of unary operations `b` is ignored. On a fault `result` is unspecified.
template <operation O>
[[gnu::always_inline]] inline fault compute(value a, value b, value& result) noexcept {
  using enum operation;
  constexpr auto smallest = std::numeric_limits<std::int64_t>::min();
  const auto unless = [](bool wrong, fault f) { return wrong ? f : fault::none; };
  if constexpr (O == lt_i)
    result.i = a.i < b.i;
  else if constexpr (O == le_i)
    result.i = a.i <= b.i;
  else if constexpr (O == gt_i)
    result.i = a.i > b.i;
  else if constexpr (O == ge_i)
    result.i = a.i >= b.i;
  else if constexpr (O == eq_i)
    result.i = a.i == b.i;
  else if constexpr (O == ne_i)
    result.i = a.i != b.i;
  else if constexpr (O == lt_d)
    result.i = a.d < b.d;
  else if constexpr (O == le_d)
    result.i = a.d <= b.d;
  else if constexpr (O == gt_d)
    result.i = a.d > b.d;
  else if constexpr (O == ge_d)
    result.i = a.d >= b.d;
  else if constexpr (O == eq_d)
    result.i = a.d == b.d;
  else if constexpr (O == ne_d)
    result.i = a.d != b.d;
  else if constexpr (O == add_i)
    return unless(__builtin_add_overflow(a.i, b.i, &result.i), fault::overflow);
  else if constexpr (O == sub_i)
    return unless(__builtin_sub_overflow(a.i, b.i, &result.i), fault::overflow);
  else if constexpr (O == mul_i)
    return unless(__builtin_mul_overflow(a.i, b.i, &result.i), fault::overflow);
  else if constexpr (O == div_i) {
    if (b.i == 0)
      return fault::division_by_zero;
    if (b.i == -1) {
      result.i = a.i == smallest ? a.i : -a.i;
      return unless(a.i == smallest, fault::overflow);
    }
    result.i = a.i / b.i;
  } else if constexpr (O == rem_i) {
    if (b.i == 0)
      return fault::division_by_zero;
    result.i = b.i == -1 ? 0 : a.i % b.i; // the processor traps on smallest % -1
  } else if constexpr (O == and_i)
    result.i = a.i & b.i;
  else if constexpr (O == or_i)
    result.i = a.i | b.i;
  else if constexpr (O == xor_i)
    result.i = a.i ^ b.i;
  else if constexpr (O == shl_i) {
    if (b.i < 0 || b.i > 63)
      return fault::shift_out_of_range;
    result.i = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.i) << b.i);
  } else if constexpr (O == shr_i) {
    if (b.i < 0 || b.i > 63)
      return fault::shift_out_of_range;
    result.i = a.i >> b.i;
  } else if constexpr (O == add_d)
    result.d = a.d + b.d;
  else if constexpr (O == sub_d)
    result.d = a.d - b.d;
  else if constexpr (O == mul_d)
    result.d = a.d * b.d;
  else if constexpr (O == div_d)
    result.d = a.d / b.d;
  else if constexpr (O == neg_i)
    return unless(__builtin_sub_overflow(std::int64_t{0}, a.i, &result.i), fault::overflow);
  else if constexpr (O == neg_d)
    result.d = -a.d;
  else if constexpr (O == sqrt_d)
    result.d = std::sqrt(a.d);
  else if constexpr (O == to_real)
    result.d = static_cast<double>(a.i);
  else {
    static_assert(O == to_integer);
    if (!(a.d >= -two_to_63 && a.d < two_to_63))
      return fault::not_an_integer;
    result.i = static_cast<std::int64_t>(a.d);
  }
  return fault::none;
}

/// The same for an operation that is known only when it runs.
inline fault compute(operation o, value a, value b, value& result) noexcept {
  switch (o) {
#define TIERED_CASE(name)                                                                          \
  case operation::name:                                                                            \
    return compute<operation::name>(a, b, result);
    TIERED_COMPARISONS(TIERED_CASE)
    TIERED_ARITHMETIC(TIERED_CASE)
    TIERED_UNARY(TIERED_CASE)
#undef TIERED_CASE
  }
  return fault::none;
}

} // namespace tiered
