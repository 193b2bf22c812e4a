// An unbalanced tree, in the manner of UTS (Olivier et al., LCPC 2006): the root
// has 4000 children, any other node eight with a probability of 0.12, else none.
// So subtrees are of one node or of thousands, and nobody knows before. A node
// is a hash of its parent's, which costs some 20 ns where UTS takes SHA-1.
//
// uts        The children of a node are a fork of many branches.
// uts_tasks  Each is a task of a group, as with the peers.

#include "bench/posse/program.hpp"

#include <basal/posse/range_fork.hpp>
#include <basal/posse/task_group.hpp>

#include <tbb/task_group.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

namespace {

using namespace basal;

constexpr std::size_t root_children = 4000;
constexpr std::size_t children = 8;

using node = std::uint64_t;

node child_of(node parent, std::size_t i) {
  node x = parent + 0x9e3779b97f4a7c15u * (i + 1);
  for (int round = 0; round < 4; ++round) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
  }
  return x;
}

bool has_children(node n) {
  return (n >> 11) % 1000 < 122;
}

using counts = std::array<long, children>;

long total(const counts& of_children) {
  long sum = 1;
  for (long count : of_children)
    sum += count;
  return sum;
}

// Each counts the nodes below and including `n`.

long uts_serial(node n) {
  if (!has_children(n))
    return 1;
  long sum = 1;
  for (std::size_t i = 0; i < children; ++i)
    sum += uts_serial(child_of(n, i));
  return sum;
}

long uts(posse::member& m, node n) {
  if (!has_children(n))
    return 1;
  counts below;
  posse::fork_merge_n(m, children, [&below, n](posse::member& k, std::size_t i) {
    below[i] = uts(k, child_of(n, i));
  });
  return total(below);
}

long uts_tasks(posse::member& m, node n) {
  if (!has_children(n))
    return 1;
  counts below;
  posse::task_scope(m, [&](posse::task_group& group) {
    for (std::size_t i = 0; i < children; ++i)
      group.spawn([&below, n, i](posse::member& k) { below[i] = uts_tasks(k, child_of(n, i)); });
  });
  return total(below);
}

long uts_tbb(node n) {
  if (!has_children(n))
    return 1;
  counts below;
  tbb::task_group group;
  for (std::size_t i = 0; i + 1 < children; ++i)
    group.run([&below, n, i] { below[i] = uts_tbb(child_of(n, i)); });
  below[children - 1] = uts_tbb(child_of(n, children - 1));
  group.wait();
  return total(below);
}

long uts_openmp(node n) {
  if (!has_children(n))
    return 1;
  counts below;
  for (std::size_t i = 0; i < children; ++i) {
#pragma omp task shared(below) firstprivate(n, i)
    below[i] = uts_openmp(child_of(n, i));
  }
#pragma omp taskwait
  return total(below);
}

// The root's children by a loop.
template <class Count>
long from_root(Count count) {
  long sum = 1;
  for (std::size_t i = 0; i < root_children; ++i)
    sum += count(child_of(1, i));
  return sum;
}

using root_counts = std::array<long, root_children>;

long total(const root_counts& below) {
  return std::accumulate(below.begin(), below.end(), 1L);
}

long whole_uts(posse::member& m) {
  root_counts below;
  posse::fork_merge_n(m, root_children, [&below](posse::member& k, std::size_t i) {
    below[i] = uts(k, child_of(1, i));
  });
  return total(below);
}

long whole_uts_tasks(posse::member& m) {
  root_counts below;
  posse::task_scope(m, [&below](posse::task_group& group) {
    for (std::size_t i = 0; i < root_children; ++i)
      group.spawn([&below, i](posse::member& k) { below[i] = uts_tasks(k, child_of(1, i)); });
  });
  return total(below);
}

long whole_uts_tbb() {
  root_counts below;
  tbb::task_group group;
  for (std::size_t i = 0; i < root_children; ++i)
    group.run([&below, i] { below[i] = uts_tbb(child_of(1, i)); });
  group.wait();
  return total(below);
}

long whole_uts_openmp() {
  root_counts below;
#pragma omp parallel
#pragma omp single
  {
    for (std::size_t i = 0; i < root_children; ++i) {
#pragma omp task shared(below) firstprivate(i)
      below[i] = uts_openmp(child_of(1, i));
    }
  }
  return total(below);
}

inline constexpr posse::pure<whole_uts> pure_uts{"uts"};
inline constexpr posse::pure<whole_uts_tasks> pure_uts_tasks{"uts_tasks"};

template <class Run>
void add_tree(bench::plan& plan, const char* name, Run run) {
  const long nodes = from_root(uts_serial);
  bench::program<long> program{plan, name, std::to_string(nodes), nodes};
  program.serial([] { return from_root(uts_serial); });
  program.basal(run);
  program.tbb(whole_uts_tbb);
  program.openmp(whole_uts_openmp, "openmp_tasks");
}

const bench::suite uts_suite{[](bench::plan& plan) {
  add_tree(plan, "uts", [](posse::runtime& runtime) { return pure_uts(runtime); });
  add_tree(plan, "uts_tasks", [](posse::runtime& runtime) { return pure_uts_tasks(runtime); });
}};

} // namespace
