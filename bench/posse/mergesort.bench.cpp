// Mergesort of a million integers: halves by forks, then a sequential merge into
// a buffer. std::sort does the leaves of 512, for everybody.

#include "bench/posse/fork.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace {

using namespace basal;

constexpr std::size_t leaf = 512;

// Sorts the n numbers at `from`, into `to` if `into` and in place if not.
template <class Fork>
void merge_sort(Fork fork, int* from, int* to, std::size_t n, bool into) {
  if (n <= leaf) {
    std::sort(from, from + n);
    if (into)
      std::copy_n(from, n, to);
    return;
  }
  const std::size_t half = n / 2;
  fork([=](auto f) { merge_sort(f, from, to, half, !into); },
       [=](auto f) { merge_sort(f, from + half, to + half, n - half, !into); });
  const int* sorted = into ? from : to;
  std::merge(sorted, sorted + half, sorted + half, sorted + n, into ? to : from);
}

const bench::suite mergesort_suite{[](bench::plan& plan) {
  const std::size_t n = plan.quick() ? 200'000 : 1'000'000;
  auto v = std::make_shared<std::vector<int>>();
  auto buffer = std::make_shared<std::vector<int>>(n);
  bench::program<bool> program{plan, "mergesort", std::to_string(n), true};
  program.prepare([=] {
    v->resize(n);
    unsigned random = 1;
    for (auto& x : *v)
      x = static_cast<int>(random = random * 1664525u + 1013904223u);
  });
  bench::add_fork_cases(program, [=](auto fork) {
    merge_sort(fork, v->data(), buffer->data(), n, false);
    return std::is_sorted(v->begin(), v->end());
  });
}};

} // namespace
