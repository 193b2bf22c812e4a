#pragma once

#include <basal/solver/batch.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace solve {

/// "412 us", "1.53 s": three digits.
std::string time_text(std::chrono::nanoseconds time);

/// A row for each outcome, or for the first ten where there are more than twenty, then the sums.
/// @param elapsed of all of them together
std::string table(const std::vector<basal::solver::solve_outcome<double>>& outcomes,
                  std::chrono::nanoseconds elapsed);

} // namespace solve
