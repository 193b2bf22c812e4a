// n-queens: counts the solutions of n = 12 with a fork over the columns of
// every row, without a cut-off.
//
// Peers: oneTBB's task_group and OpenMP's tasks, one task a column.

#include "bench/posse/program.hpp"

#include <basal/posse/range_fork.hpp>

#include <tbb/task_group.h>

#include <array>

namespace {

using namespace basal;

constexpr unsigned max_n = 16;

// The columns of the queens in the first rows. (With bit masks the search takes
// 6 ns a row, less than two calls; that would measure calls, as fib does.)
struct board {
  unsigned n;
  unsigned rows = 0;
  std::array<signed char, max_n> columns{};

  bool allows(int column) const {
    for (unsigned i = 0; i < rows; ++i) {
      int d = columns[i] - column;
      int distance = static_cast<int>(rows - i);
      if (d == 0 || d == distance || d == -distance)
        return false;
    }
    return true;
  }

  board with(signed char column) const {
    board next{*this};
    next.columns[next.rows++] = column;
    return next;
  }
};

// The columns that the next row's queen may take.
unsigned columns_of(const board& b, std::array<signed char, max_n>& columns) {
  unsigned found = 0;
  for (unsigned c = 0; c < b.n; ++c)
    if (b.allows(static_cast<int>(c)))
      columns[found++] = static_cast<signed char>(c);
  return found;
}

// The sequential search can do with one board.
long queens_serial(board& b) {
  if (b.rows == b.n)
    return 1;
  long solutions = 0;
  for (unsigned c = 0; c < b.n; ++c)
    if (b.allows(static_cast<int>(c))) {
      b.columns[b.rows++] = static_cast<signed char>(c);
      solutions += queens_serial(b);
      --b.rows;
    }
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
  if (b.rows == b.n)
    return 1;
  std::array<signed char, max_n> columns;
  std::array<long, max_n> results;
  auto n = columns_of(b, columns);
  posse::fork_merge_n(
    m, n, [&](posse::member& k, std::size_t i) { results[i] = queens(k, b.with(columns[i])); });
  return total(results, n);
}

inline constexpr posse::pure<queens> pure_queens{"queens"};

long queens_tbb(const board& b) {
  if (b.rows == b.n)
    return 1;
  std::array<signed char, max_n> columns;
  std::array<long, max_n> results;
  auto n = columns_of(b, columns);
  tbb::task_group group;
  for (unsigned i = 0; i + 1 < n; ++i)
    group.run([&, i] { results[i] = queens_tbb(b.with(columns[i])); });
  if (n > 0)
    results[n - 1] = queens_tbb(b.with(columns[n - 1]));
  group.wait();
  return total(results, n);
}

long queens_openmp(const board& b) {
  if (b.rows == b.n)
    return 1;
  std::array<signed char, max_n> columns;
  std::array<long, max_n> results;
  auto n = columns_of(b, columns);
  for (unsigned i = 0; i < n; ++i) {
#pragma omp task shared(results, columns, b) firstprivate(i)
    results[i] = queens_openmp(b.with(columns[i]));
  }
#pragma omp taskwait
  return total(results, n);
}

const bench::suite queens_suite{[](bench::plan& plan) {
  const unsigned n = plan.quick() ? 10 : 12;
  const board empty{n};
  const long solutions = plan.quick() ? 724 : 14200;
  bench::program<long> program{plan, "queens", std::to_string(n), solutions};
  program.serial([=] {
    auto b = empty;
    return queens_serial(b);
  });
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
