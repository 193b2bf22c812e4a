// The contract of the algorithms: what they return, that they agree with the
// standard's, what comes out when something throws, and where they can be
// called from. One piece: most of these rules hold for several algorithms, and are tried on all.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

namespace posse = basal::posse;
using posse::member;
using posse::runtime;

namespace {

posse::runtime_config config_of(std::size_t executors) {
  posse::runtime_config config;
  config.compute_executors = executors;
  config.quantum = posse::runtime_config::min_quantum;
  return config;
}

std::vector<int> numbers(std::size_t n) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 0);
  return v;
}

// Pseudo-random numbers, many of them equal.
std::vector<int> shuffled(std::size_t n, unsigned range = 1'000'000'007u) {
  std::vector<int> v(n);
  std::uint64_t state = n + 1;
  for (auto& x : v) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<int>((state >> 33) % range);
  }
  return v;
}

// Stands for an actor's handle.
struct caller {
  runtime* host;
};

struct too_big : std::runtime_error {
  explicit too_big(int v) : std::runtime_error("too big"), value(v) {
  }
  int value;
};

} // namespace

template <>
struct basal::posse::caller_traits<caller> {
  static runtime& runtime_of(const caller& c) {
    return *c.host;
  }
};

TEST_CASE("algorithms can be called with a runtime, a member, and an actor's self") {
  runtime rt{config_of(2)};
  auto v = shuffled(1000);
  auto sum = std::accumulate(v.begin(), v.end(), 0L);
  CHECK(posse::reduce(rt, v, 0L) == sum);
  CHECK(posse::reduce(caller{&rt}, v, 0L) == sum);
  CHECK(rt.run([&](member& m) { return posse::reduce(m, v, 0L); }) == sum);
  posse::sort(caller{&rt}, v);
  CHECK(std::ranges::is_sorted(v));
  CHECK(posse::find_if(caller{&rt}, v, [](int) { return true; }) == v.begin());
}

TEST_CASE("for_each visits every element once, in order when nobody steals") {
  runtime rt{config_of(1)};
  for (std::size_t n : {0, 1, 2, 15, 16, 17, 100, 1000, 100'000}) {
    std::vector<std::size_t> seen;
    posse::for_each(rt, std::views::iota(std::size_t{0}, n),
                    [&](std::size_t i) { seen.push_back(i); });
    REQUIRE(seen.size() == n);
    CHECK(std::ranges::is_sorted(seen));
  }
}

TEST_CASE("for_each changes elements, of deques too") {
  runtime rt{config_of(2)};
  std::deque<int> d(10'000, 1);
  posse::for_each(rt, d, [](int& x) { x += 2; });
  CHECK(std::ranges::all_of(d, [](int x) { return x == 3; }));
}

TEST_CASE("functions of an element may fork with the member they get") {
  runtime rt{config_of(2)};
  auto squares = posse::map(rt, std::views::iota(0, 1000), [](member& m, int i) {
    auto [a, b] = m.fork_merge([=](member&) { return i; }, [=](member&) { return i; });
    return a * b;
  });
  REQUIRE(squares.size() == 1000);
  for (int i = 0; i < 1000; ++i)
    CHECK(squares[static_cast<std::size_t>(i)] == i * i);
}

TEST_CASE("map returns the results in order, map_into works in place") {
  runtime rt{config_of(2)};
  auto names = posse::map(rt, numbers(5000), [](int i) { return std::to_string(i); });
  for (std::size_t i = 0; i < names.size(); ++i)
    REQUIRE(names[i] == std::to_string(i));
  auto v = numbers(5000);
  posse::map_into(rt, v, v, [](int i) { return 2 * i; });
  for (std::size_t i = 0; i < v.size(); ++i)
    REQUIRE(v[i] == static_cast<int>(2 * i));
}

TEST_CASE("reduce keeps the order of elements: strings need not commute") {
  runtime rt{config_of(2)};
  for (std::size_t n : {0, 1, 2, 3, 5, 17, 300, 5000}) {
    auto text = posse::map(rt, numbers(n), [](int i) { return std::to_string(i) + ","; });
    auto expected = std::accumulate(text.begin(), text.end(), std::string{"start:"});
    CHECK(posse::reduce(rt, text, std::string{"start:"}) == expected);
    CHECK(posse::map_reduce(
            rt, numbers(n), [](int i) { return std::to_string(i) + ","; }, std::string{"start:"},
            std::plus<>{})
          == expected);
  }
}

TEST_CASE("reduce combines halves, the left one rounded up") {
  runtime rt{config_of(1)};
  auto nest = [](const std::string& a, const std::string& b) { return "(" + a + b + ")"; };
  std::vector<std::string> letters{"a", "b", "c", "d", "e"};
  CHECK(posse::reduce(rt, letters, std::string{"0"}, nest) == "(0(((ab)c)(de)))");
}

TEST_CASE("reduce over every kind of number, operation and count") {
  runtime rt{config_of(2)};
  for (std::size_t n = 0; n < 700; ++n) {
    auto v = shuffled(n, 1000);
    long expected = std::accumulate(v.begin(), v.end(), 5L);
    REQUIRE(posse::reduce(rt, v, 5L) == expected); // in order
    REQUIRE(posse::reduce(rt, v, 5) == expected);  // lanes
    REQUIRE(posse::reduce(rt, v, 5L, [](long a, long b) { return a + b; }) == expected);
    REQUIRE(posse::reduce(rt, v, 5L, [](long&& a, long&& b) { return a + b; }) == expected);
    REQUIRE(posse::map_reduce(
              rt, v, [](int x) { return x * 2L; }, 0L)
            == 2 * (expected - 5));
    std::vector<unsigned char> bytes(v.begin(), v.end());
    auto sum = std::accumulate(bytes.begin(), bytes.end(), 0u) & 255u;
    REQUIRE(posse::reduce(rt, bytes, static_cast<unsigned char>(0)) == sum);
  }
}

TEST_CASE("sums of functions are those of a loop, for numbers of each size") {
  for (const std::size_t executors : {1, 2}) {
    runtime rt{config_of(executors)};
    const auto check = [&]<class T>(T init) {
      const auto element = [](std::size_t i) { return static_cast<T>(i % 13); };
      for (const std::size_t n : {1u, 16u, 17u, 256u, 257u, 300u, 512u, 513u, 1000u, 1024u, 1025u,
                                  4097u, 8191u, 8192u, 65'537u, 300'001u}) {
        auto expected = init;
        for (std::size_t i = 0; i != n; ++i)
          expected = static_cast<T>(expected + element(i));
        REQUIRE(posse::map_reduce(rt, std::views::iota(std::size_t{0}, n), element, init)
                == expected);
      }
    };
    check(static_cast<unsigned char>(3));
    check(3.F);
    check(3.);
    check(std::uint64_t{3});
  }
}

TEST_CASE("products of functions are those of a loop") {
  for (const std::size_t executors : {1, 2}) {
    runtime rt{config_of(executors)};
    const auto odd = [](std::size_t i) { return static_cast<std::uint32_t>(2 * i + 1); };
    for (const std::size_t n : {17u, 256u, 257u, 1000u, 4097u, 65'537u}) {
      std::uint32_t expected = 3;
      for (std::size_t i = 0; i != n; ++i)
        expected *= odd(i);
      CHECK(posse::map_reduce(rt, std::views::iota(std::size_t{0}, n), odd, std::uint32_t{3},
                              std::multiplies<>{})
            == expected);
    }
  }
}

TEST_CASE("the same sum of functions has the same bits on every number of executors") {
  const auto element = [](std::size_t i) { return 1. / static_cast<double>(i + 1); };
  const auto sum_on = [&](std::size_t executors, std::size_t n) {
    runtime rt{config_of(executors)};
    return posse::map_reduce(rt, std::views::iota(std::size_t{0}, n), element, 0.);
  };
  for (const std::size_t n : {100u, 3000u, 10'000u, 1'000'000u})
    CHECK(sum_on(1, n) == sum_on(3, n));
}

namespace {

/// x -> factor * x + add, modulo 2^32: their composition is associative and does not commute.
template <std::size_t More>
struct affine {
  std::uint32_t factor = 1;
  std::uint32_t add = 0;
  std::array<std::uint32_t, More> more{};

  bool operator==(const affine&) const = default;

  static affine at(std::size_t i) {
    return {static_cast<std::uint32_t>(2 * i + 3), static_cast<std::uint32_t>(i * i + 1), {}};
  }

  friend affine operator+(const affine& a, const affine& b) {
    return {a.factor * b.factor, a.add * b.factor + b.add, {}};
  }
};

template <class Value>
void check_order(std::size_t executors) {
  runtime rt{config_of(executors)};
  for (const std::size_t n :
       {1u,   15u,  16u,  17u,  31u,   32u,   33u,   49u,     255u,    256u,
        257u, 511u, 512u, 513u, 1024u, 1025u, 5003u, 65'536u, 65'537u, 300'001u}) {
    Value expected = Value::at(7);
    for (std::size_t i = 0; i != n; ++i)
      expected = expected + Value::at(i);
    const auto all = std::views::iota(std::size_t{0}, n);
    REQUIRE(posse::map_reduce(rt, all, &Value::at, Value::at(7)) == expected);
    // As far as is known, this one may branch.
    const auto composed = [](const Value& a, const Value& b) { return a + b; };
    REQUIRE(posse::map_reduce(rt, all, &Value::at, Value::at(7), composed) == expected);
  }
}

} // namespace

TEST_CASE("reductions keep the order of elements, whatever their number and size") {
  for (const std::size_t executors : {1, 2}) {
    check_order<affine<1>>(executors);
    check_order<affine<10>>(executors);
    check_order<affine<11>>(executors);
    check_order<affine<62>>(executors);
    check_order<affine<63>>(executors);
  }
}

TEST_CASE("values of a reduction need no constexpr constructor") {
  struct box {
    int least;
    int greatest;
    box() : least(0), greatest(0) {
    }
    box(int a, int b) : least(a), greatest(b) {
    }
  };
  runtime rt{config_of(1)};
  const auto all = posse::map_reduce(
    rt, 10'000, [](int i) { return box(i, i); }, box(5, 5),
    [](const box& a, const box& b) {
      return box(std::min(a.least, b.least), std::max(a.greatest, b.greatest));
    });
  CHECK(all.least == 0);
  CHECK(all.greatest == 9'999);
}

TEST_CASE("reductions that go through parts by turns throw what comes first all the same") {
  runtime rt{config_of(1)};
  using best = std::pair<int, std::size_t>;
  const auto thrown_of = [&](std::size_t n, auto function) {
    try {
      posse::map_reduce(rt, n, function, best{}, [](best a, best b) { return std::min(a, b); });
    } catch (std::size_t thrown) {
      return thrown;
    }
    return n;
  };
  for (const std::size_t n : {100u, 10'000u, 65'536u})
    for (const std::size_t first : {0u, 1u, 30u, 99u}) {
      CHECK(thrown_of(n,
                      [=](std::size_t i) -> best {
                        return i >= first ? throw i : best{0, i};
                      })
            == first);
      // Functions that take a member are called in order.
      std::size_t next = 0;
      CHECK(thrown_of(n,
                      [&](member&, std::size_t i) -> best {
                        CHECK(i == next++);
                        return i >= first ? throw i : best{0, i};
                      })
            == first);
    }
  const auto all = numbers(10'000);
  int next = 0;
  posse::map_reduce(
    rt, posse::zip(all, all),
    [&](member&, int a, int) {
      CHECK(a == next++);
      return best{a, 0};
    },
    best{1, 0}, [](best a, best b) { return std::min(a, b); });
}

TEST_CASE("an operation that throws is only ever given neighbours") {
  struct run_of {
    int first;
    int last;
  };
  runtime rt{config_of(1)};
  for (int n : {300, 10'000, 100'000})
    for (int longest : {1, 40, 1000, 9'000})
      CHECK_THROWS_AS(posse::map_reduce(
                        rt, n,
                        [](int i) {
                          return run_of{i, i};
                        },
                        run_of{0, -1},
                        [&](run_of a, run_of b) {
                          CHECK(b.first == a.last + 1);
                          if (b.last - a.first >= std::min(longest, n - 1))
                            throw std::length_error{"long"};
                          return run_of{a.first, b.last};
                        }),
                      std::length_error);
}

TEST_CASE("reductions need no default constructor") {
  struct point {
    constexpr point(double a, double b) : x(a), y(b) {
    }
    double x;
    double y;
  };
  runtime rt{config_of(2)};
  for (int n : {1, 100, 10'000})
    CHECK(posse::map_reduce(
            rt, n,
            [](int i) {
              return point{static_cast<double>(i), 0};
            },
            point{0, 0}, [](point a, point b) { return a.x < b.x ? b : a; })
            .x
          == n - 1);
}

TEST_CASE(
  "values are kept in blocks if they are small and trivial to copy, however they are made") {
  using posse::detail::is_block_value;
  STATIC_REQUIRE(is_block_value<double>);
  STATIC_REQUIRE(is_block_value<std::complex<double>>);
  STATIC_REQUIRE(is_block_value<affine<62>>); // 256 bytes
  STATIC_REQUIRE(is_block_value<std::pair<double, int>>);
  STATIC_REQUIRE_FALSE(is_block_value<std::pair<double&, int>>);
  STATIC_REQUIRE_FALSE(is_block_value<std::optional<std::pair<double, int>>>);
  STATIC_REQUIRE_FALSE(is_block_value<affine<63>>);
  STATIC_REQUIRE_FALSE(is_block_value<std::string>);
}

TEST_CASE("an operation that is not known to have no branches gets one more element at a time") {
  struct run_of {
    int elements = 1;
  };
  runtime rt{config_of(1)};
  int calls = 0;
  int by_one = 0;
  const auto all = posse::map_reduce(
    rt, numbers(5000), [](int) { return run_of{}; }, run_of{0},
    [&](const run_of& a, const run_of& b) {
      ++calls;
      by_one += b.elements == 1 ? 1 : 0;
      return run_of{a.elements + b.elements};
    });
  CHECK(all.elements == 5000);
  // The others put together parts of blocks, and blocks. In groups of four, half of them would.
  CHECK(by_one > calls / 10 * 8);
}

TEST_CASE("values that can only be moved are reduced, too") {
  struct moved {
    long value = 0;
    explicit moved(long v) : value(v) {
    }
    moved(moved&&) = default;
    moved& operator=(moved&&) = default;
  };
  runtime rt{config_of(2)};
  const auto sum = posse::map_reduce(
    rt, numbers(5000), [](int i) { return moved{i}; }, moved{0},
    [](moved a, moved b) { return moved{a.value + b.value}; });
  CHECK(sum.value == 4999 * 5000 / 2);
}

TEST_CASE("values that cannot be assigned are reduced, too") {
  struct fixed {
    const int value;
  };
  runtime rt{config_of(2)};
  const auto sum = posse::map_reduce(
    rt, numbers(5000), [](int i) { return fixed{i}; }, fixed{0},
    [](fixed a, fixed b) { return fixed{a.value + b.value}; });
  CHECK(sum.value == 4999 * 5000 / 2);
}

TEST_CASE("sums of floating-point numbers are the same bit for bit on any number of executors") {
  const auto sum = [](std::size_t executors, std::size_t n) {
    runtime rt{config_of(executors)};
    return posse::map_reduce(
      rt, std::views::iota(std::size_t{0}, n),
      [](std::size_t i) { return 1.0F / static_cast<float>(i + 1); }, 0.0F, std::plus<>{});
  };
  for (const std::size_t n : {10u, 400u, 70'000u, 1'000'000u}) {
    const auto alone = sum(1, n);
    for (const std::size_t executors : {2, 3, 5})
      CHECK(std::bit_cast<std::uint32_t>(sum(executors, n)) == std::bit_cast<std::uint32_t>(alone));
  }
}

TEST_CASE("min_element, max_element and minmax_element take the numbers below n and less") {
  runtime rt{config_of(2)};
  for (const int n : {1, 7, 31, 32, 1000, 30'000}) {
    std::vector<unsigned> far(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i != far.size(); ++i)
      far[i] = static_cast<unsigned>(i * 2654435761u) % 997;
    const auto nearer = [&](int i, int j) {
      return far[static_cast<std::size_t>(i)] < far[static_cast<std::size_t>(j)];
    };
    const auto [least, greatest] = std::ranges::minmax_element(far);
    const auto first_greatest = std::ranges::max_element(far);
    const int found = posse::min_element(rt, n, nearer);
    REQUIRE(found == least - far.begin());
    REQUIRE(posse::max_element(rt, n, nearer) == first_greatest - far.begin());
    const auto [min, max] = posse::minmax_element(rt, n, nearer);
    REQUIRE(min == least - far.begin());
    REQUIRE(max == greatest - far.begin());
  }
  const auto never = [](auto, auto) -> bool { throw std::logic_error{"nothing to compare"}; };
  CHECK(posse::min_element(rt, 0, never) == 0);
  CHECK(posse::max_element(rt, -3, never) == 0);
  CHECK(posse::minmax_element(rt, 0u, never).max == 0u);
}

TEST_CASE("min_element and max_element find the first of equal ones") {
  runtime rt{config_of(2)};
  for (std::size_t n : {0, 1, 2, 3, 100, 1000, 30'000}) {
    auto v = shuffled(n, 50);
    CHECK(posse::min_element(rt, v) == std::ranges::min_element(v));
    CHECK(posse::max_element(rt, v) == std::max_element(v.begin(), v.end()));
    CHECK(posse::min_element(rt, v, std::greater<>{}) == std::ranges::max_element(v));
  }
}

TEMPLATE_TEST_CASE("minmax_element finds the first of the least and the last of the greatest", "",
                   unsigned char, int, long, float, double, std::string) {
  for (std::size_t executors : {1, 3}) {
    runtime rt{config_of(executors)};
    for (std::size_t n : {0, 1, 2, 31, 32, 33, 255, 256, 1024, 1025, 5000, 100'000})
      for (unsigned range : {1u, 2u, 50u, 1'000'000u}) {
        std::vector<TestType> v;
        for (auto x : shuffled(n, range))
          if constexpr (std::is_same_v<TestType, std::string>)
            v.push_back(std::to_string(x));
          else
            v.push_back(static_cast<TestType>(x));
        const auto [least, greatest] = posse::minmax_element(rt, v);
        const auto expected = std::ranges::minmax_element(v);
        REQUIRE(least == expected.min);
        REQUIRE(greatest == expected.max);
        REQUIRE(posse::min_element(rt, v) == expected.min);
        REQUIRE(posse::max_element(rt, v) == std::max_element(v.begin(), v.end()));
        const auto [last, first] = posse::minmax_element(rt, v, std::ranges::greater{});
        const auto backwards = std::ranges::minmax_element(v, std::ranges::greater{});
        REQUIRE(last == backwards.min);
        REQUIRE(first == backwards.max);
        const std::deque<TestType> elsewhere(v.begin(), v.end());
        const auto found = posse::minmax_element(rt, elsewhere);
        REQUIRE(found.min - elsewhere.begin() == expected.min - v.begin());
        REQUIRE(found.max - elsewhere.begin() == expected.max - v.begin());
      }
  }
}

TEMPLATE_TEST_CASE("a NaN is the least or the greatest where there is nothing else", "",
                   std::vector<double>, std::deque<float>) {
  using number = typename TestType::value_type;
  constexpr auto nan = std::numeric_limits<number>::quiet_NaN();
  runtime rt{config_of(2)};
  for (std::size_t n : {1, 2, 100, 3000})
    for (std::size_t numbers_from : {std::size_t{0}, std::size_t{1}, n / 2, n - 1, n})
      for (std::size_t every : {1, 3}) {
        TestType v(n, nan);
        for (auto i = numbers_from; i < n; i += every)
          v[i] = static_cast<number>(i % 100);
        auto least = v.begin();
        auto greatest = v.begin();
        for (auto i = v.begin(); i != v.end(); ++i) {
          if (*i < *least || (*least != *least && *i == *i))
            least = i;
          if (*i >= *greatest || (*greatest != *greatest && *i == *i))
            greatest = i;
        }
        const auto found = posse::minmax_element(rt, v);
        REQUIRE(found.min == least);
        REQUIRE(found.max == greatest);
        REQUIRE(posse::min_element(rt, v, std::greater<>{}) - v.begin()
                == posse::max_element(rt, v) - v.begin());
      }
}

TEST_CASE("any_of, all_of, none_of and count_if ask the predicate") {
  for (std::size_t executors : {1, 3}) {
    runtime rt{config_of(executors)};
    for (int n : {0, 1, 100, 10'000}) {
      const auto v = numbers(static_cast<std::size_t>(n));
      const auto is_last = [n](int x) { return x == n - 1; };
      const auto is_negative = [](member&, int x) { return x < 0; };
      CHECK(posse::any_of(rt, v, is_last) == (n > 0));
      CHECK(!posse::any_of(rt, v, is_negative));
      CHECK(posse::none_of(rt, v, is_last) == (n == 0));
      CHECK(posse::none_of(rt, v, is_negative));
      CHECK(posse::all_of(rt, v, [&](int x) { return !is_last(x); }) == (n == 0));
      CHECK(posse::all_of(rt, v, [](int x) { return std::optional<int>{x}; }));
      CHECK(posse::count_if(rt, v, [](int x) { return x % 3 == 0; })
            == static_cast<std::size_t>((n + 2) / 3));
      CHECK(posse::any_of(rt, n, is_last) == (n > 0));
      CHECK(posse::none_of(rt, n, is_negative));
      CHECK(posse::all_of(rt, n, [&](int x) { return x < n; }));
      CHECK(posse::count_if(rt, n, is_last) == (n > 0 ? 1 : 0));
      CHECK(posse::find_if(rt, n, is_last) == std::max(0, n - 1));
      CHECK(posse::find_if(rt, n, is_negative) == n);
    }
    CHECK(posse::find_if(rt, -3, [](int) { return true; }) == 0);
    const auto some = numbers(1000);
    CHECK(posse::all_of(rt, posse::zip(some, some), [](int a, int b) { return a == b; }));
  }
  runtime rt{config_of(1)};
  int asked = 0;
  CHECK(!posse::all_of(rt, numbers(100), [&](int x) {
    ++asked;
    return x != 3;
  }));
  CHECK(asked == 4);
}

TEST_CASE("for_each and for_each_chunk take two numbers as well") {
  const auto in_chunks = GENERATE(false, true);
  const auto sum = [&](auto first, auto last) {
    std::atomic<long> result{0}, calls{0};
    runtime rt;
    if (in_chunks)
      posse::for_each_chunk(rt, first, last, [&](auto from, auto to) {
        for (; from != to; ++from, ++calls)
          result += static_cast<long>(from);
      });
    else
      posse::for_each(rt, first, last, [&](auto i) {
        result += static_cast<long>(i);
        ++calls;
      });
    return std::pair{result.load(), calls.load()};
  };
  CHECK(sum(3, 10) == std::pair{42L, 7L});
  CHECK(sum(-3, 3) == std::pair{-3L, 6L});
  CHECK(sum(0, std::size_t{10}) == std::pair{45L, 10L});
  CHECK(sum(-2, std::size_t{2}) == std::pair{-2L, 4L});
  CHECK(sum(std::uint8_t{250}, 260) == std::pair{2545L, 10L});
  CHECK(sum(-1, 2u) == std::pair{0L, 3L});
  CHECK(sum(2'999'999'998, 3'000'000'000u) == std::pair{5'999'999'997L, 2L});
  CHECK(sum(0, 3u) == std::pair{3L, 3L});
  CHECK(sum(4'000'000'000u, 5) == std::pair{0L, 0L});
  CHECK(sum(1L << 40, (1L << 40) + 2) == std::pair{(1L << 41) + 1, 2L});
  CHECK(sum(5, 5) == std::pair{0L, 0L});
  CHECK(sum(5, 4) == std::pair{0L, 0L});
  CHECK(sum(5u, 4u) == std::pair{0L, 0L});
}

TEST_CASE("there may be more numbers than their type can count") {
  runtime rt;
  std::atomic<long> count{0};
  constexpr int least = std::numeric_limits<int>::min(), most = std::numeric_limits<int>::max();
  posse::for_each_chunk(rt, least, most,
                        [&](int first, int last) { count += long{last} - long{first}; });
  CHECK(count == (1L << 32) - 1);
}

TEST_CASE("a number stands for the numbers below it") {
  runtime rt{config_of(2)};
  std::vector<int> squares(1000);
  posse::for_each(rt, 1000, [&](int i) { squares[static_cast<std::size_t>(i)] = i * i; });
  std::atomic<int> in_chunks{0};
  const auto count
    = [&](std::same_as<int> auto first, std::same_as<int> auto last) { in_chunks += last - first; };
  posse::for_each_chunk(rt, -1, count);
  CHECK(in_chunks == 0);
  posse::for_each_chunk(rt, 1000, count);
  CHECK(in_chunks == 1000);
  CHECK(posse::map(rt, std::size_t{1000}, [](std::size_t i) { return static_cast<int>(i * i); })
        == squares);
  CHECK(posse::map(rt, 3, [](member&, int i) { return i; }) == std::vector{0, 1, 2});
  CHECK(posse::map_reduce(
          rt, 1000l, [](long i) { return i; }, 0l)
        == 499'500);
  CHECK(posse::map_reduce(
          rt, 3, [](int i) { return 2. + i; }, 1., std::multiplies<>{})
        == 24);
  CHECK(posse::accumulate(
          rt, 1000, 0, [](int& to, int i) { to += i; }, [](int& to, int from) { to += from; })
        == 499'500);
  posse::for_each(rt, 0u, [](unsigned) { FAIL("none"); });
  posse::for_each(rt, -5, [](int) { FAIL("none"); });
}

TEST_CASE("find_if finds the first match and stops") {
  runtime rt{config_of(1)};
  auto v = numbers(100'000);
  for (int wanted : {0, 1, 15, 16, 17, 5000, 99'999}) {
    int looked = 0;
    auto found = posse::find_if(rt, v, [&](int x) {
      ++looked;
      return x >= wanted;
    });
    CHECK(found - v.begin() == wanted);
    CHECK(looked == wanted + 1);
  }
  CHECK(posse::find_if(rt, v, [](int x) { return x < 0; }) == v.end());
  CHECK(posse::find_if(rt, v, [](int x) { return std::optional<int>{x}; }) == v.begin());
  std::vector<int> none;
  CHECK(posse::find_if(rt, none, [](int) { return true; }) == none.end());
}

// Integers are scanned in one pass, floating-point numbers and others after their sums.
TEMPLATE_TEST_CASE("scans equal the standard's, into other elements and in place", "", int,
                   double) {
  using number = TestType;
  runtime rt{config_of(2)};
  auto longest = [](number a, number b) { return std::max(a, b); };
  const auto numbers = [](std::size_t n) {
    const auto v = shuffled(n, 1000);
    return std::vector<number>(v.begin(), v.end());
  };
  for (std::size_t n : {0, 1, 2, 100, 1007, 1008, 1009, 4031, 4032, 4033, 4097, 5041, 40'000}) {
    auto v = numbers(n);
    std::vector<number> expected(n);
    std::vector<number> out(n, number{-1});
    std::inclusive_scan(v.begin(), v.end(), expected.begin());
    posse::inclusive_scan(rt, v, out);
    CHECK(out == expected);
    std::inclusive_scan(v.begin(), v.end(), expected.begin(), longest, number{500});
    posse::inclusive_scan(rt, v, out, longest, number{500});
    CHECK(out == expected);
    std::exclusive_scan(v.begin(), v.end(), expected.begin(), number{7});
    posse::exclusive_scan(rt, v, out, number{7});
    CHECK(out == expected);
    out = v;
    posse::exclusive_scan(rt, out, out, number{7});
    CHECK(out == expected);
    std::inclusive_scan(v.begin(), v.end(), v.begin());
    posse::inclusive_scan(rt, out = numbers(n), out);
    CHECK(out == v);
  }
}

TEST_CASE("scans of strings keep the order") {
  runtime rt{config_of(2)};
  for (std::size_t n : {1, 2, 3, 255, 256, 257, 1025}) {
    auto text
      = posse::map(rt, numbers(n), [](int i) { return std::string(1, char('a' + i % 26)); });
    std::vector<std::string> expected(n);
    std::vector<std::string> out(n);
    std::inclusive_scan(text.begin(), text.end(), expected.begin());
    posse::inclusive_scan(rt, text, out);
    CHECK(out == expected);
    std::exclusive_scan(text.begin(), text.end(), expected.begin(), std::string{">"});
    posse::exclusive_scan(rt, text, out, std::string{">"});
    CHECK(out == expected);
    out = text;
    posse::exclusive_scan(rt, out, out, std::string{">"});
    CHECK(out == expected);
    std::inclusive_scan(text.begin(), text.end(), expected.begin());
    posse::inclusive_scan(rt, text, text);
    CHECK(text == expected);
  }
}

TEST_CASE("a scan combines at most twice for each element, and few elements once") {
  runtime rt{config_of(1)};
  for (const std::size_t n : {1, 2, 100, 127, 128, 1000}) {
    const std::vector<std::pair<int, int>> in(n, {1, 2});
    auto out = in;
    std::size_t combined = 0;
    posse::inclusive_scan(rt, in, out, [&](const auto& a, const auto& b) {
      ++combined;
      return std::pair{a.first + b.first, a.second + b.second};
    });
    CHECK(out.back() == std::pair{static_cast<int>(n), static_cast<int>(2 * n)});
    CHECK(combined <= 2 * n);
    if (n < 128)
      CHECK(combined == n - 1);
  }
}

namespace {

/// An element that is no number, and is added as one.
struct metres {
  double value = 0.5;

  operator double() const {
    return value;
  }
};

} // namespace

TEST_CASE("sums of fractions in an integer do not depend on thefts") {
  const std::vector<metres> halves(400'000);
  const auto scan = [&](std::size_t executors) {
    runtime rt{config_of(executors)};
    std::vector<int> sums(halves.size());
    posse::inclusive_scan(rt, halves, sums, std::plus<>{}, -1'000'000); // never at 0
    return sums;
  };
  const auto expected = scan(1);
  for (int i = 0; i < 10; ++i)
    CHECK((scan(2) == expected));
}

TEST_CASE("operations that are no sums may have an integer's type over fractions") {
  runtime rt{config_of(2)};
  const std::vector<double> numbers{0., 2.5, 7.25};
  CHECK(posse::reduce(rt, numbers, false, std::logical_or<>{}));
  CHECK(posse::map_reduce(
          rt, numbers, [](double x) { return x; }, 0L, [](long a, long b) { return a < b ? b : a; })
        == 7);
  std::vector<bool> bits{false, true, false};
  CHECK(posse::max_element(
          rt, bits,
          [](std::vector<bool>::reference a, std::vector<bool>::reference b) { return !a && b; })
        == bits.begin() + 1);
}

TEST_CASE("scans take any range, and sums of another type than the elements") {
  runtime rt{config_of(2)};
  const auto n = GENERATE(as<std::size_t>{}, 1, 127, 128, 255, 256, 257, 2559, 2560, 2561, 10'241);
  const auto ints = numbers(n);
  std::vector<long long> sums(n), expected(n);
  std::inclusive_scan(ints.begin(), ints.end(), expected.begin(), std::plus<>{}, 1LL << 40);
  posse::inclusive_scan(rt, ints, sums, std::plus<>{}, 1LL << 40);
  CHECK(sums == expected);
  std::vector<double> halves(n), expected_halves(n);
  std::exclusive_scan(ints.begin(), ints.end(), expected_halves.begin(), 0.5);
  posse::exclusive_scan(rt, std::views::iota(0, static_cast<int>(n)), halves, 0.5);
  CHECK(halves == expected_halves);
  using interval = std::pair<int, int>;
  const auto hull = [](const interval& a, const interval& b) {
    return interval{std::min(a.first, b.first), std::max(a.second, b.second)};
  };
  std::deque<interval> hulls;
  for (const int i : shuffled(n, 1000))
    hulls.emplace_back(i, i);
  auto expected_hulls = hulls;
  std::inclusive_scan(hulls.begin(), hulls.end(), expected_hulls.begin(), hull);
  posse::inclusive_scan(rt, hulls, hulls, hull);
  CHECK(hulls == expected_hulls);
}

TEST_CASE("sort sorts numbers and strings, in any order, whatever their pattern") {
  runtime rt{config_of(2)};
  for (std::size_t n : {0, 1, 2, 3, 255, 256, 257, 4096, 4097, 100'000})
    for (unsigned range : {1u, 2u, 10u, 1'000'000'007u}) {
      auto v = shuffled(n, range);
      auto expected = v;
      std::ranges::sort(expected);
      posse::sort(rt, v);
      REQUIRE(v == expected);
      posse::sort(rt, v); // sorted already
      REQUIRE(v == expected);
      posse::sort(rt, v, std::greater<>{});
      std::ranges::reverse(expected);
      REQUIRE(v == expected);
      posse::sort(rt, v, [](int a, int b) { return a < b; });
      std::ranges::reverse(expected);
      REQUIRE(v == expected);
    }
  auto names = posse::map(rt, shuffled(20'000), [](int i) { return std::to_string(i); });
  std::deque<std::string> deque(names.begin(), names.end());
  std::ranges::sort(names);
  posse::sort(rt, deque);
  CHECK(std::ranges::equal(names, deque));
}

TEST_CASE("sort compares what is sorted already no more than once") {
  runtime rt{config_of(1)};
  constexpr int n = 20'000;
  const auto comparisons = [&](std::vector<int> v) {
    long count = 0;
    posse::sort(rt, v, [&](int a, int b) {
      ++count;
      return a < b;
    });
    CHECK(std::ranges::is_sorted(v));
    return count;
  };
  std::vector<int> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  CHECK(comparisons(numbers) == n - 1);
  CHECK(comparisons(std::vector<int>(n, 7)) == n - 1); // all equal
  CHECK(comparisons(shuffled(n)) > 8 * n);
}

namespace {

struct record {
  int key;
  int other;
};

} // namespace

TEST_CASE("sort leaves what is nearly in order nearly as it is") {
  runtime rt{config_of(1)};
  constexpr int n = 20'000;
  std::vector<record> v;
  for (int i = 0; i < n; ++i)
    v.push_back({i, -i});
  std::swap(v[17], v[18]);
  long count = 0;
  posse::sort(rt, v, [&](const record& a, const record& b) {
    ++count;
    return a.key < b.key;
  });
  CHECK(std::ranges::is_sorted(v, {}, &record::key));
  CHECK(count < 5 * n); // what is around these two is divided further, and nothing else
}

TEST_CASE("sort leaves numbers that are nearly in order nearly as they are") {
  runtime rt{config_of(1)};
  constexpr int n = 20'000;
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 0);
  std::swap(v[17], v[18]);
  long count = 0;
  posse::sort(rt, v, [&](int a, int b) {
    ++count;
    return a < b;
  });
  CHECK(std::ranges::is_sorted(v));
  CHECK(count < 5 * n);
}

TEST_CASE("sort sorts numbers of which few or many are misplaced, near or far") {
  runtime rt{config_of(2)};
  constexpr std::size_t n = 30'000;
  for (std::size_t swaps : {1, 10, 100, 1000, 3000, 10'000})
    for (std::size_t far : {std::size_t{2}, std::size_t{100}, n})
      for (int equal : {1, 50, 10'000}) {
        std::vector<int> v(n);
        for (std::size_t i = 0; i < n; ++i)
          v[i] = static_cast<int>(i) / equal;
        const auto places = shuffled(2 * swaps);
        for (std::size_t i = 0; i < swaps; ++i) {
          const auto at = static_cast<std::size_t>(places[2 * i]) % n;
          std::swap(v[at], v[(at + static_cast<std::size_t>(places[2 * i + 1]) % far) % n]);
        }
        auto expected = v;
        std::ranges::sort(expected);
        const std::vector<double> doubles(v.rbegin(), v.rend());
        auto descending = doubles;
        posse::sort(rt, v);
        REQUIRE(v == expected);
        posse::sort(rt, descending, std::greater<>{});
        REQUIRE(std::equal(descending.begin(), descending.end(), expected.rbegin()));
      }
}

TEST_CASE("sort sorts whatever is left over by blocks of elements") {
  runtime rt{config_of(1)};
  for (std::size_t n = 257; n < 700; ++n)
    for (unsigned range : {3u, 1'000'000'007u}) {
      std::vector<record> v;
      for (const int key : shuffled(n, range))
        v.push_back({key, -key});
      posse::sort(rt, v, [](const record& a, const record& b) { return a.key < b.key; });
      auto expected = shuffled(n, range);
      std::ranges::sort(expected);
      REQUIRE(std::ranges::equal(v, expected, {}, &record::key));
      REQUIRE(std::ranges::all_of(v, [](const record& r) { return r.other == -r.key; }));
    }
}

TEST_CASE("sort needs n log n comparisons even where pivots are bad") {
  runtime rt{config_of(1)};
  constexpr std::size_t n = 20'000;
  // McIlroy's adversary decides what an element is only when it is compared,
  // so that every pivot turns out to be small.
  constexpr int gas = static_cast<int>(n);
  std::vector<int> value(n, gas);
  int solid = 0;
  std::size_t candidate = 0;
  long comparisons = 0;
  auto less = [&](std::size_t x, std::size_t y) {
    ++comparisons;
    if (value[x] == gas && value[y] == gas)
      value[x == candidate ? x : y] = solid++;
    if (value[x] == gas)
      candidate = x;
    else if (value[y] == gas)
      candidate = y;
    return value[x] < value[y];
  };
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  posse::sort(rt, order, less);
  CHECK(comparisons < 8L * 20'000 * 15);
  std::vector<int> found;
  for (auto i : order)
    found.push_back(value[i]);
  CHECK(std::ranges::is_sorted(found));
}

TEST_CASE("stable_sort keeps the order of equal elements") {
  runtime rt{config_of(2)};
  struct item {
    int key;
    std::size_t place;
    bool operator==(const item&) const = default;
  };
  for (std::size_t n : {0, 1, 2, 511, 512, 513, 1500, 50'000})
    for (unsigned range : {1u, 3u, 1000u, 1'000'000'007u}) {
      std::vector<item> v;
      for (auto key : shuffled(n, range))
        v.push_back({key, v.size()});
      auto expected = v;
      auto less = [](const item& a, const item& b) { return a.key < b.key; };
      std::ranges::stable_sort(expected, less);
      posse::stable_sort(rt, v, less);
      REQUIRE(v == expected);
    }
  auto v = shuffled(50'000);
  auto expected = v;
  std::ranges::sort(expected);
  posse::stable_sort(rt, v);
  CHECK(v == expected);
}

TEST_CASE("move-only elements can be sorted") {
  runtime rt{config_of(2)};
  auto less = [](const auto& a, const auto& b) { return *a < *b; };
  std::vector<std::unique_ptr<int>> v;
  for (auto x : shuffled(20'000))
    v.push_back(std::make_unique<int>(x));
  auto w = posse::map(rt, v, [](const auto& p) { return std::make_unique<int>(*p); });
  posse::sort(rt, v, less);
  posse::stable_sort(rt, w, less);
  CHECK(std::ranges::is_sorted(v, less));
  CHECK(std::ranges::equal(v, w, [](const auto& a, const auto& b) { return *a == *b; }));
}

TEST_CASE("the first exception in the order of elements comes out") {
  for (std::size_t executors : {1, 2}) {
    runtime rt{config_of(executors)};
    auto v = numbers(50'000);
    auto thrown = [](auto call) {
      try {
        call();
      } catch (const too_big& e) {
        return e.value;
      }
      return -1;
    };
    auto check = [](int x) {
      if (x >= 20'000)
        throw too_big{x};
      return x;
    };
    CHECK(thrown([&] { posse::for_each(rt, v, check); }) == 20'000);
    CHECK(thrown([&] { posse::map(rt, v, check); }) == 20'000);
    CHECK(thrown([&] { posse::map_reduce(rt, v, check, 0L, std::plus<>{}); }) == 20'000);
    CHECK(thrown([&] { posse::find_if(rt, v, [&](int x) { return check(x) < 0; }); }) == 20'000);
    // A match before it, as in a sequential loop, means that it never happens.
    CHECK(thrown([&] {
            auto found = posse::find_if(rt, v, [&](int x) { return check(x) == 19'999; });
            CHECK(*found == 19'999);
          })
          == -1);
    CHECK(
      thrown([&] { posse::sort(rt, v, [&](int a, int b) { return check(std::min(a, b)) < b; }); })
      >= 20'000);
    std::ranges::sort(v);
    CHECK(v == numbers(50'000)); // nothing lost
  }
}

TEST_CASE("fork_merge_n runs every branch") {
  runtime rt{config_of(2)};
  for (std::size_t n : {0, 1, 2, 10, 1000}) {
    std::vector<std::size_t> results(n);
    rt.run([&](member& m) {
      posse::fork_merge_n(m, n, [&](member&, std::size_t i) { results[i] = i + 1; });
    });
    for (std::size_t i = 0; i < n; ++i)
      CHECK(results[i] == i + 1);
  }
}

TEST_CASE("algorithms are declared functions: they count, can be offloaded and nested") {
  runtime rt{config_of(2)};
  auto calls = [&] {
    for (const auto& f : rt.stats().functions)
      if (f.name == "reduce")
        return f.calls;
    return std::uint64_t{0};
  };
  auto before = calls();
  CHECK(posse::reduce.offload(rt, numbers(10), 0) == 45);
  CHECK(calls() == before + 1);
  auto sums = rt.run([&](member& m) {
    return posse::map(m, std::views::iota(1, 100), [](member& k, int n) {
      return posse::reduce(k, numbers(static_cast<std::size_t>(n)), 0);
    });
  });
  CHECK(sums.back() == 99 * 98 / 2);
}

TEST_CASE("algorithms stop when the runtime is cancelled") {
  runtime rt{config_of(1)};
  CHECK_THROWS_AS(posse::for_each(rt, std::views::iota(0L, 1L << 60),
                                  [&](long i) {
                                    if (i == 100'000)
                                      rt.cancel();
                                  }),
                  posse::cancelled);
}
