#include "report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

namespace solve {

namespace {

using basal::solver::state;
using outcome = basal::solver::solve_outcome<double>;

std::string number(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string state_text(const outcome& o) {
  if (o.failure)
    return "error: " + std::string{to_string(o.failure->code())};
  std::string text{to_string(o.result.state)};
  if (o.result.state == state::budget_exhausted)
    text += std::string{" ("} + to_string(o.exhausted) + ")";
  return text;
}

std::string method_text(const outcome& o) {
  if (o.failure)
    return "-";
  std::string text{to_string(o.result.chosen)};
  if (o.result.preconditioner != basal::solver::preconditioning::none)
    text += "+" + std::string{to_string(o.result.preconditioner)};
  return text;
}

using row = std::array<std::string, 6>;

std::string lines(const std::vector<row>& rows) {
  row::size_type last = std::tuple_size_v<row> - 1;
  std::array<std::size_t, std::tuple_size_v<row>> widths{};
  for (const auto& r : rows)
    for (std::size_t i = 0; i < r.size(); ++i)
      widths[i] = std::max(widths[i], r[i].size());
  std::string text;
  for (const auto& r : rows) {
    for (std::size_t i = 0; i < r.size(); ++i) {
      std::string blanks(widths[i] - r[i].size(), ' ');
      // Words to the left, numbers to the right.
      if (i == 1 || i == last)
        text += i == last ? r[i] : r[i] + blanks;
      else
        text += blanks + r[i];
      text += i == last ? "\n" : "  ";
    }
  }
  return text;
}

} // namespace

std::string time_text(std::chrono::nanoseconds time) {
  auto ns = static_cast<double>(time.count());
  if (ns < 1e3)
    return number("%.3g ns", ns);
  if (ns < 1e6)
    return number("%.3g us", ns / 1e3);
  if (ns < 1e9)
    return number("%.3g ms", ns / 1e6);
  return number(ns < 1e11 ? "%.3g s" : "%.0f s", ns / 1e9);
}

std::string table(const std::vector<outcome>& outcomes, std::chrono::nanoseconds elapsed) {
  constexpr std::size_t most_rows = 20;
  constexpr std::size_t rows_of_many = 10;
  auto shown = outcomes.size() > most_rows ? rows_of_many : outcomes.size();
  std::vector<row> rows{{"rhs", "method", "iterations", "residual", "time", "state"}};
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& o = outcomes[i];
    auto failed = o.failure.has_value();
    rows.push_back({std::to_string(i + 1), method_text(o),
                    failed ? "-" : std::to_string(o.result.iterations),
                    failed ? "-" : number("%.2e", o.result.residual),
                    failed || o.elapsed.count() == 0 ? "-" : time_text(o.elapsed), state_text(o)});
  }
  auto text = lines(rows);
  if (shown < outcomes.size())
    text += "... and " + std::to_string(outcomes.size() - shown) + " more\n";
  if (outcomes.size() < 2)
    return text;
  std::map<std::string, std::size_t> states;
  std::uint64_t fewest = ~std::uint64_t{0}, most = 0;
  double worst = 0;
  for (const auto& o : outcomes) {
    ++states[state_text(o)];
    if (o.failure)
      continue;
    fewest = std::min(fewest, o.result.iterations);
    most = std::max(most, o.result.iterations);
    worst = std::max(worst, o.result.residual);
  }
  text += "\n";
  for (const auto& [name, count] : states)
    text += std::to_string(count) + " " + name + ", ";
  if (fewest <= most)
    text += "iterations " + std::to_string(fewest) + " to " + std::to_string(most)
            + ", largest residual " + number("%.2e", worst) + ", ";
  auto seconds = static_cast<double>(elapsed.count()) / 1e9;
  return text + "all in " + time_text(elapsed) + ": "
         + number("%.3g", static_cast<double>(outcomes.size()) / seconds) + " a second\n";
}

} // namespace solve
