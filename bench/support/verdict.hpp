/// Rows of published tables beside our figures, and whether they hold.
#pragma once

#include <limits>
#include <span>
#include <string>

namespace basal::bench {

/// Validity of a row of somebody else's table on another machine.
enum class standing {
  exact,       ///< D: the same on every machine
  ratio,       ///< R: holds on every machine within its bound
  absolute,    ///< A: belongs to the machine; shown, not judged
  unreachable, ///< U: cannot be repeated here, `why` says why
};

/// "D", "R", "A" or "U".
const char* letter(standing x) noexcept;

/// Both ends belong to it.
struct bound {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

constexpr bound equals(double x) noexcept {
  return {x, x};
}

constexpr bound at_most(double x) noexcept {
  return {.high = x};
}

constexpr bound at_least(double x) noexcept {
  return {.low = x};
}

/// `x` plus and minus `share` of it.
constexpr bound about(double x, double share) noexcept {
  return {x - share * x, x + share * x};
}

struct table_row {
  std::string table;  ///< "MB5"
  std::string what;   ///< with its unit
  standing kind;      ///<
  std::string source; ///< their figure, as printed there; "none": the row is ours
  double ours = std::numeric_limits<double>::quiet_NaN(); ///< NaN: not measured
  bound must = {};                                        ///< of exact and ratio
  std::string why = {};                                   ///< for unreachable; for others a note
};

/// Absolute and unreachable rows always hold; others if `ours` is a number within the bound.
bool holds(const table_row& row) noexcept;

/// "holds", "MISSES: 12 is not 5 to 6", "not judged: ...".
std::string verdict(const table_row& row);

/// The bound in words: "5", "at most 2", "0.9 to 1.1"; empty if there is none.
std::string to_string(const bound& x);

/// Four significant digits at most.
std::string figure_text(double x);

/// How far apart positive figures are that ought to be one: the greatest over the least. NaN if
/// one of them is not positive, or if there is none.
double spread_ratio(std::span<const double> xs) noexcept;

/// All rows as a Markdown table.
std::string rows_as_markdown(std::span<const table_row> rows);

/// All rows as JSON: an array of objects, numbers that are none as null.
std::string rows_as_json(std::span<const table_row> rows);

/// 0, or 1 if a row does not hold.
int exit_status(std::span<const table_row> rows) noexcept;

} // namespace basal::bench
