// for_each_chunk, zip, filter and merge: the standard's results for many sizes, what comes out when
// something throws, cancellation, and where they can be called from.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/posse.hpp>

#include "stepped_runtime.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
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

constexpr std::size_t sizes[] = {0, 1, 2, 3, 15, 16, 17, 255, 256, 257, 1000, 4097, 100'000};

struct too_big : std::runtime_error {
  explicit too_big(int v) : std::runtime_error("too big"), value(v) {
  }
  int value;
};

// Equal keys that can be told apart.
struct record {
  int key = 0;
  std::size_t place = 0;

  bool operator==(const record&) const = default;
};

std::vector<record> records(std::size_t n, std::size_t from) {
  std::vector<record> result;
  for (auto key : shuffled(n, static_cast<unsigned>(n / 3 + 1)))
    result.push_back({key, from++});
  std::ranges::stable_sort(result, {}, &record::key);
  return result;
}

// Stands for an actor's handle.
struct caller {
  runtime* host;
};

} // namespace

template <>
struct basal::posse::caller_traits<caller> {
  static runtime& runtime_of(const caller& c) {
    return *c.host;
  }
};

TEST_CASE("chunks cover every element once, in order when nobody steals") {
  runtime one{config_of(1)};
  runtime three{config_of(3)};
  for (auto n : sizes) {
    std::size_t next = 0;
    posse::for_each_chunk(one, n, [&](std::size_t first, std::size_t last) {
      REQUIRE(first == next);
      REQUIRE(first < last);
      next = last;
    });
    CHECK(next == n);
    std::vector<int> v(n, 1);
    posse::for_each_chunk(caller{&three}, v, [](int* first, int* last) {
      for (; first != last; ++first)
        *first += 2;
    });
    std::deque<int> d(n, 1);
    posse::for_each_chunk(three, d, [](member&, auto first, auto last) {
      for (; first != last; ++first)
        *first += 2;
    });
    CHECK(std::ranges::all_of(v, [](int x) { return x == 3; }));
    CHECK(std::ranges::all_of(d, [](int x) { return x == 3; }));
  }
}

TEST_CASE("chunks that cost much by themselves are few, their thief's, too") {
  using namespace basal::test;
  stepped_runtime host{by_worth(2)};
  const std::size_t n = 640;
  std::vector<std::size_t> lengths[2];
  bool is_known = false;
  const auto chunks = [&](member& m) {
    posse::for_each_chunk(m, n, [&](member& k, std::size_t first, std::size_t last) {
      pass(20us);
      lengths[k.executor().index()].push_back(last - first);
      if (first == 0 && is_known)
        let_thieves_begin(k);
    });
  };
  started unknown{host, 0, chunks};
  host.run_all();
  CHECK(unknown.has_ended());
  is_known = true;
  lengths[0].clear();
  started known{host, 0, chunks};
  host.run(0);
  host.run(1);
  go_on();
  host.run_all();
  CHECK(known.has_ended());
  // The thief, which does its part while the other one waits, takes of that one's, too.
  CHECK(lengths[0].size() + lengths[1].size() <= 2 * 17);
  for (const auto& mine : lengths) {
    CHECK(mine.size() >= 3);
    CHECK(std::ranges::count_if(mine, [](auto length) { return length < n / 32; }) <= 4);
  }
}

TEST_CASE("zip makes one range of several, as long as the shortest") {
  runtime rt{config_of(3)};
  for (auto n : sizes) {
    auto a = shuffled(n);
    const auto b = shuffled(n + 5);
    std::vector<long> sums(n + 2, -1);
    posse::for_each(rt, posse::zip(a, b, sums),
                    [](int& x, const int& y, long& sum) { sum = long{x} + y; });
    for (std::size_t i = 0; i != n; ++i)
      REQUIRE(sums[i] == long{a[i]} + b[i]);
    CHECK(sums[n] == -1);
    // Without a member, with one, and the tuple as it is.
    auto less = [](int x, int y) { return x < y ? 1 : 0; };
    auto plain = posse::map(rt, posse::zip(a, b), less);
    CHECK(plain
          == posse::map(rt, posse::zip(a, b), [=](member&, int x, int y) { return less(x, y); }));
    CHECK(plain == posse::map(rt, posse::zip(a, b), [=](const std::tuple<int&, const int&>& t) {
            return less(std::get<0>(t), std::get<1>(t));
          }));
    // Generic ones could take a member and the tuple: they take what has been zipped.
    CHECK(posse::map(rt, posse::zip(a, b), [](const auto&, const auto& y) { return sizeof(y); })
          == std::vector<std::size_t>(n, sizeof(int)));
    CHECK(posse::map(rt, posse::zip(a, b, sums), [](auto&&... all) { return sizeof...(all); })
          == std::vector<std::size_t>(n, 3));
    CHECK(plain == posse::map(rt, posse::zip(a, b), [](member&, const auto& t) {
            return std::get<0>(t) < std::get<1>(t) ? 1 : 0;
          }));
    CHECK(posse::map_reduce(
            rt, posse::zip(a, b), [](int x, int y) { return long{x} * y % 7; }, 0l, std::plus<>{})
          == std::inner_product(a.begin(), a.end(), b.begin(), 0l, std::plus<>{},
                                [](int x, int y) { return long{x} * y % 7; }));
  }
}

TEST_CASE("filter keeps what passes, in order, and asks once for each element") {
  for (std::size_t executors : {1, 3}) {
    runtime rt{config_of(executors)};
    for (auto n : sizes) {
      const auto v = shuffled(n, 100);
      std::vector<char> asked(n, 0);
      auto few = posse::filter(caller{&rt}, v, [&](const int& x) {
        ++asked[static_cast<std::size_t>(&x - v.data())];
        return x < 10;
      });
      std::vector<int> expected;
      std::ranges::copy_if(v, std::back_inserter(expected), [](int x) { return x < 10; });
      CHECK(few == expected);
      CHECK(std::ranges::all_of(asked, [](char times) { return times == 1; }));
      CHECK(posse::filter(rt, v, [](member&, int) { return true; }) == v);
      CHECK(posse::filter(rt, v, [](int) { return false; }).empty());
    }
    std::vector<std::string> words{"a", "bb", "c", "dd"};
    CHECK(posse::filter(rt, words, [](const std::string& w) { return w.size() == 2; })
          == std::vector<std::string>{"bb", "dd"});
    CHECK(words[1] == "bb"); // copied
    CHECK(posse::filter(rt, std::views::iota(0, 10), [](int x) { return x % 4 == 0; })
          == std::vector<int>{0, 4, 8});
  }
}

TEST_CASE("partition keeps what passes and, apart, what does not, in order, and asks once") {
  for (std::size_t executors : {1, 3}) {
    runtime rt{config_of(executors)};
    for (auto n : sizes) {
      const auto v = shuffled(n, 100);
      for (int limit : {0, 2, 50, 98, 100}) {
        std::vector<char> asked(n, 0);
        const auto [few, many] = posse::partition(caller{&rt}, v, [&](const int& x) {
          ++asked[static_cast<std::size_t>(&x - v.data())];
          return x < limit;
        });
        std::vector<int> passing;
        std::vector<int> others;
        std::ranges::partition_copy(v, std::back_inserter(passing), std::back_inserter(others),
                                    [&](int x) { return x < limit; });
        CHECK(few == passing);
        CHECK(many == others);
        CHECK(std::ranges::all_of(asked, [](char times) { return times == 1; }));
      }
    }
    const std::vector<std::string> words{"a", "bb", "c", "dd"};
    const auto [long_ones, short_ones]
      = posse::partition(rt, words, [](member&, const std::string& w) { return w.size() == 2; });
    CHECK(long_ones == std::vector<std::string>{"bb", "dd"});
    CHECK(short_ones == std::vector<std::string>{"a", "c"});
    const auto [even, odd]
      = posse::partition(rt, std::views::iota(0, 6), [](int x) { return x % 2 == 0; });
    CHECK(even == std::vector<int>{0, 2, 4});
    CHECK(odd == std::vector<int>{1, 3, 5});
  }
}

TEST_CASE("filter and partition copy the elements of a container once, and move those of a view") {
  static int copied = 0;
  static int moved = 0;
  struct counted {
    explicit counted(int n = 0) : number(n) {
    }
    counted(const counted& other) : number(other.number) {
      ++copied;
    }
    counted(counted&& other) noexcept : number(other.number) {
      ++moved;
    }
    counted& operator=(const counted& other) {
      number = other.number;
      ++copied;
      return *this;
    }
    counted& operator=(counted&& other) noexcept {
      number = other.number;
      ++moved;
      return *this;
    }
    int number;
  };
  runtime rt{config_of(1)};
  std::vector<counted> all;
  for (int i = 0; i < 100; ++i)
    all.emplace_back(i);
  copied = moved = 0;
  const auto is_small = [](const counted& x) { return x.number < 30; };
  CHECK(posse::filter(rt, all, is_small).size() == 30);
  CHECK(copied == 30);
  const auto [small, large] = posse::partition(rt, all, is_small);
  CHECK(small.size() == 30);
  CHECK(large.front().number == 30);
  CHECK(copied == 30 + 100);
  CHECK(moved == 0);
  int times_made = 0;
  const auto made = std::views::iota(0, 100) | std::views::transform([&](int i) {
                      ++times_made;
                      return counted{i};
                    });
  CHECK(posse::filter(rt, made, is_small).size() == 30);
  CHECK(times_made == 100);
  CHECK(copied == 30 + 100);
}

TEST_CASE("filter takes nothing from elements that do not pass") {
  runtime rt{config_of(1)};
  std::vector<std::string> words{"a long word that is on the heap", "a", "another long word, too"};
  const auto moved = words | std::views::transform([](std::string& word) -> std::string&& {
                       return std::move(word);
                     });
  const auto is_long = [](const std::string& word) { return word.size() > 1; };
  CHECK(posse::filter(rt, moved, is_long).size() == 2);
  CHECK(words == std::vector<std::string>{"", "a", ""});
}

TEST_CASE("filter and partition take elements of any range with random access") {
  for (std::size_t executors : {1, 3}) {
    runtime rt{config_of(executors)};
    const auto v = shuffled(20'000, 1000);
    const std::deque<int> elsewhere(v.begin(), v.end());
    const auto is_wanted = [](int x) { return std::optional<int>{x} < 300; };
    std::vector<int> expected;
    std::ranges::copy_if(v, std::back_inserter(expected), is_wanted);
    CHECK(posse::filter(rt, elsewhere, is_wanted) == expected);
    CHECK(posse::partition(rt, elsewhere, is_wanted).first == expected);
    const auto found
      = posse::filter(rt, posse::zip(std::views::iota(0, 1000), std::views::iota(1, 1001)),
                      [](int a, int b) { return (a + b) % 5 == 0; });
    CHECK(found.size() == 200);
    CHECK(found.back() == std::tuple{997, 998});
    const std::vector<std::tuple<int, int>> pairs{{1, 2}, {3, 3}};
    const auto are_equal = [](int a, int b) { return a == b; };
    CHECK(posse::filter(rt, pairs, are_equal) == std::vector{std::tuple{3, 3}});
    struct truth {
      explicit operator bool() const {
        return holds;
      }
      bool holds;
    };
    CHECK(posse::filter(rt, v, [&](int x) { return truth{is_wanted(x)}; }) == expected);
  }
}

TEST_CASE("filter keeps what passes, whether seldom, often, in runs or as it happens") {
  struct large {
    std::array<int, 10> numbers;
  };
  for (std::size_t executors : {1, 3}) {
    runtime rt{config_of(executors)};
    for (std::size_t n : {1, 7, 8, 9, 1023, 1024, 1025, 2049, 50'000}) {
      const auto v = shuffled(n, 1000);
      std::vector<large> larger(n);
      for (std::size_t i = 0; i < n; ++i)
        larger[i].numbers[9] = v[i];
      for (std::size_t changes_at : {n, n / 2})
        for (int limit : {0, 10, 500, 990, 1000}) {
          const auto passes = [&](std::size_t i) {
            return i < changes_at ? v[i] < limit : v[i] >= limit && i % 1000 < 700;
          };
          std::vector<int> expected;
          std::vector<int> others;
          for (std::size_t i = 0; i < n; ++i)
            (passes(i) ? expected : others).push_back(v[i]);
          const auto passes_at
            = [&](const int& x) { return passes(static_cast<std::size_t>(&x - v.data())); };
          REQUIRE(posse::filter(rt, v, passes_at) == expected);
          REQUIRE(posse::partition(rt, v, passes_at) == std::pair{expected, others});
          const auto large_found = posse::filter(rt, larger, [&](const large& x) {
            return passes(static_cast<std::size_t>(&x - larger.data()));
          });
          REQUIRE(std::ranges::equal(large_found, expected, {},
                                     [](const large& x) { return x.numbers[9]; }));
          const auto made
            = std::views::iota(std::size_t{0}, n) | std::views::transform([&](std::size_t i) {
                return std::pair{i, v[i]};
              });
          const auto [pairs, rest]
            = posse::partition(rt, made, [&](const auto& x) { return passes(x.first); });
          REQUIRE(std::ranges::equal(pairs, expected, {}, [](const auto& x) { return x.second; }));
          REQUIRE(std::ranges::equal(rest, others, {}, [](const auto& x) { return x.second; }));
        }
    }
  }
}

TEST_CASE("filter and partition take the numbers below n") {
  runtime rt{config_of(2)};
  const auto even = [](auto x) { return x % 2 == 0; };
  CHECK(posse::filter(rt, 7, even) == std::vector{0, 2, 4, 6});
  CHECK(posse::filter(rt, -7, even).empty());
  CHECK(posse::partition(rt, 3u, even) == std::pair{std::vector{0u, 2u}, std::vector{1u}});
}

TEST_CASE("merge does what std::merge does, equal elements included") {
  for (std::size_t executors : {1, 3}) {
    runtime rt{config_of(executors)};
    for (auto n : sizes)
      for (auto other : {std::size_t{0}, std::size_t{7}, n / 2, n}) {
        auto a = records(n, 0);
        auto b = records(other, n);
        auto by_key = [](const record& x, const record& y) { return x.key < y.key; };
        std::vector<record> merged(n + other);
        std::vector<record> expected(n + other);
        posse::merge(caller{&rt}, a, b, merged, by_key);
        std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin(), by_key);
        REQUIRE(merged == expected);
      }
    auto numbers = shuffled(5000);
    std::ranges::sort(numbers, std::greater<>{});
    const std::deque<int> none;
    std::deque<int> same(numbers.size());
    posse::merge(rt, numbers, none, same, std::ranges::greater{});
    CHECK(std::ranges::equal(same, numbers));
    std::vector<std::string> words{"a", "c"};
    std::vector<std::string> all(3);
    posse::merge(rt, words, std::vector<std::string>{"b"}, all);
    CHECK(all == std::vector<std::string>{"a", "b", "c"});
    CHECK(words[0] == "a"); // copied
  }
}

TEST_CASE("the first exception in the order of elements comes out") {
  for (std::size_t executors : {1, 3}) {
    runtime rt{config_of(executors)};
    std::vector<int> v(20'000);
    std::iota(v.begin(), v.end(), 0);
    auto check = [](int x) {
      if (x == 777 || x >= 15'000)
        throw too_big{x};
      return true;
    };
    auto error_of = [&](auto call) {
      try {
        call();
      } catch (const too_big& error) {
        return error.value;
      }
      return -1;
    };
    CHECK(error_of([&] { posse::filter(rt, v, check); }) == 777);
    CHECK(error_of([&] { posse::for_each(rt, posse::zip(v, v), [&](int x, int) { check(x); }); })
          == 777);
    CHECK(error_of([&] {
            posse::for_each_chunk(rt, v, [&](int* first, int* last) {
              for (; first != last; ++first)
                check(*first);
            });
          })
          == 777);
    std::vector<int> out(2 * v.size());
    CHECK_THROWS_AS(posse::merge(rt, v, v, out,
                                 [](int a, int b) -> bool {
                                   if (a == 777)
                                     throw too_big{a};
                                   return a < b;
                                 }),
                    too_big);
  }
}

TEST_CASE("they end when they are cancelled") {
  auto cancelled = [](auto call) {
    runtime rt{config_of(2)};
    try {
      call(rt);
    } catch (const posse::cancelled&) {
      return true;
    }
    return false;
  };
  const std::vector<int> v(100'000);
  CHECK(cancelled([&](runtime& rt) {
    posse::filter(rt, v, [&](int) {
      rt.cancel();
      return true;
    });
  }));
  CHECK(cancelled([&](runtime& rt) {
    posse::for_each_chunk(rt, v.size(), [&](std::size_t, std::size_t) { rt.cancel(); });
  }));
  CHECK(cancelled([&](runtime& rt) {
    std::vector<int> out(2 * v.size());
    posse::merge(rt, v, v, out, [&](int, int) {
      rt.cancel();
      return false;
    });
  }));
}
