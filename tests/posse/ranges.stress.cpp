// for_each_chunk, zip, filter, partition, accumulate and merge while others steal: random sizes and
// costs on 1 to 8 executors with the shortest quantum. Results equal the sequential ones.

#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include "rounds.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

namespace posse = basal::posse;

namespace {

void spin(std::chrono::nanoseconds d) {
  auto end = std::chrono::steady_clock::now() + d;
  while (std::chrono::steady_clock::now() < end) {
  }
}

} // namespace

TEST_CASE("ranges are done as by one thread") {
  for (std::size_t executors : {1, 2, 3, 8}) {
    posse::runtime_config config;
    config.compute_executors = executors;
    config.quantum = posse::runtime_config::min_quantum;
    posse::runtime rt{config};
    for (std::uint64_t seed = 1; seed <= 25 * rounds(); ++seed) {
      INFO("executors " << executors << ", seed " << seed);
      std::mt19937_64 random{seed};
      const std::size_t most[] = {3, 40, 700, 5'000, 60'000};
      std::uniform_int_distribution<std::size_t> size{0, most[seed % 5]};
      std::vector<int> a(size(random));
      std::vector<int> b(size(random));
      std::uniform_int_distribution<int> key{0, seed % 2 == 0 ? 1'000'000 : 20};
      std::ranges::generate(a, [&] { return key(random); });
      std::ranges::generate(b, [&] { return key(random); });
      // About 1 ms of work, at one place.
      const auto slow = random() % (a.size() + 1);
      posse::scratch buffers{[] { return std::vector<int>(); }};
      std::vector<int> doubled(a.size());
      posse::for_each_chunk(rt, a.size(),
                            [&](posse::member& m, std::size_t first, std::size_t last) {
                              auto buffer = buffers.borrow(m);
                              buffer->assign(a.begin() + static_cast<std::ptrdiff_t>(first),
                                             a.begin() + static_cast<std::ptrdiff_t>(last));
                              for (auto i = first; i != last; ++i) {
                                if (i >= slow && i < slow + 20)
                                  spin(std::chrono::microseconds{50});
                                doubled[i] = 2 * (*buffer)[i - first];
                              }
                            });
      for (std::size_t i = 0; i != a.size(); ++i)
        REQUIRE(doubled[i] == 2 * a[i]);
      std::vector<int> sums(std::max(a.size(), b.size()), -1);
      posse::for_each(rt, posse::zip(a, b, sums), [](int x, int y, int& sum) { sum = x + y; });
      for (std::size_t i = 0; i != sums.size(); ++i)
        REQUIRE(sums[i] == (i < std::min(a.size(), b.size()) ? a[i] + b[i] : -1));
      std::vector<int> expected;
      std::ranges::copy_if(a, std::back_inserter(expected), [](int x) { return x % 3 == 0; });
      auto every_third = posse::filter(rt, a, [&](const int& x) {
        if (&x - a.data() == static_cast<std::ptrdiff_t>(slow))
          spin(std::chrono::milliseconds{1});
        return x % 3 == 0;
      });
      REQUIRE(every_third == expected);
      auto [odd, even] = posse::partition(rt, a, [&](const int& x) {
        if (&x - a.data() == static_cast<std::ptrdiff_t>(slow))
          spin(std::chrono::milliseconds{1});
        return x % 2 != 0;
      });
      REQUIRE(std::ranges::equal(odd, a | std::views::filter([](int x) { return x % 2 != 0; })));
      REQUIRE(std::ranges::equal(even, a | std::views::filter([](int x) { return x % 2 == 0; })));
      REQUIRE(expected
              == posse::accumulate(
                rt, a, std::vector<int>{},
                [&](std::vector<int>& to, const int& x) {
                  if (&x - a.data() == static_cast<std::ptrdiff_t>(slow))
                    spin(std::chrono::milliseconds{1});
                  if (x % 3 == 0)
                    to.push_back(x);
                },
                [](std::vector<int>& to, std::vector<int>&& from) {
                  to.insert(to.end(), from.begin(), from.end());
                }));
      std::ranges::sort(a);
      std::ranges::sort(b);
      std::vector<int> merged(a.size() + b.size());
      posse::merge(rt, a, b, merged, [](int x, int y) { return x < y; });
      expected.clear();
      std::ranges::merge(a, b, std::back_inserter(expected));
      REQUIRE(merged == expected);
    }
    if (executors != 1)
      CHECK(rt.stats().thefts > 0);
  }
}
