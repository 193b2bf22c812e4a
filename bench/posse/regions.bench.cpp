// Parallel regions: a loop of 20 us to 5 ms, again and again, as in the time
// steps of a simulation or the iterations of a solver. Each waits for the last
// one, so what shows is how soon all CPUs work on it, and how soon the caller
// goes on when it is done.
//
// Two of them also run beside another process that burns a CPU.

#include "bench/posse/loop.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

using namespace basal;
using namespace std::chrono_literals;

// 32 steps, each of which waits for the last. Without a loop: whether a processor foretells the end
// of one with 32 turns changes from run to run, and an element's time by an eighth with it.
std::uint64_t churn(std::uint64_t x) {
#pragma GCC unroll 32
  for (int i = 0; i < 32; ++i)
    x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

struct state {
  std::vector<std::uint64_t> elements;
  std::uint64_t expected = 0; ///< their sum after all passes

  void reset() {
    for (std::size_t i = 0; i < elements.size(); ++i)
      elements[i] = i;
  }

  std::uint64_t sum() const {
    std::uint64_t total = 0;
    for (auto x : elements)
      total += x;
    return total;
  }
};

template <class Loop>
bool run_passes(state& s, std::size_t passes, Loop loop) {
  auto* x = s.elements.data();
  for (std::size_t pass = 0; pass < passes; ++pass)
    loop(s.elements.size(), [=](std::size_t i) { x[i] = churn(x[i]); });
  return s.sum() == s.expected;
}

// The number of elements that take this time serially, here and now.
std::size_t elements_in(std::chrono::nanoseconds length) {
  static const double element_ns = [] {
    std::vector<std::uint64_t> x(1000, 1);
    double least = 1e9;
    for (int attempt = 0; attempt < 20; ++attempt) {
      const auto start = std::chrono::steady_clock::now();
      bench::serial_loop{}(x.size(), [&](std::size_t i) { x[i] = churn(x[i]); });
      const std::chrono::duration<double, std::nano> took
        = std::chrono::steady_clock::now() - start;
      least = std::min(least, took.count() / static_cast<double>(bench::opaque(x.size())));
    }
    return least;
  }();
  return static_cast<std::size_t>(static_cast<double>(length.count()) / element_ns);
}

void add_regions(bench::plan& plan, const char* name, std::chrono::microseconds length,
                 bench::counted_in group) {
  const auto n = elements_in(length);
  // Beside a burner some peers wait for a time slice in each pass.
  const auto in_all = group == bench::counted_in::burner ? 2'500us : 10'000us;
  const auto passes = static_cast<std::size_t>(std::max<long>(4, in_all / length));
  auto s = std::make_shared<state>();
  bench::program<bool> program{plan, name, std::to_string(length.count()) + "us", true, group};
  if (group == bench::counted_in::burner)
    program.beside_burner();
  program.setup([=] {
    if (!s->elements.empty())
      return;
    s->elements.resize(n);
    s->reset();
    run_passes(*s, passes, bench::serial_loop{});
    s->expected = s->sum();
  });
  program.prepare([=] { s->reset(); });
  bench::add_loop_cases(program, bench::elements::alike,
                        [=](auto loop) { return run_passes(*s, passes, loop); });
}

const bench::suite region_suite{[](bench::plan& plan) {
  // At 20 us a wake-up is not worth much to anybody: a row to look at.
  if (!plan.quick())
    add_regions(plan, "region", 20us, bench::counted_in::nothing);
  for (auto length : {50us, 200us, 800us, 5000us})
    add_regions(plan, "region", length, bench::counted_in::regions);
  if (!plan.quick())
    for (auto length : {100us, 400us, 2000us})
      add_regions(plan, "region", length, bench::counted_in::regions);
  add_regions(plan, "region_beside_burner", 200us, bench::counted_in::burner);
  if (!plan.quick())
    add_regions(plan, "region_beside_burner", 2000us, bench::counted_in::burner);
}};

} // namespace
