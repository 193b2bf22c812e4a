#pragma once

#include <string>
#include <vector>

namespace solve {

/// The relative residuals after each iteration, starting with that of the first guess, drawn on
/// a logarithmic scale, with a line at the tolerance: an SVG image.
std::string residual_plot(const std::vector<double>& residuals, double tolerance,
                          const std::string& title);

} // namespace solve
