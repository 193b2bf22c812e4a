// Rules of reductions of large values, which are kept in blocks, and of sums: see block_fold. That
// they keep the order of elements is tried in algorithm.test.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

namespace posse = basal::posse;
using posse::member;
using posse::runtime;

namespace {

/// Of 256 bytes.
struct sums {
  std::array<double, 32> of{};

  bool operator==(const sums&) const = default;

  friend sums operator+(const sums& a, const sums& b) {
    sums both;
    for (std::size_t i = 0; i != both.of.size(); ++i)
      both.of[i] = a.of[i] + b.of[i];
    return both;
  }
};

void pass(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

} // namespace

TEST_CASE("large values are the same bit for bit on every number of executors") {
  const auto sum_on = [](std::size_t executors, std::size_t n) {
    runtime rt{{.compute_executors = executors}};
    return posse::map_reduce(
      rt, n,
      [](std::size_t i) {
        sums each;
        for (std::size_t k = 0; k != each.of.size(); ++k)
          each.of[k] = 1. / static_cast<double>(i + k + 1);
        return each;
      },
      sums{});
  };
  for (const std::size_t n : {10u, 100u, 300u, 3000u, 100'000u})
    CHECK(sum_on(1, n) == sum_on(3, n));
}

// As those of a product of matrices, where the elements cost nothing.
TEST_CASE("operations on large values are divided among the executors") {
  runtime rt{{.compute_executors = 2}};
  std::array<std::atomic<int>, 2> calls{};
  for (int round = 0; round < 100 && (calls[0] == 0 || calls[1] == 0); ++round)
    rt.run([&](member& m) {
      calls[0] = calls[1] = 0;
      const auto self = std::this_thread::get_id();
      posse::map_reduce(
        m, 200, [](int) { return sums{}; }, sums{},
        [&](const sums& a, const sums&) {
          ++calls[std::this_thread::get_id() == self ? 0 : 1];
          pass(std::chrono::microseconds{20});
          return a;
        });
    });
  CHECK(calls[0] > 0);
  CHECK(calls[1] > 0);
}

TEST_CASE("an operation on large values that throws is only ever given neighbours") {
  struct run_of {
    int first;
    int last;
    std::array<char, 100> more{};
  };
  runtime rt{{.compute_executors = 1}};
  for (int n : {20, 200, 300, 10'000})
    for (int longest : {1, 15, 40, 190, 9'000})
      CHECK_THROWS_AS(posse::map_reduce(
                        rt, n,
                        [](int i) {
                          return run_of{i, i};
                        },
                        run_of{0, -1},
                        [&](const run_of& a, const run_of& b) {
                          CHECK(b.first == a.last + 1);
                          if (b.last - a.first >= std::min(longest, n - 1))
                            throw std::length_error{"long"};
                          return run_of{a.first, b.last};
                        }),
                      std::length_error);
}

TEST_CASE("a reduction of large values takes no more than 16 KiB of the stack, and a frame") {
#ifdef __SANITIZE_ADDRESS__ // has something between any two variables
  constexpr std::uintptr_t frame = 32 * 1024;
#else
  constexpr std::uintptr_t frame = 16 * 1024;
#endif
  runtime rt{{.compute_executors = 1}};
  rt.run([](member& m) {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    std::uintptr_t deepest = 0;
    for (int n : {16, 64, 65, 256, 5000})
      posse::map_reduce(
        m, n,
        [&](int) {
          const auto there = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
          deepest = std::max(deepest, here - there);
          return sums{};
        },
        sums{});
    CHECK(deepest < 16 * 1024 + frame);
  });
}

TEST_CASE("sums of many numbers begin with what changes none of them") {
  runtime rt{{.compute_executors = 1}};
  for (const std::size_t n : {1u, 17u, 100u, 1000u, 100'000u}) {
    const auto zero = posse::map_reduce(
      rt, n, [](std::size_t) { return -0.; }, -0.);
    CHECK(std::signbit(zero));
    const auto product = posse::map_reduce(
      rt, n, [](std::size_t i) { return i == 7 ? -3. : 1.; }, 1., std::multiplies<>{});
    CHECK(product == (n > 7 ? -3. : 1.));
    CHECK(posse::map_reduce(
            rt, n, [](std::size_t) { return -std::numeric_limits<float>::denorm_min(); }, -0.F)
          < 0);
  }
}

TEST_CASE("elements that fork are reduced in order, however many there are") {
  runtime rt{{.compute_executors = 2}};
  // Composition of functions: not the same in another order.
  struct line {
    std::uint64_t slope;
    std::uint64_t at_zero;

    bool operator==(const line&) const = default;
  };
  const auto compose = [](line a, line b) {
    return line{a.slope * b.slope, a.slope * b.at_zero + a.at_zero};
  };
  const auto sum_below = [](member& m, std::size_t i) {
    const auto [a, b] = m.fork_merge([=] { return i * i; }, [=] { return i; });
    return a + b;
  };
  for (std::size_t n = 1; n <= 70; ++n) {
    line expected{1, 0};
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      expected = compose(expected, {2 * i + 3, i});
      sum += i * i + i;
    }
    rt.run([&](member& m) {
      const auto line_of = [](member& k, std::size_t i) {
        const auto [a, b] = k.fork_merge([=] { return std::uint64_t{2 * i + 3}; },
                                         [=] { return std::uint64_t{i}; });
        return line{a, b};
      };
      CHECK(posse::map_reduce(m, n, line_of, line{1, 0}, compose) == expected);
      CHECK(posse::map_reduce(m, n, sum_below, std::uint64_t{0}) == sum);
      // As those that do not fork, bit for bit.
      CHECK(posse::map_reduce(
              m, n, [](member&, std::size_t i) { return 1. / static_cast<double>(i + 1); }, 0.)
            == posse::map_reduce(
              m, n, [](std::size_t i) { return 1. / static_cast<double>(i + 1); }, 0.));
      const auto extremes = posse::map_reduce(
        m, n,
        [](member&, std::size_t i) {
          return std::pair{i, i};
        },
        std::pair{n, std::size_t{0}},
        [](const auto& a, const auto& b) {
          return std::pair{std::min(a.first, b.first), std::max(a.second, b.second)};
        });
      CHECK(extremes == std::pair{std::size_t{0}, n - 1});
      CHECK_THROWS_AS(posse::map_reduce(
                        m, n,
                        [&](member&, std::size_t i) {
                          return i == n - 1 ? throw std::runtime_error{"the last one"} : i;
                        },
                        std::size_t{0}),
                      std::runtime_error);
    });
  }
}
