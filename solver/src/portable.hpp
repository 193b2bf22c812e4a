// Functions that not all of the standard libraries have that this module is built with. All of them
// are here, so that the rest of the module is the same code everywhere (../wasm/README.md).
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <system_error>
#include <type_traits>

#if !defined(__cpp_lib_to_chars)
#  include <cmath>
#  include <cstdlib>
#  include <string>
#endif

namespace basal::solver::detail {

// std::ranges::equal and std::ranges::all_of, which libc++ 14 lacks.
template <class A, class B, class... Equal>
bool equal(const A& a, const B& b, Equal... same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same...);
}

template <class Range, class Predicate>
bool all_of(const Range& range, Predicate holds) {
  return std::all_of(range.begin(), range.end(), holds);
}

// std::from_chars. libc++ 14 reads no floating-point numbers; there strtod reads them, which rounds
// correctly, too, and which takes more than from_chars does.
template <class Number>
std::from_chars_result number_from(std::string_view text, Number& result) {
  const char* const first = text.data();
#if !defined(__cpp_lib_to_chars)
  if constexpr (std::is_floating_point_v<Number>) {
    const bool negative = !text.empty() && text.front() == '-';
    const auto digits = text.substr(negative ? 1 : 0);
    const bool sign_or_blank = !digits.empty() && (digits[0] == '+' || digits[0] <= ' ');
    const bool hexadecimal = digits.size() > 1 && digits[0] == '0' && (digits[1] | ' ') == 'x';
    if (digits.empty() || digits[0] == '-' || sign_or_blank)
      return {first, std::errc::invalid_argument};
    // Of 0x1 from_chars takes the 0.
    const std::string copy{text.substr(0, hexadecimal ? (negative ? 2 : 1) : text.npos)};
    char* end = nullptr;
    Number value{};
    if constexpr (std::is_same_v<Number, float>)
      value = std::strtof(copy.c_str(), &end);
    else
      value = std::strtod(copy.c_str(), &end);
    const auto taken = end - copy.c_str();
    if (taken == 0)
      return {first, std::errc::invalid_argument};
    const bool names_infinity = (digits[0] | ' ') == 'i';
    if (std::isinf(value) && !names_infinity)
      return {first + taken, std::errc::result_out_of_range};
    result = value;
    return {first + taken, std::errc{}};
  } else
#endif
    return std::from_chars(first, first + text.size(), result);
}

// Bytes that were counted with 64 bits, for an allocation: what no address space holds becomes its
// largest size, for which there never is memory.
inline std::size_t allocatable(std::uint64_t bytes) noexcept {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  return bytes > most ? most : static_cast<std::size_t>(bytes);
}

} // namespace basal::solver::detail
