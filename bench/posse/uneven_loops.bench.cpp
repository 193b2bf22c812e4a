// Loops whose elements are not alike. `ramp`: element i costs in proportion to
// i, so the second half holds three quarters of the work. `spikes`: one element
// of 256 costs as much as 500 others. `nested`: a loop over rows of different
// lengths, each a loop of its own, both parallel.

#include "bench/posse/loop.hpp"

#include <cstdint>
#include <memory>
#include <numeric>
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
constexpr std::size_t steps = 20;

std::size_t row_begin(std::size_t row) {
  return 4 * row * (row - 1);
}

void do_element(std::uint64_t* row, std::size_t j) {
  row[j] = churn(j, steps);
}

void add_nested(bench::plan& plan) {
  auto out = std::make_shared<numbers>(row_begin(rows));
  std::uint64_t expected = 0;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t j = 0; j < 8 * row; ++j)
      expected += churn(j, steps);
  bench::program<std::uint64_t> program{plan, "nested", std::to_string(rows), expected,
                                        bench::counted_in::loops};
  program.prepare([=] { std::fill(out->begin(), out->end(), 0); });
  program.serial([=] {
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t j = 0; j < 8 * row; ++j)
        do_element(out->data() + row_begin(row), j);
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
      bench::openmp_guided_loop{}(rows, [=](std::size_t row) {
        for (std::size_t j = 0; j < 8 * row; ++j)
          do_element(out->data() + row_begin(row), j);
      });
      return sum_of(*out);
    },
    "openmp_guided");
  program.openmp(
    [=] {
#pragma omp parallel for schedule(dynamic)
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t j = 0; j < 8 * row; ++j)
          do_element(out->data() + row_begin(row), j);
      return sum_of(*out);
    },
    "openmp_dynamic");
}

const bench::suite uneven_suite{[](bench::plan& plan) {
  add_uneven(plan, "ramp", 4'000, [](std::size_t i) { return i / 4; });
  add_uneven(plan, "spikes", 100'000,
             [](std::size_t i) { return (i * 2654435761u >> 8) % 256 == 0 ? 4'000u : 8u; });
  add_nested(plan);
}};

} // namespace
