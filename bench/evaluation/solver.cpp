// SB1 to SB6: the tables of RuVector's ADR-STS-009.

#include "bench/evaluation/report.hpp"
#include "bench/evaluation/work.hpp"
#include "bench/support/keep.hpp"
#include "bench/support/machine.hpp"

#include <basal/executors/executor_pool.hpp>
#include <basal/solver/batch.hpp>
#include <basal/solver/detail/aligned_array.hpp>
#include <basal/solver/detail/tick_scheduler.hpp>
#include <basal/solver/solve_plan.hpp>
#include <basal/solver/stepper.hpp>
#include <basal/solver/triplets.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace basal::evaluation {

using bench::standing;

namespace {

constexpr std::size_t vectors = 10'000;
constexpr std::size_t dimensions = 384;

// Squared distances of `count` vectors to the first one, added up.
float sum_of_distances(const float* first, const float* from, std::size_t count) {
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    float squares = 0;
    for (std::size_t j = 0; j < dimensions; ++j) {
      const float d = first[j] - from[i * dimensions + j];
      squares += d * d;
    }
    sum += squares;
  }
  return sum;
}

double distances_us(const std::vector<float>& all, int threads, int rounds) {
  compute_threads pool{threads - 1};
  std::vector<double> us;
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> left{threads - 1};
    const auto part = [&](int i) {
      const auto n = static_cast<std::size_t>(threads);
      const auto begin = vectors * static_cast<std::size_t>(i) / n;
      const auto end = vectors * static_cast<std::size_t>(i + 1) / n;
      const float sum = sum_of_distances(all.data(), all.data() + begin * dimensions, end - begin);
      bench::keep(sum);
    };
    const auto start = clock::now();
    for (int i = 1; i < threads; ++i)
      pool.post([&, i] {
        part(i);
        left.fetch_sub(1, std::memory_order_release);
      });
    part(0);
    while (left.load(std::memory_order_acquire) > 0)
      std::this_thread::yield();
    us.push_back(us_since(start));
  }
  return median(us);
}

} // namespace

void distances(report& r, const options& o) {
  const int rounds = o.quick ? 20 : 100;
  const int cpus = bench::this_machine().usable_cpus;
  std::vector<float> all(vectors * dimensions);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>(i % 97);
  const double alone = distances_us(all, 1, rounds);
  const std::pair<int, const char*> published[]
    = {{2, "85 to 95 %"}, {4, "70 to 85 %"}, {8, "50 to 70 %"}};
  std::vector<std::vector<std::string>> rows
    = {{"threads", "us", "efficiency", "source"}, {"1", number(alone), "100 %", "100 %"}};
  for (const auto& [threads, source] : published) {
    const auto what = "efficiency of " + std::to_string(threads) + " threads, 10^4 x 384 distances";
    if (threads > cpus) {
      r.judge({.table = "SB1",
               .what = what,
               .kind = standing::unreachable,
               .source = source,
               .why = std::to_string(cpus) + " CPUs here"});
      continue;
    }
    const double us = distances_us(all, threads, rounds);
    const double efficiency = alone / us / threads;
    rows.push_back({std::to_string(threads), number(us), percent(efficiency), source});
    r.judge({"SB1", what, standing::absolute, source, efficiency});
  }
  r.heading("SB1. Threads");
  r.table(rows);
  r.judge({.table = "SB2",
           .what = "GB/s of 1, 2, 4, 8, 16 threads",
           .kind = standing::unreachable,
           .source = "8/15/28/38/42 of 50",
           .why = "a model of a machine with 50 GB/s"});
}

namespace {

struct solved {
  double us = 0;
  double terms = 0;
  bool converged = true;
};

struct linear_system {
  solver::linear_operator<double> a;
  std::vector<double> b;
};

// Rows of eight entries. All signs off the diagonal are equal and the rows' sums are one, so the
// Jacobi iteration's spectral radius is exactly `radius`; the solution, all ones, is the vector
// that shrinks by no more than that at each term.
linear_system with_radius(solver::index_type size, double radius, unsigned seed) {
  std::mt19937 random{seed};
  std::uniform_int_distribution<solver::index_type> column{0, size - 2};
  std::uniform_real_distribution<double> value{0.1, 1};
  solver::triplets<double> entries{size, size};
  std::vector<double> b;
  for (solver::index_type i = 0; i < size; ++i) {
    double sum = 0;
    for (int k = 0; k < 7; ++k) {
      const auto v = value(random);
      entries.add(i, (i + 1 + column(random)) % size, -v);
      sum += v;
    }
    entries.add(i, i, sum / radius);
    b.push_back(sum / radius - sum);
  }
  return {std::make_shared<const solver::csr_matrix<double>>(std::move(entries).build()), b};
}

// By Neumann's series to 1e-6 relative.
solved neumann(solver::index_type n, double radius, unsigned seed, int rounds) {
  const auto [a, b] = with_radius(n, radius, seed);
  const solver::solve_plan<double> plan{a, {.method = solver::method::neumann}};
  std::vector<double> x(b.size());
  solver::detail::aligned_array<std::byte> scratch{plan.scratch_bytes()};
  solved result;
  std::vector<double> us;
  for (int i = 0; i < rounds; ++i) {
    std::fill(x.begin(), x.end(), 0.0);
    const auto start = clock::now();
    solver::stepper<double> s{plan, b, x, {scratch.data(), scratch.size()}};
    while (s.report().state == solver::state::running)
      s.step();
    us.push_back(us_since(start));
    result.converged = result.converged && s.report().state == solver::state::converged;
    result.terms = static_cast<double>(s.steps());
  }
  result.us = median(us);
  return result;
}

} // namespace

void single_solves(report& r, const options& o) {
  const int rounds = o.quick ? 200 : 2000;
  const auto small = neumann(128, 0.05, 42, rounds);
  const auto large = neumann(1024, 0.15, 43, rounds);
  r.heading("SB3. Single solves by Neumann's series, to 1e-6");
  r.table({{"size, radius", "us", "terms", "source (predicted)"},
           {"128, 0.05", number(small.us), number(small.terms), "2 to 5 us"},
           {"1,024, 0.15", number(large.us), number(large.terms), "20 to 80 us"}});
  const auto terms = [](double radius) { return std::ceil(std::log(1e-6) / std::log(radius)); };
  r.judge({"SB3", "terms, size 128, radius 0.05", standing::exact, "5", small.terms,
           bench::equals(terms(0.05))});
  r.judge({"SB3", "terms, size 1,024, radius 0.15", standing::exact, "8", large.terms,
           bench::equals(terms(0.15))});
  r.judge({"SB3", "solves that converged, of both", standing::exact, "none",
           static_cast<double>(small.converged) + static_cast<double>(large.converged),
           bench::equals(2)});
  r.judge({"SB3", "size 128, us", standing::absolute, "2 to 5", small.us});
  r.judge({"SB3", "size 1,024, us", standing::absolute, "20 to 80", large.us});
}

void batches(report& r, const options& o) {
  const std::size_t count = o.quick ? 250 : 1000;
  const auto [a, b] = with_radius(1024, 0.15, 43);
  const solver::solve_plan<double> plan{a, {.method = solver::method::neumann}};
  std::size_t failed = 0;
  const auto once_ms = [&](std::size_t executor_count) {
    executors::executor_pool pool{{.executors = executor_count}};
    solver::batch_solver solves{pool};
    std::vector<double> ms;
    for (int i = 0; i < 5; ++i) {
      std::vector<solver::solve_request<double>> requests;
      for (std::size_t j = 0; j < count; ++j)
        requests.emplace_back(plan, b);
      const auto start = clock::now();
      const auto outcomes = solves.solve_batch(std::move(requests), {.block_width = 1});
      ms.push_back(us_since(start) / 1e3);
      failed += static_cast<std::size_t>(
        std::count_if(outcomes.begin(), outcomes.end(), [](const auto& x) {
          return x.failure || x.result.state != solver::state::converged;
        }));
    }
    return median(ms);
  };
  const double one = once_ms(1);
  const double two = once_ms(2);
  r.heading("SB4. Batches of " + std::to_string(count) + " solves of size 1,024");
  r.table({{"executors", "ms", "efficiency"},
           {"1", number(one), "100 %"},
           {"2", number(two), percent(one / two / 2)}});
  r.judge({"SB4", "solves of the batches that failed", standing::exact, "none",
           static_cast<double>(failed), bench::equals(0)});
  if (bench::this_machine().usable_cpus >= 2)
    r.judge({"SB4", "efficiency of 2 executors, Neumann", standing::ratio,
             "0.90 to 0.97 (predicted)", one / two / 2, bench::at_least(0.8)});
  r.judge({.table = "SB4",
           .what = "ms on 8 threads: four batches",
           .kind = standing::unreachable,
           .source = "0.55/8.5/1.8/5.2 (5.8 to 6.7 x)",
           .why = "predictions for eight cores"});
  r.judge({.table = "SB5",
           .what = "WebAssembly",
           .kind = standing::unreachable,
           .source = "a fifth of native",
           .why = "no such target"});
}

namespace {

// Each tick brings the residual down by `factor`, after one that makes the first guess.
struct geometric {
  double factor;
  double residual = 1;
  bool seeded = false;

  [[gnu::noinline]] solver::step_report step() {
    if (std::exchange(seeded, true))
      residual *= factor;
    return {residual, residual <= 1e-6 ? solver::state::converged : solver::state::running};
  }
};

solver::tick_result run_geometric(double factor, solver::budget limits) {
  geometric program{factor};
  return solver::run_ticks(program, limits);
}

} // namespace

void ticks(report& r, const options& o) {
  const std::uint64_t n = o.quick ? 1'000'000 : 10'000'000;
  solver::budget limits;
  limits.ticks = n;
  const auto tick_ns = [&](auto... observer) {
    std::vector<double> ns;
    for (int i = 0; i < 5; ++i) {
      geometric program{1};
      const auto start = clock::now();
      const auto result = solver::run_ticks(program, limits, observer...);
      ns.push_back(us_since(start) * 1e3 / static_cast<double>(result.ticks));
    }
    return median(ns);
  };
  const double ns = tick_ns();
  r.heading("SB6. The tick scheduler");
  r.table({{"", "ours", "source"},
           {"an empty tick with its comparison, ns", number(ns), "98"},
           {"ticks per second", number(1e9 / ns), "11,000,000"},
           {"100,000 ticks, ms", number(ns / 10), "9.8"}});
  r.judge({"SB6", "tick, ns", standing::absolute, "98", ns});
  r.judge({"SB6", "ticks per second", standing::absolute, "11,000,000", 1e9 / ns});
  for (const double factor : {0.3, 0.5, 0.9}) {
    const auto expected = std::ceil(std::log(1e-6) / std::log(factor)) + 1;
    const auto result = run_geometric(factor, {});
    r.judge({"SB6", "ticks until 1e-6 at radius " + bench::figure_text(factor), standing::exact,
             "ceil(ln 1e-6 / ln radius) and one", static_cast<double>(result.ticks),
             bench::equals(expected)});
  }
  limits.ticks = 1000;
  const auto spent = run_geometric(1, limits);
  r.judge({"SB6", "ticks that a budget of 1,000 allows", standing::exact, "1000",
           static_cast<double>(spent.ticks), bench::equals(1000)});
  r.judge({"SB6", "runs of it that say budget_exhausted", standing::exact, "1",
           static_cast<double>(spent.state == solver::state::budget_exhausted), bench::equals(1)});
}

} // namespace basal::evaluation
