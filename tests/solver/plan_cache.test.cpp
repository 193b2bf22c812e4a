#include <basal/solver/detail/plan_cache.hpp>

#include <basal/solver/errors.hpp>
#include <basal/solver/solve.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "problems.hpp"

using namespace basal::solver;

namespace {

constexpr std::size_t plenty = std::size_t{1} << 30;

/// Whether two plans are one.
bool same(const solve_plan<double>& a, const solve_plan<double>& b) {
  return &a.data() == &b.data();
}

} // namespace

TEST_CASE("a plan is made once for a matrix and its options") {
  plan_cache<double> cache{plenty};
  const auto a = problems::dominant(50, 1);
  const auto first = cache.get(a, {});
  CHECK(same(cache.get(a, {}), first));
  CHECK_FALSE(same(cache.get(a, {.tolerance = 1e-3}), first));
  CHECK_FALSE(same(cache.get(a, {.entry = 3}), cache.get(a, {.entry = 4})));
  CHECK_FALSE(same(cache.get(problems::dominant(50, 1), {}), first)); // equal, but another object
  const auto stats = cache.stats();
  CHECK(stats.hits == 1);
  CHECK(stats.misses == 5);
  CHECK(stats.plans == 5);
  CHECK(stats.evicted == 0);
}

TEST_CASE("of more plans than there is room for those used last stay") {
  const auto a = problems::dominant(200, 1), b = problems::dominant(200, 2),
             c = problems::dominant(200, 3);
  const solve_options options{.method = method::neumann};
  // Their rows have nearly the same number of entries.
  const auto each = solve_plan<double>{a, options}.bytes();
  CHECK(each > a->bytes());
  plan_cache<double> cache{2 * each + each / 2};
  const auto of_a = cache.get(a, options), of_b = cache.get(b, options);
  cache.get(a, options);
  cache.get(c, options); // takes the place of b's
  CHECK(cache.stats().evicted == 1);
  CHECK(cache.stats().plans == 2);
  CHECK(cache.stats().bytes <= 2 * each + each / 2);
  CHECK(same(cache.get(a, options), of_a));
  CHECK_FALSE(same(cache.get(b, options), of_b));
  CHECK(solve<double>(of_b, problems::numbers(200, 1)).state == state::converged);
}

TEST_CASE("a plan that is larger than all the room is not kept, nor drives others out") {
  const auto small = problems::dominant(20, 1), large = problems::dominant(2000, 1);
  plan_cache<double> cache{solve_plan<double>{small, {}}.bytes()};
  cache.get(small, {});
  cache.get(large, {});
  CHECK(cache.stats().plans == 1);
  CHECK(cache.stats().evicted == 0);
  plan_cache<double> none{0};
  CHECK_FALSE(same(none.get(small, {}), none.get(small, {})));
  CHECK(none.stats().plans == 0);
}

TEST_CASE("factors and tables count, shared matrices are kept alive, and let go") {
  auto a = problems::dominant(100, 1);
  const auto plain = solve_plan<double>{a, {.method = method::neumann}}.bytes();
  const auto factored = solve_plan<double>{a,
                                           {.method = method::bicgstab,
                                            .preconditioner = preconditioning::incomplete}}
                          .bytes();
  const auto walking = solve_plan<double>{a, {.method = method::random_walk, .entry = 0}}.bytes();
  CHECK(factored > plain + 8 * static_cast<std::size_t>(a->nonzeros()));
  CHECK(walking > plain + 8 * static_cast<std::size_t>(a->nonzeros()));

  const std::weak_ptr<const csr_matrix<double>> watched = a;
  plan_cache<double> cache{plain};
  cache.get(a, {.method = method::neumann});
  a.reset();
  CHECK_FALSE(watched.expired());
  cache.get(problems::dominant(99, 2, 0.5, 6), {.method = method::neumann});
  CHECK(watched.expired());
}

TEST_CASE("a plan that cannot be made is not kept; of an operator without matrix none is") {
  plan_cache<double> cache{plenty};
  const auto a = problems::dominant(20, 1);
  CHECK_THROWS_AS(cache.get(a, {.tolerance = -1}), error);
  const linear_operator<double> twice{1, [](auto x, auto y) { y[0] = 2 * x[0]; }, {2.0}};
  CHECK_FALSE(same(cache.get(twice, {}), cache.get(twice, {})));
  CHECK(cache.stats().plans == 0);
  CHECK(cache.stats().misses == 1);
}

TEST_CASE("threads that come at once get plans of their matrix, and nothing is lost count of") {
  std::vector<problems::matrix_ptr> matrices;
  for (unsigned i = 0; i < 6; ++i)
    matrices.push_back(problems::dominant(20, i));
  // Room for about half of them.
  plan_cache<double> cache{3 * solve_plan<double>{matrices[0], {}}.bytes()};
  constexpr int calls = 300;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < calls; ++i) {
        const auto& a = matrices[(t + i * i) % matrices.size()];
        if (cache.get(a, {}).matrix().matrix() != a)
          wrong.fetch_add(1);
      }
    });
  for (auto& t : threads)
    t.join();
  CHECK(wrong == 0);
  const auto stats = cache.stats();
  CHECK(stats.hits + stats.misses == 4 * calls);
  CHECK(stats.misses >= stats.evicted + stats.plans);
  CHECK(stats.plans <= 4);
}
