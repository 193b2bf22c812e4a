// Programs that used oneTBB, OpenMP or std::async: the same loops and tasks as pure functions.
#include <basal/posse/posse.hpp>

#include <array>
#include <cstddef>
#include <iostream>
#include <span>
#include <vector>

namespace posse = basal::posse;

// Tasks in tasks (tbb::task_group, #pragma omp task, std::async): each call may run elsewhere, and
// is an ordinary call if nobody is idle. Of two or three calls: m.fork_merge(left, right).
long count_queens(posse::member& m, unsigned free, unsigned left, unsigned right) {
  if (free == 0)
    return 1;
  std::array<unsigned, 32> places; // a vector's allocation takes longer than a node
  std::size_t count = 0;
  for (unsigned open = free & ~(left | right); open != 0; open &= open - 1)
    places[count++] = open & -open;
  const auto count_behind = [=](posse::member& k, unsigned place) {
    return count_queens(k, free & ~place, (left | place) << 1, (right | place) >> 1);
  };
  return posse::map_reduce(m, std::span{places.data(), count}, count_behind, 0L);
}
inline constexpr posse::pure<count_queens> queens{"queens"};

int main() {
  posse::runtime runtime; // tbb::global_control, OMP_NUM_THREADS: {.compute_executors = 2}
  std::vector<double> x(1000, 1.0);

  // tbb::parallel_for, #pragma omp parallel for: for_each. No grain size is chosen: ranges are
  // halved when somebody idle asks for work.
  posse::for_each(runtime, x, [](double& value) { value *= 2.0; });

  // tbb::parallel_reduce, #pragma omp parallel for reduction(+ : sum): reduce. The order of the
  // sum does not depend on what was stolen.
  std::cout << posse::reduce(runtime, x, 0.0) << '\n';

  std::cout << queens(runtime, (1U << 8) - 1, 0U, 0U) << '\n';

  // Loops in a row, as an iterative solver's: one call, whose member they are given.
  std::vector<double> heat(1000), next(1000);
  heat.front() = next.front() = 1;
  std::cout << runtime.run([&](posse::member& m) {
    for (int step = 0; step < 10; ++step) {
      posse::for_each(m, 1, 999, [&](int i) { next[i] = (heat[i - 1] + heat[i + 1]) / 2; });
      heat.swap(next);
    }
    return posse::reduce(m, heat, 0.0);
  }) << '\n';
}
