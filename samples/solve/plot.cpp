#include "plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace solve {

namespace {

// The image, and the part of it inside the axes, in pixels.
constexpr double width = 760, height = 440;
constexpr double left = 72, right = 24, top = 48, bottom = 52;
constexpr double inner_width = width - left - right;
constexpr double inner_height = height - top - bottom;

// A curve of more points than pixels shows nothing more.
constexpr std::size_t most_points = 2000;

// Below this a residual is drawn as this: 0 has no logarithm.
constexpr double smallest = 1e-18;

template <class... Args>
std::string formatted(const char* format, Args... args) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), format, args...);
  return text.data();
}

std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    default: // of all characters
      result += c;
    }
  return result;
}

/// 1, 2 or 5 times a power of ten, so that about five of them fill the range.
double tick_step(double range) {
  auto power = std::pow(10, std::floor(std::log10(range / 5)));
  for (double factor : {1.0, 2.0, 5.0})
    if (range / (factor * power) <= 6)
      return factor * power;
  return 10 * power;
}

} // namespace

std::string residual_plot(const std::vector<double>& residuals, double tolerance,
                          const std::string& title) {
  auto exponent = [](double r) { return std::log10(std::max(r, smallest)); };
  double lowest = exponent(tolerance), highest = 0;
  for (double r : residuals) {
    lowest = std::min(lowest, exponent(r));
    highest = std::max(highest, exponent(r));
  }
  lowest = std::floor(lowest - 0.5); // room for the tolerance's label
  highest = std::max(std::ceil(highest), lowest + 1);
  const auto last = static_cast<double>(std::max<std::size_t>(residuals.size(), 2) - 1);
  auto x_of = [&](double iteration) { return left + inner_width * iteration / last; };
  auto y_of = [&](double e) { return top + inner_height * (highest - e) / (highest - lowest); };

  auto svg = formatted("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
                       "font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">\n"
                       "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                       width, height);
  svg
    += formatted("<text x=\"%g\" y=\"28\" font-size=\"15\">", left) + escaped(title) + "</text>\n";
  const auto step = std::max(1.0, std::ceil((highest - lowest) / 10));
  for (double e = highest; e >= lowest; e -= step)
    svg += formatted("<path d=\"M%g %.1fh%g\" stroke=\"#e4e4e4\"/>"
                     "<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">1e%g</text>\n",
                     left, y_of(e), inner_width, left - 8, y_of(e) + 4, e);
  const auto stride = std::max(1.0, tick_step(last));
  for (double i = 0; i <= last; i += stride)
    svg += formatted("<path d=\"M%.1f %gv5\" stroke=\"#888\"/>"
                     "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%.6g</text>\n",
                     x_of(i), height - bottom, x_of(i), height - bottom + 20, i);
  svg += formatted("<path d=\"M%g %gv%gh%g\" fill=\"none\" stroke=\"#888\"/>\n", left, top,
                   inner_height, inner_width);
  svg += formatted("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">iteration</text>\n",
                   left + inner_width / 2, height - 12);
  svg += formatted("<text x=\"16\" y=\"%g\" text-anchor=\"middle\" "
                   "transform=\"rotate(-90 16 %g)\">|b - A x| / |b|</text>\n",
                   top + inner_height / 2, top + inner_height / 2);
  const auto y_tolerance = y_of(std::max(exponent(tolerance), lowest));
  // Below the line and to the left: the curve crosses the line when it ends, to the right.
  svg += formatted("<path d=\"M%g %.1fh%g\" stroke=\"#c0392b\" stroke-dasharray=\"6 4\"/>"
                   "<text x=\"%g\" y=\"%.1f\" fill=\"#c0392b\">tolerance %g</text>\n",
                   left, y_tolerance, inner_width, left + 6, y_tolerance + 15, tolerance);

  svg += "<polyline fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\" points=\"";
  const auto skip = std::max<std::size_t>(1, residuals.size() / most_points);
  for (std::size_t i = 0; i < residuals.size(); ++i)
    if (i % skip == 0 || i + 1 == residuals.size())
      svg += formatted("%.1f,%.1f ", x_of(static_cast<double>(i)), y_of(exponent(residuals[i])));
  return svg + "\"/>\n</svg>\n";
}

} // namespace solve
