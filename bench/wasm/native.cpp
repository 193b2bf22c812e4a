// The native solver on the systems of bench.js, one process for all of its life:
//
//   native write FOLDER     writes NAME.bin and systems.json, and x of each as NAME.x
//   native serve            reads names, one a line; solves that system once for each and prints
//                           the microseconds. The plan is made at the first time and kept.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <basal/solver/solve.hpp>

#include "../../tests/solver/families.hpp"

using namespace basal::solver;

namespace {

struct one {
  const char* name;
  std::function<csr_matrix<double>()> make;
  solve_options options;
  bool in_cache; // of a second-level cache of 2 MiB
};

// Iterations are fixed where convergence would take long: both sides do the same arithmetic.
const std::vector<one>& systems() {
  static const std::vector<one> all{
    {"plane_60_cg",
     [] { return families::poisson_2d<double>(60); },
     {.method = method::conjugate_gradient,
      .preconditioner = preconditioning::jacobi,
      .tolerance = 1e-8},
     true},
    {"random_3000_neumann",
     [] { return families::dominant<double>(3000, 42, 0.8, false); },
     {.method = method::neumann, .tolerance = 1e-8},
     true},
    {"wind_60_bicgstab_ilu",
     [] { return families::convection<double>(60, 1); },
     {.method = method::bicgstab, .preconditioner = preconditioning::incomplete, .tolerance = 1e-8},
     true},
    {"plane_900_cg",
     [] { return families::poisson_2d<double>(900); },
     {.method = method::conjugate_gradient,
      .preconditioner = preconditioning::jacobi,
      .tolerance = 1e-12,
      .iteration_limit = 40},
     false},
    {"random_300000_bicgstab",
     [] { return families::dominant<double>(300'000, 43, 0.9, false, 12); },
     {.method = method::bicgstab,
      .preconditioner = preconditioning::jacobi,
      .tolerance = 1e-12,
      .iteration_limit = 10},
     false},
  };
  return all;
}

const one& named(const std::string& name) {
  for (const auto& s : systems())
    if (s.name == name)
      return s;
  throw std::runtime_error{"no system " + name};
}

// With its plan and right-hand side.
struct ready {
  explicit ready(const one& s)
    : matrix(std::make_shared<const csr_matrix<double>>(s.make())),
      b(families::numbers<double>(families::at(matrix->rows()), 1)),
      plan(linear_operator<double>{matrix}, portable(s.options)) {
  }

  static solve_options portable(solve_options o) {
    o.order = summation::portable;
    return o;
  }

  std::shared_ptr<const csr_matrix<double>> matrix;
  std::vector<double> b;
  solve_plan<double> plan;
};

template <class T>
void put(std::ofstream& to, std::span<const T> numbers) {
  to.write(reinterpret_cast<const char*>(numbers.data()),
           static_cast<std::streamsize>(numbers.size_bytes()));
}

// Doubles first, so that every array is aligned.
void write(const std::string& folder) {
  std::ofstream index{folder + "/systems.json"};
  index << "[";
  const char* separator = "";
  for (const auto& s : systems()) {
    const ready r{s};
    std::ofstream data{folder + "/" + s.name + ".bin", std::ios::binary};
    put<double>(data, r.matrix->values());
    put<double>(data, r.b);
    const auto result = solve<double>(r.plan, r.b);
    put<double>(data, result.x);
    put<index_type>(data, r.matrix->row_starts());
    put<index_type>(data, r.matrix->column_indices());
    if (!data.flush())
      throw std::runtime_error{"the files cannot be written"};
    index << separator << "\n{\"name\":\"" << s.name << "\",\"inCache\":" << std::boolalpha
          << s.in_cache << ",\"rows\":" << r.matrix->rows()
          << ",\"nonzeros\":" << r.matrix->nonzeros() << ",\"iterations\":" << result.iterations
          << ",\"options\":{\"method\":\"" << to_string(s.options.method)
          << "\",\"preconditioner\":\"" << to_string(s.options.preconditioner)
          << "\",\"tolerance\":" << s.options.tolerance
          << ",\"iterationLimit\":" << s.options.iteration_limit << "}}";
    separator = ",";
  }
  index << "]\n";
}

void serve() {
  std::map<std::string, std::unique_ptr<ready>> known;
  for (std::string name; std::getline(std::cin, name);) {
    auto& r = known[name];
    if (!r)
      r = std::make_unique<ready>(named(name));
    const auto start = std::chrono::steady_clock::now();
    const auto result = solve<double>(r->plan, r->b);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    std::cout << took.count() << " " << result.iterations << '\n' << std::flush;
  }
}

} // namespace

int main(int argc, char** argv) {
  try {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "write" && argc == 3)
      write(argv[2]);
    else if (what == "serve" && argc == 2)
      serve();
    else
      throw std::runtime_error{"usage: native write FOLDER | serve"};
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
