// Sparse matrix times vector, again and again, one loop over the rows each time:
// 50,000 rows whose lengths follow a power law, from 2 to some thousand entries.

#include "bench/posse/loop.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace basal;

constexpr std::size_t rows = 50'000;
constexpr std::size_t products = 5;

// Compressed rows. Every row's entries are equal and add up to one.
struct matrix {
  std::vector<std::uint32_t> first{0};
  std::vector<std::uint32_t> column;
  std::vector<double> value;

  void make() {
    std::uint64_t random = 1;
    const auto next = [&] {
      random = random * 6364136223846793005u + 1442695040888963407u;
      return random >> 33;
    };
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t length = std::min<std::size_t>(4096, 2 + 10'000 / (1 + next() % 5'000));
      for (std::size_t k = 0; k < length; ++k) {
        column.push_back(static_cast<std::uint32_t>(next() % rows));
        value.push_back(1. / static_cast<double>(length));
      }
      first.push_back(static_cast<std::uint32_t>(column.size()));
    }
  }
};

struct problem {
  matrix a;
  std::vector<double> x;
  std::vector<double> y;
  double expected = 0;

  void reset() {
    x.resize(rows);
    y.resize(rows);
    for (std::size_t i = 0; i < rows; ++i)
      x[i] = static_cast<double>(i % 17);
  }
};

// @returns the sum of the last product, whose rows everybody adds up in the same order.
template <class Loop>
double multiply(problem& p, Loop loop) {
  for (std::size_t i = 0; i < products; ++i) {
    loop(rows, [&a = p.a, x = p.x.data(), y = p.y.data()](std::size_t row) {
      double sum = 0;
      for (auto k = a.first[row]; k < a.first[row + 1]; ++k)
        sum += a.value[k] * x[a.column[k]];
      y[row] = sum;
    });
    std::swap(p.x, p.y);
  }
  double total = 0;
  for (double x : p.x)
    total += x;
  return total;
}

const bench::suite spmv_suite{[](bench::plan& plan) {
  auto p = std::make_shared<problem>();
  bench::program<bool> program{plan, "spmv", std::to_string(rows), true, bench::counted_in::loops};
  program.setup([=] {
    if (!p->x.empty())
      return;
    p->a.make();
    p->reset();
    p->expected = multiply(*p, bench::serial_loop{});
  });
  program.prepare([=] { p->reset(); });
  bench::add_loop_cases(program, bench::elements::uneven,
                        [=](auto loop) { return multiply(*p, loop) == p->expected; });
}};

} // namespace
