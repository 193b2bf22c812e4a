#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tiered {

/// A place in a source text; both numbers count from 1, columns in bytes.
struct position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;

  friend bool operator==(position, position) = default;
};

/// Faults of a running program. The numbers are known to native code.
enum class fault : std::uint32_t {
  none = 0,
  overflow,           ///< an integer result does not fit into 64 bits
  division_by_zero,   ///< `/` or `%` of integers
  not_an_integer,     ///< int(x) of NaN, or of a number beyond 64 bits
  shift_out_of_range, ///< by less than 0 or more than 63
  recursion_too_deep, ///< see limits::stack_bytes
  too_many_calls,     ///< see limits::calls
  interrupted,        ///< the machine's safepoint threw; its exception says why
};

/// Cause and remedy, without the place.
[[nodiscard]] const char* describe(fault f) noexcept;

/// `LINE:COLUMN: text`.
[[nodiscard]] std::string at(position where, const std::string& text);

/// A text that is no program: syntax, names or types.
class source_error : public std::runtime_error {
public:
  source_error(position where, const std::string& text)
    : std::runtime_error(at(where, text)), where_(where) {
  }

  [[nodiscard]] position where() const noexcept {
    return where_;
  }

private:
  position where_;
};

} // namespace tiered
