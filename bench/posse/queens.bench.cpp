// n-queens: counts the solutions of n = 13; a fork for the columns of every
// row, without a cut-off. Leaves take about as long as a fork.
//
// Peers: oneTBB's task_group and OpenMP's tasks, one task a column.

#include "bench/posse/program.hpp"

#include <basal/posse/range_fork.hpp>

#include <tbb/task_group.h>

#include <array>
#include <bit>

namespace {

using namespace basal;

constexpr unsigned max_n = 16;

// The squares of the next row that earlier queens attack.
struct board {
  unsigned all; ///< a bit per column
  unsigned columns;
  unsigned left;
  unsigned right;

  unsigned open() const {
    return all & ~(columns | left | right);
  }

  board with(unsigned square) const {
    return {all, columns | square, (left | square) << 1, (right | square) >> 1};
  }
};

// The open squares of a row, as single bits.
unsigned squares_of(unsigned open, std::array<unsigned, max_n>& squares) {
  unsigned n = 0;
  for (; open != 0; open &= open - 1)
    squares[n++] = open & -open;
  return n;
}

long queens_serial(const board& b) {
  if (b.columns == b.all)
    return 1;
  long solutions = 0;
  for (auto open = b.open(); open != 0; open &= open - 1)
    solutions += queens_serial(b.with(open & -open));
  return solutions;
}

template <class Results>
long total(const Results& results, unsigned n) {
  long sum = 0;
  for (unsigned i = 0; i < n; ++i)
    sum += results[i];
  return sum;
}

long queens(posse::member& m, const board& b) {
  if (b.columns == b.all)
    return 1;
  std::array<unsigned, max_n> squares;
  std::array<long, max_n> results;
  auto n = squares_of(b.open(), squares);
  posse::fork_merge_n(
    m, n, [&](posse::member& k, std::size_t i) { results[i] = queens(k, b.with(squares[i])); });
  return total(results, n);
}

inline constexpr posse::pure<queens> pure_queens{"queens"};

long queens_tbb(const board& b) {
  if (b.columns == b.all)
    return 1;
  std::array<unsigned, max_n> squares;
  std::array<long, max_n> results;
  auto n = squares_of(b.open(), squares);
  tbb::task_group group;
  for (unsigned i = 0; i + 1 < n; ++i)
    group.run([&, i] { results[i] = queens_tbb(b.with(squares[i])); });
  if (n > 0)
    results[n - 1] = queens_tbb(b.with(squares[n - 1]));
  group.wait();
  return total(results, n);
}

long queens_openmp(const board& b) {
  if (b.columns == b.all)
    return 1;
  std::array<unsigned, max_n> squares;
  std::array<long, max_n> results;
  auto n = squares_of(b.open(), squares);
  for (unsigned i = 0; i < n; ++i) {
#pragma omp task shared(results, squares, b) firstprivate(i)
    results[i] = queens_openmp(b.with(squares[i]));
  }
#pragma omp taskwait
  return total(results, n);
}

const bench::suite queens_suite{[](bench::plan& plan) {
  const unsigned n = plan.quick() ? 10 : 13;
  const board empty{(1u << n) - 1, 0, 0, 0};
  const long solutions = plan.quick() ? 724 : 73712;
  bench::program<long> program{plan, "queens", std::to_string(n), solutions};
  program.serial([=] { return queens_serial(empty); });
  program.basal([=](posse::runtime& runtime) { return pure_queens(runtime, empty); });
  program.tbb([=] { return queens_tbb(empty); });
  program.openmp([=] {
    long result = 0;
#pragma omp parallel shared(result)
#pragma omp single
    result = queens_openmp(empty);
    return result;
  });
}};

} // namespace
