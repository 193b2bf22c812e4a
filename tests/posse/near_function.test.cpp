// Functions of elements: each part of a range calls a copy of its own, where that is cheap.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/posse.hpp>
#include <basal/posse/range_fork.hpp>

#include "stepped_runtime.hpp"
#include "support/catch.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace posse = basal::posse;
using basal::posse::detail::is_copied_near;
using basal::posse::detail::near_to;
using namespace basal::test;

namespace {

struct small {
  int add;
  int operator()(int x) const {
    return x + add;
  }
};

struct large {
  std::array<char, 65> bytes{};
  int operator()(int x) const {
    return x + 1;
  }
};

int twice(int x) {
  return 2 * x;
}

template <class Function>
constexpr bool is_copied = is_copied_near<Function, int>();

/// Each branch writes a member of its own.
struct writes_itself {
  std::array<char, 8> done{};
  void operator()(posse::member&, std::size_t i) {
    done[i] = 1;
  }
};

void all_of(posse::member& m, writes_itself* function) {
  posse::fork_merge_n(m, 8, *function);
}
constexpr posse::pure<all_of> pure_all_of{"all_of"};

/// Says whether it is the object that was handed to the algorithm.
struct knows_itself {
  const knows_itself* original = nullptr;
  int operator()(std::size_t) const {
    return this == original ? 1 : 0;
  }
};

} // namespace

TEST_CASE("small closures that are trivially copyable are copied, others are not") {
  CHECK(is_copied<small>);
  CHECK(is_copied<const small>);
  CHECK_FALSE(is_copied<large>);
  CHECK_FALSE(is_copied<std::function<int(int)>>);
  CHECK_FALSE(is_copied<int(int)>);
  auto owner = [p = std::make_unique<int>(3)](int x) { return x + *p; };
  CHECK_FALSE(is_copied<decltype(owner)>);
  CHECK(&near_to<int>(owner).get() == &owner);
  small f{4};
  CHECK(near_to<int>(f).get()(1) == 5);
}

TEST_CASE("what a function writes into itself is there afterwards") {
  auto mutates = [calls = 0](int x) mutable { return calls = x; };
  CHECK_FALSE(is_copied<decltype(mutates)>);
  writes_itself function;
  posse::runtime runtime;
  pure_all_of(runtime, &function);
  CHECK(function.done == std::array<char, 8>{1, 1, 1, 1, 1, 1, 1, 1});
}

TEST_CASE("algorithms take functions of all kinds") {
  posse::runtime runtime;
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto sum_of = [&](auto&& function) {
    auto mapped = posse::map(runtime, numbers, function);
    return std::accumulate(mapped.begin(), mapped.end(), 0);
  };
  CHECK(sum_of(small{2}) == 499'500 + 2000);
  CHECK(sum_of(large{}) == 499'500 + 1000);
  CHECK(sum_of(twice) == 999'000);
  CHECK(sum_of(&twice) == 999'000);
  CHECK(sum_of(std::function<int(int)>{twice}) == 999'000);
  CHECK(sum_of([p = std::make_unique<int>(3)](int x) { return x + *p; }) == 499'500 + 3000);
  // Not const, but all threads call the one object: it writes nothing.
  CHECK(sum_of([more = 3](int x) mutable { return x + more; }) == 499'500 + 3000);
}

TEST_CASE("no element is done by the caller's own copy of a small function") {
  posse::runtime runtime;
  knows_itself function;
  function.original = &function;
  std::vector<std::size_t> indices(5000);
  for (int times = 0; times < 3; ++times) { // of a known cost, too
    const auto mapped = posse::map(runtime, indices, function);
    CHECK(std::accumulate(mapped.begin(), mapped.end(), 0) == 0);
  }
}

namespace {

/// Notes which copy of it did each element. The first one takes two quanta.
struct notes_itself {
  std::vector<const void*>* by;

  void operator()(posse::member& m, std::size_t first, std::size_t last) const {
    for (auto i = first; i != last; ++i) {
      (*by)[i] = this;
      if (i == 0) {
        end_quantum(m);
        end_quantum(m);
      }
    }
  }
};

} // namespace

TEST_CASE("a delegate calls a copy of the range's body that is its own") {
  stepped_runtime host{stepped(2)};
  std::vector<const void*> by(100);
  started root{host, 0, [&](posse::member& m) {
                 posse::range_fork<notes_itself>{notes_itself{&by}}.run(m, 0, by.size());
               }};
  host.run(0);
  host.run_all();
  CHECK(root.has_ended());
  CHECK(host->stats().thefts == 1);
  CHECK(by.front() == by[by.size() / 2 - 1]);
  CHECK(by.front() != by.back());
}
