#include "bench/support/format.hpp"
#include "bench/support/report.hpp"
#include "bench/support/statistics.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <vector>

namespace basal::bench {

namespace {

using row = std::array<std::string, 4>;

// "fib/37" of "fib/37/basal/2": rows that share it are compared with each other.
std::string_view group_of(std::string_view name) {
  const auto size = name.find('/');
  return name.substr(0, size == name.npos ? size : name.find('/', size + 1));
}

row make_row(const results& all, const case_result& c) {
  if (!c.error.empty())
    return {c.name, "FAILED", "", ""};
  row made{c.name, format_ns(median(c.ns)), format_spread(spread_of(c.ns)), ""};
  if (!c.baseline.empty()) {
    try {
      made[3] = three_digits(median(c.ns) / all.median_ns(c.baseline)) + " x";
    } catch (const not_measured&) {
      made[3] = "?"; // the filter left the baseline out, or it failed
    }
  }
  return made;
}

void print_row(std::ostream& out, const row& cells, const std::array<std::size_t, 4>& widths) {
  out << cells[0] << std::string(widths[0] - cells[0].size(), ' ');
  for (std::size_t i = 1; i < cells.size(); ++i)
    out << "  " << std::string(widths[i] - cells[i].size(), ' ') << cells[i];
  out << '\n';
}

void print_rows(std::ostream& out, const results& all) {
  std::vector<row> rows{{"case", "median", "spread", "vs baseline"}};
  for (const auto& c : all.cases())
    rows.push_back(make_row(all, c));
  std::array<std::size_t, 4> widths{};
  for (const auto& r : rows) {
    for (std::size_t i = 0; i < r.size(); ++i)
      widths[i] = std::max(widths[i], r[i].size());
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && (i == 1 || group_of(rows[i][0]) != group_of(rows[i - 1][0])))
      out << '\n';
    print_row(out, rows[i], widths);
  }
}

} // namespace

bool succeeded(const report& r) {
  const auto& cases = r.cases.cases();
  return r.figures.failures.empty()
         && std::all_of(cases.begin(), cases.end(), [](auto& c) { return c.error.empty(); });
}

void print_table(std::ostream& out, const report& r) {
  const auto& at = r.where;
  out << "bench " << r.module << (r.how.quick ? " (quick)" : "") << ": " << at.cpu << ", "
      << at.usable_cpus << " CPUs, " << at.kernel << '\n'
      << at.compiler << ' ' << at.flags << "; " << r.how.repetitions
      << " interleaved repetitions a case; " << three_digits(r.seconds) << " s\n";
  if (const auto& lines = r.cases.cache_lines(); !lines.empty())
    out << "a cache line to another CPU and back: " << three_digits(median(lines)) << " ns, "
        << three_digits(*std::min_element(lines.begin(), lines.end())) << " to "
        << three_digits(*std::max_element(lines.begin(), lines.end())) << " in this run\n";
  if (at.asserts)
    out << "warning: built with assertions; these numbers are not what users get\n";
  if (!at.load.empty() && at.load[0] > 0.5)
    out << "warning: the machine was busy before the run (load average " << three_digits(at.load[0])
        << ")\n";
  if (r.how.quick && r.seconds > 50)
    out << "warning: a quick run must stay under 50 s; give its cases smaller quick sizes\n";
  out << '\n';
  print_rows(out, r.cases);
  out << '\n';
  for (const auto& c : r.cases.cases()) {
    if (!c.error.empty())
      out << "FAILED " << c.name << ": " << c.error << '\n';
  }
  for (const auto& failure : r.figures.failures)
    out << "FAILED figure " << failure << '\n';
  for (const auto& f : r.figures.values)
    out << "figure " << f.name << ' ' << three_digits(f.value) << '\n';
}

} // namespace basal::bench
