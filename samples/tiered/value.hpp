#pragma once

#include <cstdint>
#include <string>

namespace tiered {

/// The types of the language.
enum class type : std::uint8_t {
  integer, ///< `int`: 64 bits, two's complement
  real,    ///< `float`: IEEE 754 binary64
};

/// A value without its type, which every expression has before it runs. Native code reads and
/// writes arrays of these.
union value {
  std::int64_t i;
  double d;
};
static_assert(sizeof(value) == 8);

constexpr value of(std::int64_t i) noexcept {
  value v{};
  v.i = i;
  return v;
}

constexpr value of(double d) noexcept {
  value v{};
  v.d = d;
  return v;
}

/// A value as it leaves the interpreter.
struct typed_value {
  type of = type::integer;
  value v{};
};

/// The name that programs use.
[[nodiscard]] constexpr const char* name_of(type t) noexcept {
  return t == type::integer ? "int" : "float";
}

/// As the language writes it: a real always has a point or an exponent, and reads back as the
/// same number.
[[nodiscard]] std::string to_string(typed_value v);

} // namespace tiered
