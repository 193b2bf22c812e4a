#include "bench/posse/tree_sum.hpp"

#include <tbb/parallel_invoke.h>

namespace basal::bench {

long sum_serial(const tree_node* t) {
  return t == nullptr ? 0 : t->value + sum_serial(t->left) + sum_serial(t->right);
}

long sum_basal(posse::member& m, const tree_node* t) {
  if (t == nullptr)
    return 0;
  auto [a, b] = m.fork_merge([=](auto& k) { return sum_basal(k, t->left); },
                             [=](auto& k) { return sum_basal(k, t->right); });
  return t->value + a + b;
}

long sum_tbb(const tree_node* t) {
  if (t == nullptr)
    return 0;
  long a = 0;
  long b = 0;
  tbb::parallel_invoke([&] { a = sum_tbb(t->left); }, [&] { b = sum_tbb(t->right); });
  return t->value + a + b;
}

long sum_openmp(const tree_node* t) {
  if (t == nullptr)
    return 0;
  long a = 0;
  long b = 0;
#pragma omp task shared(a)
  a = sum_openmp(t->left);
  b = sum_openmp(t->right);
#pragma omp taskwait
  return t->value + a + b;
}

} // namespace basal::bench
