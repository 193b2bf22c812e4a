// Computations of two branches that do not fork, as two calls of a library's functions, one
// computation after the other: of 50 us and of 500 us each. Nobody comes to a safepoint in them.

#include "bench/posse/fork.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace {

using namespace basal;
using namespace std::chrono_literals;

std::uint64_t computed(std::uint64_t seed, std::chrono::microseconds length) {
  auto value = seed;
  for (auto steps = 400 * length.count(); steps > 0; --steps) // of some 2.5 ns
    value = (value ^ (value >> 29)) * 0xbf58'476d'1ce4'e5b9;
  return value;
}

void add_branches(bench::plan& plan, std::chrono::microseconds length) {
  const auto rounds = static_cast<std::uint64_t>(5'000us / length);
  const auto sum_of = [=](auto both) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < rounds; ++i)
      sum += both(i);
    return sum;
  };
  const auto both = [=](auto fork, std::uint64_t i) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    fork([&](auto) { a = computed(2 * i, length); },
         [&](auto) { b = computed(2 * i + 1, length); });
    return a + b;
  };
  const auto expected = sum_of([=](std::uint64_t i) { return both(bench::serial_fork{}, i); });
  bench::program<std::uint64_t> program{plan, "two_branches", std::to_string(length.count()) + "us",
                                        expected, bench::counted_in::regions};
  program.serial(
    [=] { return sum_of([=](std::uint64_t i) { return both(bench::serial_fork{}, i); }); });
  program.basal([=](posse::runtime& runtime) {
    return sum_of([&](std::uint64_t i) {
      return runtime.run([=](posse::member& m) { return both(bench::basal_fork{m}, i); });
    });
  });
  program.tbb([=] { return sum_of([=](std::uint64_t i) { return both(bench::tbb_fork{}, i); }); });
  program.openmp(
    [=] {
      return sum_of([=](std::uint64_t i) {
        std::uint64_t a = 0;
        std::uint64_t b = 0;
#pragma omp parallel sections
        {
#pragma omp section
          a = computed(2 * i, length);
#pragma omp section
          b = computed(2 * i + 1, length);
        }
        return a + b;
      });
    },
    "openmp_sections");
}

const bench::suite two_branches_suite{[](bench::plan& plan) {
  for (const auto length : {50us, 500us})
    if (!plan.quick() || length == 50us)
      add_branches(plan, length);
}};

} // namespace
