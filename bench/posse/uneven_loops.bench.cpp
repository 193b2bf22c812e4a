// Loops whose elements are not alike. `ramp`: element i costs in proportion to
// i, so the second half holds three quarters of the work. `spikes`: one element
// of 256 costs as much as 500 others. `nested`: a loop over rows of different
// lengths, each a loop of its own, both parallel.
//
// `uneven_*` are loops of some 50 us to 2 ms, again and again, by how their work
// is spread over the elements; `sum_*` are reductions of the same. A size is the
// number of elements times the steps of a mean one, of some 1.2 ns each.

#include "bench/posse/loop.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <ranges>
#include <string>
#include <vector>

namespace {

using namespace basal;

std::uint64_t churn(std::uint64_t x, std::size_t steps) {
  for (std::size_t i = 0; i < steps; ++i)
    x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

using numbers = std::vector<std::uint64_t>;

std::uint64_t sum_of(const numbers& x) {
  return std::accumulate(x.begin(), x.end(), std::uint64_t{0});
}

// -- one loop -----------------------------------------------------------------

template <class Steps>
void add_uneven(bench::plan& plan, const char* name, std::size_t n, Steps steps_of) {
  auto out = std::make_shared<numbers>(n);
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < n; ++i)
    expected += churn(i, steps_of(i));
  bench::program<std::uint64_t> program{plan, name, std::to_string(n), expected,
                                        bench::counted_in::loops};
  program.prepare([=] { std::fill(out->begin(), out->end(), 0); });
  bench::add_loop_cases(program, bench::elements::uneven, [=](auto loop) {
    loop(n, [x = out->data(), steps_of](std::size_t i) { x[i] = churn(i, steps_of(i)); });
    return sum_of(*out);
  });
}

// -- a loop of loops ----------------------------------------------------------

// Row i has 8 * i elements of some 25 ns.
constexpr std::size_t rows = 256;
constexpr std::size_t element_steps = 20;

std::size_t row_begin(std::size_t row) {
  return 4 * row * (row - 1);
}

void do_element(std::uint64_t* row, std::size_t j) {
  row[j] = churn(j, element_steps);
}

void add_nested(bench::plan& plan) {
  auto out = std::make_shared<numbers>(row_begin(rows));
  std::uint64_t expected = 0;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t j = 0; j < 8 * row; ++j)
      expected += churn(j, element_steps);
  bench::program<std::uint64_t> program{plan, "nested", std::to_string(rows), expected,
                                        bench::counted_in::loops};
  program.prepare([=] { std::fill(out->begin(), out->end(), 0); });
  const auto do_row = [=](std::size_t row) {
    for (std::size_t j = 0; j < 8 * row; ++j)
      do_element(out->data() + row_begin(row), j);
  };
  program.serial([=] {
    bench::serial_loop{}(rows, do_row);
    return sum_of(*out);
  });
  program.basal([=](posse::runtime& runtime) {
    posse::for_each(runtime, std::views::iota(std::size_t{0}, rows),
                    [=](posse::member& m, std::size_t row) {
                      auto* x = out->data() + row_begin(row);
                      posse::for_each(m, std::views::iota(std::size_t{0}, 8 * row),
                                      [=](std::size_t j) { do_element(x, j); });
                    });
    return sum_of(*out);
  });
  program.tbb([=] {
    using range = tbb::blocked_range<std::size_t>;
    tbb::parallel_for(std::size_t{0}, rows, [=](std::size_t row) {
      auto* x = out->data() + row_begin(row);
      tbb::parallel_for(range{0, 8 * row}, [=](const range& r) {
        for (auto j = r.begin(); j != r.end(); ++j)
          do_element(x, j);
      });
    });
    return sum_of(*out);
  });
  // OpenMP's inner regions are serial by default; rows are enough for its threads.
  program.openmp(
    [=] {
      bench::openmp_guided_loop{}(rows, do_row);
      return sum_of(*out);
    },
    "openmp_guided");
  program.openmp(
    [=] {
      bench::openmp_dynamic_loop{}(rows, do_row);
      return sum_of(*out);
    },
    "openmp_dynamic");
}

// -- short loops, again and again ---------------------------------------------

struct shape {
  const char* name;
  /// The work of an element in proportion to that of others, where `at` is its place in (0, 1).
  double (*weight)(double at);
};

// A number in (0, 1) that has nothing to do with its neighbours'.
double scattered(double at) {
  const auto bits = churn(static_cast<std::uint64_t>(at * 1e9), 4) >> 11;
  return (static_cast<double>(bits) + 0.5) / 0x1p53;
}

constexpr shape shapes[] = {
  {"falling", [](double at) { return 1 - at; }},
  {"rising", [](double at) { return at; }},
  {"steep", [](double at) { return at * at * at; }},
  {"hump", [](double at) { return at > 0.4 && at < 0.6 ? 4.0 : 0.25; }},
  {"last", [](double at) { return at > 0.9 ? 9.0 : 1.0; }},
  {"first", [](double at) { return at < 0.1 ? 9.0 : 1.0; }},
  {"heavy", [](double at) { return std::min(100.0, 1 / scattered(at)); }},
};

std::shared_ptr<std::vector<std::uint32_t>> steps_of(const shape& of, std::size_t n,
                                                     std::size_t mean) {
  std::vector<double> weights(n);
  for (std::size_t i = 0; i < n; ++i)
    weights[i] = of.weight((static_cast<double>(i) + 0.5) / static_cast<double>(n));
  const auto per_weight
    = static_cast<double>(n * mean) / std::accumulate(weights.begin(), weights.end(), 0.0);
  auto steps = std::make_shared<std::vector<std::uint32_t>>(n);
  std::transform(weights.begin(), weights.end(), steps->begin(),
                 [=](double weight) { return static_cast<std::uint32_t>(weight * per_weight); });
  return steps;
}

// The sum over all elements.
std::uint64_t sum_over(const std::vector<std::uint32_t>& steps) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < steps.size(); ++i)
    sum += churn(i, steps[i]);
  return sum;
}

struct length {
  std::size_t elements;
  std::size_t mean_steps;

  std::string name() const {
    return std::to_string(elements) + 'x' + std::to_string(mean_steps);
  }

  // Some 17 ms: for 4 ms OpenMP's threads may look for more, after the case before this one.
  std::size_t passes() const {
    return std::max<std::size_t>(4, 15'000'000 / (elements * mean_steps));
  }
};

void add_repeated(bench::plan& plan, const shape& of, length l) {
  const auto n = l.elements;
  const auto table = steps_of(of, n, l.mean_steps);
  auto out = std::make_shared<numbers>(n);
  bench::program<std::uint64_t> program{plan, std::string{"uneven_"} + of.name, l.name(),
                                        sum_over(*table), bench::counted_in::uneven};
  program.prepare([=] { std::fill(out->begin(), out->end(), 0); });
  bench::add_loop_cases(program, bench::elements::uneven, [=](auto loop) {
    for (std::size_t pass = 0; pass < l.passes(); ++pass)
      loop(n,
           [x = out->data(), steps = table->data()](std::size_t i) { x[i] = churn(i, steps[i]); });
    return sum_of(*out);
  });
}

void add_repeated_sum(bench::plan& plan, const shape& of, length l) {
  const auto n = l.elements;
  const auto table = steps_of(of, n, l.mean_steps);
  bench::program<std::uint64_t> program{plan, std::string{"sum_"} + of.name, l.name(),
                                        l.passes() * sum_over(*table), bench::counted_in::uneven};
  bench::add_loop_cases(program, bench::elements::uneven, [=](auto loop) {
    std::uint64_t total = 0;
    for (std::size_t pass = 0; pass < l.passes(); ++pass)
      total += loop.reduce(
        n, std::uint64_t{0}, [steps = table->data()](std::size_t i) { return churn(i, steps[i]); },
        std::plus<>{});
    return total;
  });
}

const bench::suite uneven_suite{[](bench::plan& plan) {
  add_uneven(plan, "ramp", 4'000, [](std::size_t i) { return i / 4; });
  add_uneven(plan, "spikes", 100'000,
             [](std::size_t i) { return (i * 2654435761u >> 8) % 256 == 0 ? 4'000u : 8u; });
  add_nested(plan);
  for (const auto& of : shapes) {
    add_repeated(plan, of, {100, 400});
    if (plan.quick())
      continue;
    add_repeated(plan, of, {1000, 200});
    add_repeated(plan, of, {10'000, 150});
    add_repeated_sum(plan, of, {100, 400});
    add_repeated_sum(plan, of, {1000, 200});
  }
}};

} // namespace
