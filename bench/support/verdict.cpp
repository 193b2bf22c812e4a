#include "bench/support/verdict.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace basal::bench {

const char* letter(standing x) noexcept {
  switch (x) {
  case standing::exact:
    return "D";
  case standing::ratio:
    return "R";
  case standing::absolute:
    return "A";
  case standing::unreachable:
    return "U";
  }
  return "?"; // no enumerator
}

namespace {

bool is_judged(const table_row& row) noexcept {
  return row.kind == standing::exact || row.kind == standing::ratio;
}

} // namespace

bool holds(const table_row& row) noexcept {
  // Written so that NaN fails.
  return !is_judged(row) || (row.ours >= row.must.low && row.ours <= row.must.high);
}

std::string verdict(const table_row& row) {
  const std::string note = row.why.empty() ? "" : "; " + row.why;
  if (!is_judged(row))
    return "not judged" + note;
  if (holds(row))
    return "holds" + note;
  return "MISSES: " + figure_text(row.ours) + " is not " + to_string(row.must) + note;
}

std::string to_string(const bound& x) {
  const bool open_below = std::isinf(x.low);
  if (std::isinf(x.high))
    return open_below ? "" : "at least " + figure_text(x.low);
  if (open_below)
    return "at most " + figure_text(x.high);
  return x.low == x.high ? figure_text(x.low) : figure_text(x.low) + " to " + figure_text(x.high);
}

std::string figure_text(double x) {
  if (std::isnan(x))
    return "not measured";
  char text[48];
  std::snprintf(text, sizeof text, std::abs(x) >= 1e4 && std::abs(x) < 1e15 ? "%.0f" : "%.4g", x);
  return text;
}

double spread_ratio(std::span<const double> xs) noexcept {
  if (xs.empty() || !std::all_of(xs.begin(), xs.end(), [](double x) { return x > 0; }))
    return std::numeric_limits<double>::quiet_NaN();
  const auto [least, most] = std::minmax_element(xs.begin(), xs.end());
  return *most / *least;
}

std::string rows_as_markdown(std::span<const table_row> rows) {
  std::string text = "| table | row | class | source | ours | must be | verdict |\n"
                     "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const auto& r : rows)
    text += "| " + r.table + " | " + r.what + " | " + letter(r.kind) + " | " + r.source + " | "
            + (r.kind == standing::unreachable && std::isnan(r.ours) ? "" : figure_text(r.ours))
            + " | " + (is_judged(r) ? to_string(r.must) : "") + " | " + verdict(r) + " |\n";
  return text;
}

std::string rows_as_json(std::span<const table_row> rows) {
  auto made = nlohmann::ordered_json::array();
  for (const auto& r : rows)
    made.push_back({{"table", r.table},
                    {"row", r.what},
                    {"class", letter(r.kind)},
                    {"source", r.source},
                    {"ours", r.ours}, // the library writes null for what is no number
                    {"must_be", is_judged(r) ? to_string(r.must) : ""},
                    {"holds", holds(r)},
                    {"verdict", verdict(r)}});
  return made.dump(2) + '\n';
}

int exit_status(std::span<const table_row> rows) noexcept {
  return std::all_of(rows.begin(), rows.end(), holds) ? 0 : 1;
}

} // namespace basal::bench
