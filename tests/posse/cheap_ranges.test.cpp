// Ranges that are known to take less than a step should: they are done at once, without a node, and
// what they cost is learned anew when it has changed.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/detail/reduction.hpp>
#include <basal/posse/range_fork.hpp>
#include <basal/posse/range_search.hpp>

#include "stepped_runtime.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using namespace basal;
using namespace basal::test;
using posse::member;

namespace {

using sizes = std::vector<std::size_t>;

/// Calls `body(member&, first, last)` for each step of a range.
template <class Body>
void in_steps(member& m, std::size_t n, Body body) {
  posse::range_fork<Body>{body}.run(m, 0, n);
}

/// Runs `body` on the only executor. @returns its error; empty if it returned
std::string run(const std::function<void(member&)>& body) {
  stepped_runtime host{stepped(1)};
  started root{host, 0, body};
  host.run_all();
  CHECK(root.has_ended());
  return root.error();
}

/// A loop over [0, n) at one place in the program, of which nothing is known before the first
/// call. Each element takes a nanosecond if `dear` does not say more, each call of the body tells
/// how many it is for.
template <int Place>
struct loop {
  std::function<std::chrono::nanoseconds(std::size_t)> dear;

  sizes operator()(member& m, std::size_t n) const {
    sizes steps;
    in_steps(m, n, [&, this](member& k, std::size_t first, std::size_t last) {
      steps.push_back(last - first);
      for (auto i = first; i != last; ++i)
        pass(dear ? dear(i) : 1ns);
      if (inside)
        inside(k);
    });
    CHECK(std::accumulate(steps.begin(), steps.end(), std::size_t{0}) == n);
    return steps;
  }

  std::function<void(member&)> inside;
};

constexpr std::size_t n = 500;

/// Such a part of a step's time.
std::chrono::nanoseconds part_of_step(std::uint64_t parts) {
  return executors::tick_clock::to_duration(posse::pace::target / parts);
}

/// The same of a sum of as many ones, as a tree of halves.
template <int Place>
struct tree {
  static std::size_t left_of(std::size_t size) {
    return size / 2;
  }

  std::size_t leaf(member& k, std::size_t, std::size_t size) const {
    steps.push_back(size);
    pass(static_cast<int>(size) * each);
    if (inside)
      inside(k);
    return size;
  }

  std::size_t merge(std::size_t a, std::size_t b) const {
    return a + b;
  }

  sizes operator()(member& m, std::size_t size) {
    steps.clear();
    CHECK(posse::detail::reduction<std::size_t, tree>{*this}.run(m, 0, size) == size);
    return steps;
  }

  std::chrono::nanoseconds each = 1ns;
  std::function<void(member&)> inside;
  mutable sizes steps;
};

const sizes at_once{16, n - 16}; ///< a sixteenth, in whole cache lines, and the others

} // namespace

TEST_CASE("elements that are known to be cheap are done at once, the first few before the others") {
  run([](member& m) {
    const loop<1> cheap{};
    CHECK(cheap(m, n).front() == 1);
    CHECK(cheap(m, n) == at_once);
    CHECK(cheap(m, 100) == sizes{6, 94}); // of so few no whole lines
    CHECK(cheap(m, 10) == sizes{1, 9});
    CHECK(cheap(m, 1) == sizes{1});
    CHECK(cheap(m, 0).empty());
  });
}

TEST_CASE("when the first few take long, the others are a range that costs as much") {
  run([](member& m) {
    loop<2> changing{};
    changing(m, n);
    REQUIRE(changing(m, n) == at_once);
    changing.dear = [](std::size_t) { return part_of_step(20); };
    const auto steps = changing(m, n);
    CHECK(steps[0] == 16);
    CHECK(steps[1] == 10); // half of a step
    CHECK(steps.size() > 20);
  });
}

TEST_CASE("when all would take long at the pace of the first few, these are enough to tell") {
  run([](member& m) {
    loop<6> changing{};
    changing(m, n);
    REQUIRE(changing(m, 100) == sizes{6, 94});
    changing.dear = [](std::size_t) { return part_of_step(32); };
    CHECK(changing(m, 100) == sizes{6, 94}); // it may be that lines were cold
    changing.dear = [](std::size_t) { return part_of_step(8); };
    CHECK(changing(m, 100).size() > 10);
  });
}

TEST_CASE("a thief of the others knows what they cost") {
  stepped_runtime host{by_worth(2)};
  std::size_t first_of_thief = 0;
  started root{host, 0, [&](member& m) {
                 bool is_dear = false;
                 int steps = 0;
                 const auto call = [&] {
                   in_steps(m, n, [&](member& k, std::size_t first, std::size_t last) {
                     pass(static_cast<int>(last - first) * (is_dear ? part_of_step(20) : 1ns));
                     if (k.executor().index() == 1 && first_of_thief == 0)
                       first_of_thief = last - first;
                     else if (is_dear && ++steps == 2)
                       let_thieves_begin(k);
                   });
                 };
                 call();
                 call();
                 is_dear = true;
                 call();
               }};
  host.run(0);
  host.run(1);
  go_on();
  host.run_all();
  CHECK(root.has_ended());
  CHECK(first_of_thief == 10); // half of a step
}

TEST_CASE("one time slice of others among the first few does not last") {
  run([](member& m) {
    loop<7> changing{};
    changing(m, n);
    REQUIRE(changing(m, n) == at_once);
    changing.dear = [](std::size_t i) { return i == 3 ? 10ms : 1ns; };
    changing(m, n);
    changing.dear = nullptr;
    CHECK(changing(m, n) == at_once);
  });
}

TEST_CASE("when the others take long, that is found out soon") {
  run([](member& m) {
    loop<3> changing{};
    changing(m, n);
    REQUIRE(changing(m, n) == at_once);
    changing.dear = [](std::size_t i) { return i < 16 ? 1ns : 1us; };
    int calls = 0;
    while (changing(m, n) == at_once)
      REQUIRE(++calls < 1000);
  });
}

TEST_CASE("of calls that it would take a part of to time them few are timed, until one is dear") {
  run([](member& m) {
    loop<8> changing{};
    constexpr std::size_t few = 100;
    const sizes timed{6, few - 6};
    const auto num_timed = [&](int calls) {
      int result = 0;
      for (int i = 0; i < calls; ++i) {
        const auto steps = changing(m, few);
        CHECK((steps == timed || steps == sizes{few}));
        result += steps == timed ? 1 : 0;
      }
      return result;
    };
    changing(m, few);
    CHECK(num_timed(8) == 8); // at first
    num_timed(100);
    const auto usual = num_timed(1000);
    CHECK(usual > 80);
    CHECK(usual < 170);
    changing.dear = [](std::size_t) { return 1us; };
    int missed = 0;
    while (changing(m, few) == sizes{few})
      REQUIRE(++missed < 64);
    changing.dear = nullptr;
    for (int calls = 0; changing(m, few) != timed;) // learns
      REQUIRE(++calls < 32);
    CHECK(num_timed(100) == 100);
    num_timed(100'000);
    CHECK(num_timed(1000) < 170);
  });
}

TEST_CASE("calls that end early are timed as seldom as others") {
  run([](member& m) {
    std::vector<int> numbers(100);
    numbers[50] = 1;
    int num_timed = 0;
    for (int i = 0; i < 1200; ++i) {
      std::size_t parts = 0;
      const auto body = [&](member&, std::size_t first, std::size_t last) {
        ++parts;
        pass(std::chrono::nanoseconds{last - first});
        const auto end = numbers.begin() + static_cast<std::ptrdiff_t>(last);
        return static_cast<std::size_t>(
          std::find(numbers.begin() + static_cast<std::ptrdiff_t>(first), end, 1)
          - numbers.begin());
      };
      CHECK(posse::range_search<decltype(body)>{body}.run(m, 0, numbers.size()) == 50);
      num_timed += i >= 200 && parts == 2 ? 1 : 0;
    }
    CHECK(num_timed > 80);
    CHECK(num_timed < 170);
  });
}

TEST_CASE("a time slice of others makes calls be timed for as long as a half of it") {
  run([](member& m) {
    loop<9> disturbed{};
    const auto is_timed = [&] { return disturbed(m, 100) == sizes{6, 94}; };
    disturbed(m, 100);
    for (int i = 0; i < 200; ++i)
      is_timed();
    disturbed.dear = [](std::size_t i) { return i == 3 ? 100us : 1ns; };
    int missed = 0;
    while (disturbed(m, 100) == sizes{100})
      REQUIRE(++missed < 64);
    disturbed.dear = nullptr;
    int num_timed = 0;
    for (int i = 0; i < 100'000; ++i)
      num_timed += is_timed() ? 1 : 0;
    // It lasted for 250,000 ticks on a machine of 2.5 GHz, as long as 5000 times two readings of
    // the clock; then one in eight.
    CHECK(num_timed < 100'000 / 8 + 10'000);
  });
}

TEST_CASE("a reduction that is known to be cheap is done at once") {
  run([](member& m) {
    tree<1> sum;
    CHECK(sum(m, 64).front() == 1);
    CHECK(sum(m, 64).front() == 16); // timed, as a tree of forks
    CHECK(sum(m, 1) == sizes{1});
    for (int i = 0; i < 200; ++i)
      sum(m, 64);
    int num_timed = 0;
    for (int i = 0; i < 1000; ++i)
      num_timed += sum(m, 64) != sizes{64} ? 1 : 0;
    CHECK(num_timed > 80);
    CHECK(num_timed < 170);
    CHECK(sum(m, 1024).size() > 1); // so many that it costs next to nothing
    sum.each = 1us;
    sum(m, 1024); // dear, and timed
    CHECK(sum(m, 1024).size() > 100);
    sum.each = 1ns;
    for (int calls = 0; sum(m, 64).size() > 4;) // learns
      REQUIRE(++calls < 32);
    for (int i = 0; i < 100; ++i) // watched
      CHECK(sum(m, 64) != sizes{64});
  });
}

TEST_CASE("elements of a cheap reduction that begin to fork are noticed") {
  run([](member& m) {
    tree<2> sum;
    for (int i = 0; i < 200; ++i)
      sum(m, 64);
    sum.inside = [](member& k) { k.poll(); };
    for (int calls = 0; sum(m, 64) != sizes{64};) // not timed
      REQUIRE(++calls < 64);
    sum.inside = {};
    for (int i = 0; i < 100; ++i) // and nothing is learned any more
      CHECK(sum(m, 64).front() == 1);
  });
}

TEST_CASE("elements that begin to fork are noticed") {
  run([](member& m) {
    loop<4> changing{};
    changing(m, n);
    REQUIRE(changing(m, n) == at_once);
    changing.inside = [](member& k) { k.poll(); };
    CHECK(changing(m, n) == at_once);
    changing.inside = {};
    for (int i = 0; i < 3; ++i) // and nothing is learned any more
      CHECK(changing(m, n).front() == 1);
  });
}

TEST_CASE("elements that begin to fork are noticed in a call that is not timed") {
  run([](member& m) {
    loop<20> changing{};
    changing(m, n); // learns what an element costs
    for (int i = 0; i < 200; ++i)
      changing(m, 64);
    changing.inside = [](member& k) { k.poll(); };
    for (int calls = 0; changing(m, 64) != sizes{64};)
      REQUIRE(++calls < 64);
    changing.inside = {};
    for (int i = 0; i < 100; ++i) // and nothing is learned any more
      CHECK(changing(m, 64).front() == 1);
  });
}

TEST_CASE("a range that is done at once may end early, and fail") {
  run([](member& m) {
    std::vector<int> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0);
    const auto find = [&](int wanted) {
      return *posse::find_if(m, numbers, [=](int number) {
        pass(1ns);
        return number == wanted;
      }) == wanted;
    };
    for (int wanted : {499, 3, 15, 16, 200, 498})
      CHECK(find(wanted));
    const auto failing_at = [&](std::size_t at) {
      posse::for_each_chunk(m, n, [=](std::size_t first, std::size_t last) {
        pass(std::chrono::nanoseconds{last - first});
        if (first <= at && at < last)
          throw std::runtime_error("at last");
      });
    };
    failing_at(n);
    CHECK_THROWS_WITH(failing_at(3), "at last");
    CHECK_THROWS_WITH(failing_at(300), "at last");
  });
}

TEST_CASE("a computation of nothing but such ranges passes safepoints nevertheless") {
  int calls = 0;
  stepped_runtime host{stepped(1)};
  started root{host, 0, [&](member& m) {
                 const loop<5> cheap{};
                 cheap(m, n);
                 host->run(posse::call_options{}, [&](member& inner) { // which has not looked yet
                   host->cancel();
                   for (; calls < 1000; ++calls)
                     cheap(inner, n);
                 });
               }};
  host.run_all();
  CHECK(root.has_ended());
  CHECK(root.error() != "");
  CHECK(calls == 16); // the first few need none
}
