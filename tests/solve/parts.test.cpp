#include "support/catch.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "solve/plot.hpp"
#include "solve/progress.hpp"
#include "solve/report.hpp"

using namespace solve;
using namespace std::chrono_literals;
using outcome = basal::solver::solve_outcome<double>;

namespace {

outcome converged(std::uint64_t iterations, double residual) {
  outcome o;
  o.result.state = basal::solver::state::converged;
  o.result.chosen = basal::solver::method::neumann;
  o.result.iterations = iterations;
  o.result.residual = residual;
  o.elapsed = 1500us;
  return o;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

} // namespace

TEST_CASE("times have three digits and a fitting unit") {
  CHECK(time_text(7ns) == "7 ns");
  CHECK(time_text(1234ns) == "1.23 us");
  CHECK(time_text(999us) == "999 us");
  CHECK(time_text(12345us) == "12.3 ms");
  CHECK(time_text(1530ms) == "1.53 s");
  CHECK(time_text(1000s) == "1000 s");
}

TEST_CASE("the table has a row for each outcome and lines its columns up") {
  auto text = table({converged(12, 9e-7), converged(1234, 1e-10)}, 3ms);
  CHECK(text
        == "rhs  method   iterations  residual    time  state\n"
           "  1  neumann          12  9.00e-07  1.5 ms  converged\n"
           "  2  neumann        1234  1.00e-10  1.5 ms  converged\n"
           "\n"
           "2 converged, iterations 12 to 1234, largest residual 9.00e-07, all in 3 ms: 667 a "
           "second\n");
}

TEST_CASE("of many outcomes the first ten are shown, and the sums of all") {
  std::vector<outcome> many(30, converged(5, 1e-7));
  many[20].result.state = basal::solver::state::budget_exhausted;
  many[20].exhausted = basal::solver::budget_kind::iterations;
  many[21].failure.emplace(basal::solver::errc::not_finite, "b has a NaN");
  auto text = table(many, 1s);
  CHECK_THAT(text, ContainsSubstring("... and 20 more\n"));
  CHECK(count(text, "neumann") == 10);
  CHECK_THAT(text, ContainsSubstring("1 budget_exhausted (iterations), 28 converged, "
                                     "1 error: not_finite, iterations 5 to 5"));
}

TEST_CASE("a failure has no numbers") {
  outcome failed;
  failed.failure.emplace(basal::solver::errc::dimension_mismatch, "b is too short");
  CHECK_THAT(table({failed}, 1s), ContainsSubstring("error: dimension_mismatch"));
}

TEST_CASE("progress tells the share and the time left") {
  CHECK(progress_text("solving", "systems", 25, 100, 2.0)
        == "solving: 25 of 100 systems (25 %), 6 s left");
  CHECK(progress_text("reading", "entries", 0, 10, 1) == "reading: 0 of 10 entries, 1 s so far");
  CHECK(progress_text("reading", "entries", 0, 0, 2.9) == "reading: 2 s so far");
}

TEST_CASE("the plot is an image with the curve inside the axes") {
  std::vector<double> residuals;
  for (int i = 0; i < 50; ++i)
    residuals.push_back(std::pow(0.5, i));
  auto svg = residual_plot(residuals, 1e-6, "a < b & c");
  CHECK_THAT(svg, ContainsSubstring("a &lt; b &amp; c"));
  CHECK_THAT(svg, ContainsSubstring("tolerance 1e-06"));
  CHECK_THAT(svg, ContainsSubstring(">1e-14</text>"));
  CHECK(count(svg, "<svg") == 1);
  CHECK(svg.ends_with("</svg>\n"));
  // The tolerance's label is below its line and on the left, where the curve is above the line.
  double line = 0, label_x = 0, label = 0;
  const auto dashed = svg.find("stroke-dasharray");
  std::sscanf(svg.c_str() + svg.rfind("<path", dashed), "<path d=\"M72 %lfh", &line);
  std::sscanf(svg.c_str() + svg.find("<text", dashed), "<text x=\"%lf\" y=\"%lf\"", &label_x,
              &label);
  CHECK(label > line + 10);
  CHECK(label < 388);
  CHECK(label_x < 100);
  auto points = svg.substr(svg.find("points=\"") + 8);
  double x = 0, y = 0, last_y = 0;
  int read = 0, used = 0;
  const char* at = points.c_str();
  while (std::sscanf(at, "%lf,%lf %n", &x, &y, &used) == 2) {
    CHECK(x >= 72);
    CHECK(x <= 736);
    CHECK(y >= std::max(48.0, last_y));
    CHECK(y <= 388);
    last_y = y;
    at += used;
    ++read;
  }
  CHECK(read == 50);
}

TEST_CASE("a plot of no iteration, of zeros and of growing residuals is one, too") {
  for (const auto& residuals :
       {std::vector<double>{}, {0.0}, {1.0, 0.0}, {1.0, 1e3, 1e9}, std::vector(100'000, 1e-3)}) {
    auto svg = residual_plot(residuals, 0, "odd");
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
    CHECK(svg.size() < 100'000);
  }
}
