#pragma once

#include <basal/solver/solve_result.hpp>

namespace basal::solver::wasm {

/// The type that the host reads field by field.
using result = solve_result<double>;

} // namespace basal::solver::wasm
