// Jacobi's five-point stencil over squares of floats of three sizes, one loop
// over the rows a sweep: some 30 us, 230 us and 1.3 ms. The one in the middle
// also runs beside another process that burns a CPU.

#include "bench/posse/loop.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace basal;

struct grids {
  std::size_t n = 0;
  std::vector<float> from;
  std::vector<float> to;
  double expected = 0; ///< the sum after all sweeps

  // Hot on one edge, cold inside.
  void reset() {
    from.assign(n * n, 0.f);
    std::fill_n(from.begin(), n, 1.f);
    to = from;
  }

  double sum() const {
    double total = 0;
    for (float x : from)
      total += x;
    return total;
  }
};

void sweep_row(const float* __restrict from, float* __restrict to, std::size_t n, std::size_t row) {
  const float* above = from + (row - 1) * n;
  const float* here = from + row * n;
  const float* below = from + (row + 1) * n;
  float* out = to + row * n;
  for (std::size_t j = 1; j + 1 < n; ++j)
    out[j] = 0.25f * (above[j] + below[j] + here[j - 1] + here[j + 1]);
}

template <class Loop>
void sweep(grids& g, std::size_t sweeps, Loop loop) {
  for (std::size_t s = 0; s < sweeps; ++s) {
    loop(g.n - 2, [n = g.n, from = g.from.data(), to = g.to.data()](std::size_t row) {
      sweep_row(from, to, n, row + 1);
    });
    std::swap(g.from, g.to);
  }
}

void add_stencil(bench::plan& plan, const char* name, std::size_t n, std::size_t sweeps,
                 bench::counted_in group) {
  auto g = std::make_shared<grids>();
  bench::program<bool> program{plan, name, std::to_string(n), true, group};
  if (group == bench::counted_in::burner)
    program.beside_burner();
  program.setup([=] {
    if (g->n != 0)
      return;
    g->n = n;
    g->reset();
    sweep(*g, sweeps, bench::serial_loop{});
    g->expected = g->sum();
  });
  program.prepare([=] { g->reset(); });
  bench::add_loop_cases(program, bench::elements::alike, [=](auto loop) {
    sweep(*g, sweeps, loop);
    // Each element is computed in the same way by everybody.
    return g->sum() == g->expected;
  });
}

const bench::suite stencil_suite{[](bench::plan& plan) {
  add_stencil(plan, "stencil", 256, 400, bench::counted_in::loops);
  add_stencil(plan, "stencil", 512, 60, bench::counted_in::loops);
  add_stencil(plan, "stencil", 1024, 12, bench::counted_in::loops);
  add_stencil(plan, "stencil_beside_burner", 512, 12, bench::counted_in::burner);
}};

} // namespace
