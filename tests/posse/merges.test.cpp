// Merges of numbers: std::merge's results bit for bit, whether or not it can be foretold from which
// range the next number comes.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

namespace posse = basal::posse;
using posse::runtime;

namespace {

template <class T>
bool are_same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(a, b, [](T x, T y) { // -0.0 is not 0.0
    using bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    return std::bit_cast<bits>(x) == std::bit_cast<bits>(y);
  });
}

/// Merges them by both, each range first.
template <class T, class Less>
void check_merges(runtime& rt, std::vector<T> a, std::vector<T> b, Less less) {
  std::ranges::stable_sort(a, less);
  std::ranges::stable_sort(b, less);
  for (int turn = 0; turn < 2; ++turn, a.swap(b)) {
    std::vector<T> merged(a.size() + b.size()), expected(merged.size());
    posse::merge(rt, a, b, merged, less);
    std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin(), less);
    REQUIRE(are_same(merged, expected));
  }
}

/// n numbers that make( ) for 0, 1, 2...
template <class T, class Make>
std::vector<T> made(std::size_t n, Make make) {
  std::vector<T> v(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = static_cast<T>(make(i));
  return v;
}

std::size_t scattered(std::size_t i) {
  return (i * 6364136223846793005u + 1442695040888963407u) >> 34;
}

} // namespace

TEST_CASE("merge of numbers does what std::merge does, whatever the pattern") {
  for (std::size_t executors : {1, 2}) {
    runtime rt{{.compute_executors = executors}};
    for (std::size_t n : {1, 31, 33, 500, 512, 1023, 1024, 2049, 20'000})
      for (std::size_t other : {std::size_t{0}, std::size_t{1}, std::size_t{40}, n / 3, n})
        for (std::size_t stride : {1, 2, 3, 7, 100}) {
          const auto regular = [=](std::size_t i) { return i * stride; };
          const auto runs = [=](std::size_t i) { return i / stride * 2 * stride + i % stride; };
          const auto a = made<int>(n, runs);
          check_merges(rt, a, made<int>(other, regular), std::less<>{});
          check_merges(rt, a, made<int>(other, [=](auto i) { return runs(i) + stride; }),
                       std::less<>{});
          check_merges(rt, made<int>(n, scattered),
                       made<int>(other, [=](auto i) { return scattered(i + n * stride); }),
                       std::greater<>{});
        }
  }
}

TEST_CASE("merge of numbers keeps equal ones that differ in their order") {
  runtime rt{{.compute_executors = 2}};
  for (unsigned range : {1u, 3u, 100u, 5000u}) {
    const auto signs = [=](std::size_t i) { // zeros of both signs among others
      const auto x = static_cast<double>(scattered(i) % range) - range / 2;
      return x != 0 ? x : scattered(3 * i) % 2 == 0 ? 0.0 : -0.0;
    };
    const auto a = made<double>(6000, signs);
    const auto b = made<double>(5000, [=](std::size_t i) { return signs(i + 6000); });
    check_merges(rt, a, b, std::ranges::less{});
    auto sorted = a;
    auto expected = a;
    posse::stable_sort(rt, sorted);
    std::ranges::stable_sort(expected);
    CHECK(are_same(sorted, expected));
  }
  // Each range has zeros of its own sign, among so many others that none can be foretold.
  std::vector<double> ours(1500), theirs(1500);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const auto zero = i >= 400 && i < 1100;
    ours[i] = zero ? 0.0 : static_cast<double>(scattered(i)) * (i < 400 ? -1 : 1);
    theirs[i] = zero ? -0.0 : static_cast<double>(scattered(i + 9000)) * (i < 400 ? -1 : 1);
  }
  check_merges(rt, ours, theirs, std::less<>{});
}
