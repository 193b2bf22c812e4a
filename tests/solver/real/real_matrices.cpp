// Solves systems with matrices from files, twice each: with b = A 1 and with a random b. The long
// mode of the solver's tests (README.md); any Matrix Market file will do.
//
//     solver.real_matrices [--at-least N] [--why] FILE...
//
// Prints a line a system, whose residual |b - A x| / |b| (2-norms) is computed here, and exits
// with 1 unless N matrices (default: all) converge with both right-hand sides. 1e-8 is asked for.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <basal/solver/build_config.hpp>
#include <basal/solver/matrix_market.hpp>
#include <basal/solver/solver.hpp>

namespace {

using basal::solver::csr_matrix;
using basal::solver::index_type;

constexpr double tolerance = 1e-8;

// In long double, which the solver never uses.
double residual(const csr_matrix<double>& a, const std::vector<double>& x,
                const std::vector<double>& b) {
  long double off = 0;
  long double all = 0;
  for (index_type r = 0; r < a.rows(); ++r) {
    const auto columns = a.row_columns(r);
    const auto values = a.row_values(r);
    const long double wanted = b[static_cast<std::size_t>(r)];
    long double left = wanted;
    for (std::size_t k = 0; k < columns.size(); ++k)
      left -= static_cast<long double>(values[k]) * x[static_cast<std::size_t>(columns[k])];
    off += left * left;
    all += wanted * wanted;
  }
  return static_cast<double>(std::sqrt(off / all));
}

std::vector<double> row_sums(const csr_matrix<double>& a) {
  std::vector<double> b;
  for (index_type r = 0; r < a.rows(); ++r) {
    double sum = 0;
    for (const double v : a.row_values(r))
      sum += v;
    b.push_back(sum);
  }
  return b;
}

std::vector<double> random_numbers(index_type n) {
  std::mt19937 random{1};
  std::vector<double> b;
  for (index_type i = 0; i < n; ++i)
    b.push_back(static_cast<double>(random()) / 2147483648.0 - 1);
  return b;
}

bool solves(const std::string& name, const std::shared_ptr<const csr_matrix<double>>& a,
            const std::vector<double>& b, const char* kind, bool why) {
  const auto r = basal::solver::solve<double>(basal::solver::linear_operator<double>{a}, b,
                                              {.tolerance = tolerance});
  const double left = residual(*a, r.x, b);
  // The residual that the solver saw was rounded otherwise.
  const bool reached = left <= 1.01 * tolerance;
  std::printf("%-12s %6d %7d  %-6s %-16s %5llu  %-18s %-15s %8.1e\n", name.c_str(), a->rows(),
              a->nonzeros(), kind, std::string{to_string(r.state)}.c_str(),
              static_cast<unsigned long long>(r.iterations),
              std::string{to_string(r.chosen)}.c_str(),
              std::string{to_string(r.preconditioner)}.c_str(), left);
  if (why)
    std::printf("    %s\n", r.why.c_str());
  if (reached != (r.state == basal::solver::state::converged)) {
    std::printf("error: the solver says %s\n", std::string{to_string(r.state)}.c_str());
    std::exit(1);
  }
  return reached;
}

} // namespace

int main(int argc, char** argv) {
  bool why = false;
  int at_least = -1;
  int files = 0;
  int converged = 0;
  std::printf("direct method: %s\n", basal::solver::with_direct_method ? "yes" : "no");
  std::printf("matrix         rows entries  b      state            steps  method             "
              "preconditioner  residual\n");
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--why") {
      why = true;
      continue;
    }
    if (argument == "--at-least" && i + 1 < argc) {
      at_least = std::atoi(argv[++i]);
      continue;
    }
    ++files;
    auto name = argument.substr(argument.rfind('/') + 1);
    name = name.substr(0, name.rfind('.'));
    try {
      const auto a = std::make_shared<const csr_matrix<double>>(
        basal::solver::read_matrix_market<double>(argument));
      const bool ones = solves(name, a, row_sums(*a), "A 1", why);
      const bool random = solves(name, a, random_numbers(a->rows()), "random", why);
      converged += ones && random ? 1 : 0;
    } catch (const std::exception& e) {
      std::printf("%-12s %s\n", name.c_str(), e.what());
    }
  }
  std::printf("%d of %d matrices at %g\n", converged, files, tolerance);
  return converged >= (at_least < 0 ? files : at_least) ? 0 : 1;
}
