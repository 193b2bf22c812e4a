// Trees without a cut-off: a fork at every inner node.
//
// tree_sum adds up the nodes of a balanced tree in memory, of 10^7 nodes and of
// 10^3, which takes a microsecond: nothing to win there, but much to lose.
// skewed_tree counts an implicit tree whose inner nodes cost some 20 ns and
// whose left branches hold seven eighths of them: what shows is how work is
// spread. skynet spawns ten children at each of seven levels and adds up what
// its ten million leaves return.
//
// Peers: oneTBB's parallel_invoke for two branches, task_group for ten, and
// OpenMP's tasks; for the large tree and skynet without OpenMP, which takes 5 s
// where oneTBB takes 0.2 to 0.6.

#include "bench/posse/program.hpp"
#include "bench/posse/tree_sum.hpp"

#include <basal/posse/range_fork.hpp>

#include <tbb/parallel_invoke.h>
#include <tbb/task_group.h>

#include <array>
#include <memory>

namespace {

using namespace basal;

// -- tree_sum -----------------------------------------------------------------

// The nodes of a balanced tree, each before those below it.
class tree {
public:
  explicit tree(std::size_t n) {
    nodes_.reserve(n);
    root_ = build(n);
  }

  const bench::tree_node* root() const {
    return root_;
  }

private:
  const bench::tree_node* build(std::size_t n) {
    if (n == 0)
      return nullptr;
    auto& made = nodes_.emplace_back(
      bench::tree_node{static_cast<long>(nodes_.size() % 7), nullptr, nullptr});
    made.left = build(n / 2);
    made.right = build(n - 1 - n / 2);
    return &made;
  }

  std::vector<bench::tree_node> nodes_;
  const bench::tree_node* root_;
};

void add_tree(bench::plan& plan, const char* name, std::size_t n) {
  // Built on first use: a run of other cases need not.
  auto shared = std::make_shared<std::unique_ptr<tree>>();
  auto root = [=] { return (*shared)->root(); };
  long expected = 0;
  for (std::size_t i = 0; i < n; ++i)
    expected += static_cast<long>(i % 7);
  // A tree too small to be worth a second thread would only raise the mean over peers.
  const auto group = n == 1'000 ? bench::counted_in::nothing : bench::counted_in::programs;
  bench::program<long> program{plan, name, std::to_string(n), expected, group};
  program.setup([=] {
    if (*shared == nullptr)
      *shared = std::make_unique<tree>(n);
  });
  program.serial([=] { return bench::sum_serial(root()); });
  program.basal([=](posse::runtime& runtime) { return bench::pure_sum(runtime, root()); });
  program.tbb([=] { return bench::sum_tbb(root()); });
  if (n > 1'000)
    return;
  program.openmp([=] {
    long result = 0;
#pragma omp parallel shared(result)
#pragma omp single
    result = bench::sum_openmp(root());
    return result;
  });
}

const bench::suite tree_suite{[](bench::plan& plan) {
  const std::size_t large = plan.quick() ? 1'000'000 : 10'000'000;
  add_tree(plan, "tree_sum", large);
  add_tree(plan, "tree_sum", 1'000);
  auto of = [](std::size_t n, const char* impl, int threads) {
    return bench::case_name("tree_sum", n, impl, threads);
  };
  plan.figure("tree_overhead", bench::ratio(of(large, "basal", 1), of(large, "serial", 1)));
  plan.figure("tree1k_overhead", bench::ratio(of(1'000, "basal", 1), of(1'000, "serial", 1)));
  plan.figure("tree1k_2_over_1", bench::ratio(of(1'000, "basal", 2), of(1'000, "basal", 1)));
}};

// -- skewed_tree --------------------------------------------------------------

// Work of an inner node: 32 steps, each of which waits for the last.
long weigh(long n) {
  auto x = static_cast<unsigned long>(n);
  for (int i = 0; i < 32; ++i)
    x = x * 6364136223846793005u + 1442695040888963407u;
  return static_cast<long>(x >> 63);
}

long left_of(long n) {
  return n - 1 - n / 8;
}

long skewed_serial(long n) {
  if (n < 2)
    return n;
  return weigh(n) + skewed_serial(left_of(n)) + skewed_serial(n / 8);
}

long skewed(posse::member& m, long n) {
  if (n < 2)
    return n;
  auto [a, b] = m.fork_merge([=](auto& k) { return skewed(k, left_of(n)); },
                             [=](auto& k) { return skewed(k, n / 8); });
  return weigh(n) + a + b;
}

inline constexpr posse::pure<skewed> pure_skewed{"skewed_tree"};

long skewed_tbb(long n) {
  if (n < 2)
    return n;
  long a = 0;
  long b = 0;
  tbb::parallel_invoke([&] { a = skewed_tbb(left_of(n)); }, [&] { b = skewed_tbb(n / 8); });
  return weigh(n) + a + b;
}

long skewed_openmp(long n) {
  if (n < 2)
    return n;
  long a = 0;
  long b = 0;
#pragma omp task shared(b)
  b = skewed_openmp(n / 8);
  a = skewed_openmp(left_of(n));
#pragma omp taskwait
  return weigh(n) + a + b;
}

const bench::suite skewed_suite{[](bench::plan& plan) {
  const long n = plan.quick() ? 200'000 : 2'000'000;
  bench::program<long> program{plan, "skewed_tree", std::to_string(n), skewed_serial(n)};
  program.serial([=] { return skewed_serial(bench::opaque(n)); });
  program.basal([=](posse::runtime& runtime) { return pure_skewed(runtime, n); });
  program.tbb([=] { return skewed_tbb(n); });
  program.openmp([=] {
    long result = 0;
#pragma omp parallel shared(result)
#pragma omp single
    result = skewed_openmp(n);
    return result;
  });
}};

// -- skynet -------------------------------------------------------------------

constexpr int children = 10;

// A real call per child, as in fib.bench.cpp: what spawning is compared with.
[[gnu::noinline]] long skynet_noinline(long first, long size) {
  if (size == 1)
    return first;
  long total = 0;
  for (long i = 0; i < children; ++i) {
    total += skynet_noinline(first + i * (size / children), size / children);
    asm volatile("" : "+r"(total));
  }
  return total;
}

// As the compiler likes it: it adds up the last level's arithmetic series.
long skynet_serial(long first, long size) {
  if (size == 1)
    return first;
  long total = 0;
  for (long i = 0; i < children; ++i)
    total += skynet_serial(first + i * (size / children), size / children);
  return total;
}

long total(const std::array<long, children>& results) {
  long sum = 0;
  for (auto r : results)
    sum += r;
  return sum;
}

long skynet(posse::member& m, long first, long size) {
  if (size == 1)
    return first;
  std::array<long, children> results;
  posse::fork_merge_n(m, children,
                      [=, part = size / children, &results](posse::member& k, std::size_t i) {
                        results[i] = skynet(k, first + static_cast<long>(i) * part, part);
                      });
  return total(results);
}

inline constexpr posse::pure<skynet> pure_skynet{"skynet"};

long skynet_tbb(long first, long size) {
  if (size == 1)
    return first;
  std::array<long, children> results;
  tbb::task_group group;
  for (std::size_t i = 0; i + 1 < children; ++i)
    group.run([=, &results] {
      results[i] = skynet_tbb(first + static_cast<long>(i) * (size / children), size / children);
    });
  results.back() = skynet_tbb(first + (children - 1) * (size / children), size / children);
  group.wait();
  return total(results);
}

const bench::suite skynet_suite{[](bench::plan& plan) {
  const long n = plan.quick() ? 1'000'000 : 10'000'000;
  bench::program<long> program{plan, "skynet", std::to_string(n), n * (n - 1) / 2};
  program.serial([=] { return skynet_noinline(0, bench::opaque(n)); }, "serial_noinline");
  program.other_serial([=] { return skynet_serial(0, bench::opaque(n)); }, "serial");
  program.basal([=](posse::runtime& runtime) { return pure_skynet(runtime, 0L, n); });
  program.tbb([=] { return skynet_tbb(0, n); });
}};

} // namespace
