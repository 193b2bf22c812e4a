#include "bench/evaluation/report.hpp"

#include <cmath>
#include <cstdio>

namespace basal::evaluation {

void report::heading(const std::string& text) {
  text_ += "## " + text + "\n\n";
}

void report::paragraph(const std::string& text) {
  text_ += text + "\n\n";
}

void report::table(const std::vector<std::vector<std::string>>& rows) {
  const auto line = [&](const std::vector<std::string>& cells) {
    text_ += '|';
    for (const auto& cell : cells)
      text_ += " " + cell + " |";
    text_ += '\n';
  };
  line(rows.front());
  line(std::vector<std::string>(rows.front().size(), "---"));
  for (std::size_t i = 1; i < rows.size(); ++i)
    line(rows[i]);
  text_ += '\n';
}

std::string number(double x) {
  if (x == 0)
    return "0";
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(x))));
  const int decimals = magnitude >= 2 ? 0 : 2 - magnitude;
  const double unit = std::pow(10, magnitude - 2);
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, std::round(x / unit) * unit);
  std::string result = text;
  if (decimals > 0)
    return result;
  for (auto at = static_cast<int>(result.size()) - 3; at > (x < 0 ? 1 : 0); at -= 3)
    result.insert(static_cast<std::size_t>(at), ",");
  return result;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, share != 0 && std::abs(share) < 0.1 ? "%.1f %%" : "%.0f %%",
                100 * share);
  return text;
}

std::string speed_up(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.0f %%", 100 * (ratio - 1));
  return text;
}

} // namespace basal::evaluation
