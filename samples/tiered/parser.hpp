#pragma once

#include <string_view>

#include "syntax.hpp"

namespace tiered {

/// Reads a program: its syntax, names and types. Functions may call each other whatever their
/// order.
/// @throws source_error the first error, with its line and column
[[nodiscard]] program parse_program(std::string_view source);

/// Reads one expression that may call the functions of `p`, as a function without parameters.
/// @throws source_error
[[nodiscard]] function parse_expression(const program& p, std::string_view source);

} // namespace tiered
