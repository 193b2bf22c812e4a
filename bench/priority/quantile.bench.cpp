// Cost of one observation to a quantile estimator. Peer: Boost.Accumulators' p_square_quantile, the
// same algorithm.

#include "bench/support/bench.hpp"

#include <basal/priority/detail/p2_quantile.hpp>
#include <basal/priority/detail/windowed_quantile.hpp>

#include <boost/accumulators/accumulators.hpp>
#include <boost/accumulators/statistics/p_square_quantile.hpp>
#include <boost/accumulators/statistics/stats.hpp>

#include <cmath>
#include <random>
#include <vector>

using namespace basal;

namespace {

constexpr int observations = 10'000;

/// Runtimes as they are: many alike, some long.
std::vector<double> runtimes() {
  std::mt19937_64 random(1);
  std::lognormal_distribution draw(0.0, 1.0);
  std::vector<double> result(observations);
  for (auto& x : result)
    x = draw(random);
  return result;
}

/// `make()` and observe all; the median of these must be near 1.
template <class Make, class Observe, class Value>
void observe_all(benchmark::State& state, Make make, Observe observe, Value value) {
  const auto xs = runtimes();
  bench::check(state, true, [&] {
    auto estimator = make();
    for (const double x : xs)
      observe(estimator, x);
    return std::abs(value(estimator) - 1.0) < 0.15;
  });
}

template <class Quantile>
void ours(benchmark::State& state) {
  observe_all(
    state, [] { return Quantile{}; }, [](Quantile& q, double x) { q.observe(x); },
    [](const Quantile& q) { return q.value(); });
}

const bench::suite quantile_suite{[](bench::plan& plan) {
  const auto p2 = bench::case_name("observe", observations, "p2", 1);
  const auto windowed = bench::case_name("observe", observations, "windowed", 1);
  const auto boost = bench::case_name("observe", observations, "boost", 1);
  plan.add(p2, &ours<priority::p2_quantile>, {.baseline = p2});
  plan.add(windowed, &ours<priority::windowed_quantile>, {.baseline = p2});
  plan.add(boost,
           [](benchmark::State& state) {
             namespace acc = boost::accumulators;
             using set = acc::accumulator_set<double, acc::stats<acc::tag::p_square_quantile>>;
             observe_all(
               state, [] { return set(acc::quantile_probability = 0.5); },
               [](set& s, double x) { s(x); },
               [](const set& s) { return acc::p_square_quantile(s); });
           },
           {.baseline = p2});
  plan.figure("p2_observe_ns", bench::ns_per_item(p2, observations));
  plan.figure("windowed_observe_ns", bench::ns_per_item(windowed, observations));
  plan.figure("boost_observe_ns", bench::ns_per_item(boost, observations));
  plan.figure("p2_vs_boost", bench::ratio(boost, p2));
}};

} // namespace
