// Thefts by what the work is worth, on executors that the test steps: all idle ones are awake.
// decide_theft() by itself is in theft.test.cpp. One piece: one rule judges forks, ranges and
// ranges of ranges together, so its cases share the stepped runtime.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/range_fork.hpp>

#include "stepped_runtime.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace basal;
using namespace basal::test;
using posse::member;
using posse::theft_verdict;

namespace {

/// Runs `body` on the first of `executors` executors, up to let_thieves_begin(), then on the
/// others. @returns how many thefts there were
std::uint64_t thefts_on(std::size_t executors, std::function<void(member&)> body) {
  stepped_runtime host{by_worth(executors)};
  started root{host, 0, std::move(body)};
  for (std::size_t i = 0; i < executors; ++i)
    host.run(i);
  go_on();
  host.run_all();
  CHECK(root.has_ended());
  CHECK(root.error() == "");
  CHECK(host->stats().delegates_now == 0);
  return host->stats().thefts;
}

/// A fork whose left branch does `loop` when the fork is `age` old.
void fork_beside(stepped_runtime& host, std::chrono::nanoseconds age,
                 const std::function<void(member&)>& loop) {
  started root{host, 0, [&](member& m) {
                 m.fork_merge(
                   [&](member& l) {
                     look(l);
                     pass(age);
                     loop(l);
                   },
                   [](member&) {});
               }};
  host.run_all();
  CHECK(root.has_ended());
  CHECK(root.error() == "");
}

} // namespace

TEST_CASE(
  "a fork of which nothing is known is stolen once it has waited for twice a theft's cost") {
  stepped_runtime host{by_worth(2)};
  started root{host, 0, [&](member& m) {
                 m.fork_merge(
                   [&](member& a) {
                     look(a);
                     pass(9us);
                     look(a);
                     CHECK(host->stats().thefts == 0);
                     CHECK(host.count(theft_verdict::too_young) == 2);
                     pass(2us);
                     look(a);
                     CHECK(host->stats().thefts == 1);
                   },
                   [](member&) {});
               }};
  host.run(0);
  host.run_all();
  CHECK(root.has_ended());
}

TEST_CASE("one look gives as many continuations as executors are idle, the oldest first") {
  stepped_runtime host{by_worth(4)};
  std::string log;
  const auto note
    = [&](char branch, member& m) { log += branch + std::to_string(m.executor().index()) + ' '; };
  started root{host, 0, [&](member& m) {
                 m.fork_merge(
                   [&](member& a) {
                     a.fork_merge(
                       [&](member& b) {
                         b.fork_merge(
                           [&](member& c) {
                             look(c);
                             pass(20us);
                             look(c);
                             CHECK(host->stats().thefts == 3);
                             CHECK(host.count(theft_verdict::delegate_oldest) == 3);
                             look(c);
                             CHECK(host.count(theft_verdict::nobody_idle) == 1);
                             let_thieves_begin(c);
                           },
                           [&](member& r) { note('c', r); });
                       },
                       [&](member& r) { note('b', r); });
                   },
                   [&](member& r) { note('a', r); });
               }};
  host.run(0);
  host.run(1);
  host.run(2);
  host.run(3);
  go_on();
  host.run(0);
  CHECK(root.has_ended());
  CHECK(log == "a1 b2 c3 ");
}

TEST_CASE("a range whose cost is known is divided among the idle executors when it begins") {
  constexpr std::size_t none = 1000;
  std::array<std::size_t, 4> first{}; // element of each executor
  const auto loop = [&](member& m, std::size_t n) {
    first.fill(none);
    posse::fork_merge_n(m, n, [&](member& k, std::size_t i) {
      if (auto& own = first.at(k.executor().index()); own == none) {
        own = i;
        let_thieves_begin(k);
      }
      pass(1us);
    });
  };
  const auto learn = [&] { // also after ranges of which each member's time went on in others' turns
    for (int i = 0; i != 4; ++i)
      CHECK(thefts_on(1, [&](member& m) { loop(m, 100); }) == 0);
  };
  learn();
  const auto thefts = thefts_on(4, [&](member& m) { loop(m, 100); });
  CHECK(thefts >= 3);
  CHECK(first == std::array<std::size_t, 4>{0, 75, 50, 25});
  learn();
  CHECK(thefts_on(4, [&](member& m) { loop(m, 9); }) == 0); // two parts of 5 us would pay
  CHECK(thefts_on(4, [&](member& m) { loop(m, 12); }) == 1);
}

TEST_CASE("the steps of a long range are long, and shorter towards its end") {
  std::vector<std::size_t> steps;
  const auto loop = [&](member& m) {
    steps.clear();
    auto body = [&](member&, std::size_t first, std::size_t last) {
      pass(100ns * (last - first));
      steps.push_back(last - first);
    };
    posse::range_fork<decltype(body)>{body}.run(m, 0, 20'000);
  };
  CHECK(thefts_on(1, loop) == 0); // there the cost becomes known
  CHECK(thefts_on(1, loop) == 0);
  REQUIRE(steps.size() > 20);
  for (std::size_t i = 1; i < 10; ++i)
    CHECK(steps[i] == steps[0]);
  CHECK(2 * steps.rbegin()[1] <= steps[0]);
}

TEST_CASE("a step of a reduction by comparisons has as many blocks as it goes through by turns") {
  std::vector<std::size_t> visited;
  const auto least = [&](member& m) {
    using value = std::pair<int, std::size_t>;
    visited.clear();
    posse::map_reduce(
      m, std::size_t{100'000},
      [&](std::size_t i) {
        pass(5ns);
        visited.push_back(i);
        return value{7, i};
      },
      value{8, 0}, [](value a, value b) { return std::min(a, b); });
  };
  CHECK(thefts_on(1, least) == 0); // there the cost becomes known
  CHECK(thefts_on(1, least) == 0);
  // Each begins, and then goes on by an element. A block is a line longer than 512.
  for (std::size_t i = 0; i != 8; ++i)
    CHECK(visited[i] == i / 4 + i % 4 * (512 + 16));
}

TEST_CASE(
  "with one CPU the steps of a range are as long towards its end, since nobody waits for it") {
  auto config = by_worth(1);
  config.simulate.cpus = 1;
  stepped_runtime host{config};
  std::vector<std::size_t> steps;
  for (int i = 0; i < 2; ++i) { // the cost becomes known in the first
    started root{host, 0, [&](member& m) {
                   steps.clear();
                   auto body = [&](member&, std::size_t first, std::size_t last) {
                     pass(100ns * (last - first));
                     steps.push_back(last - first);
                   };
                   posse::range_fork<decltype(body)>{body}.run(m, 0, 2000);
                 }};
    host.run_all();
    CHECK(root.has_ended());
  }
  REQUIRE(steps.size() > 20);
  CHECK(steps[0] * executors::tick_clock::to_ticks(100ns) > 2 * posse::pace::target);
  CHECK(std::all_of(steps.begin(), steps.end() - 1, [&](auto step) { return step == steps[0]; }));
}

TEST_CASE("a range whose cost becomes known on the way is divided as soon as it is") {
  std::string where(100, ' ');
  CHECK(thefts_on(2,
                  [&](member& m) {
                    posse::fork_merge_n(m, where.size(), [&](member& k, std::size_t i) {
                      if (i == 30)
                        let_thieves_begin(k);
                      pass(1us);
                      where[i] = static_cast<char>('0' + k.executor().index());
                    });
                  })
        >= 1);
  CHECK(where.substr(0, posse::pace::untimed + 2).find('1') == std::string::npos);
  CHECK(where[where.size() / 2 + posse::pace::untimed] == '1');
}

TEST_CASE("where a range is worth a theft, and its cabal may not grow, that is the reason") {
  stepped_runtime host{by_worth(2)};
  const auto loop
    = [](member& m) { posse::fork_merge_n(m, 100, [](member&, std::size_t) { pass(1us); }); };
  started root{host,
               0,
               [&](member& m) {
                 loop(m);
                 loop(m); // known from the first time
               },
               {.cabal_limit = 1}};
  host.run_all();
  CHECK(root.has_ended());
  CHECK(host->stats().thefts == 0);
  CHECK(host.count(theft_verdict::cabal_full) > 0);
  CHECK(host.count(theft_verdict::not_worth_it) == 0);
}

TEST_CASE("by quanta, what is known of a range makes no difference") {
  const auto loop
    = [](member& m) { posse::fork_merge_n(m, 100, [](member&, std::size_t) { pass(1us); }); };
  CHECK(thefts_on(1, loop) == 0);
  stepped_runtime host{stepped(4)};
  started root{host, 0, loop};
  host.run_all();
  CHECK(root.has_ended());
  CHECK(host->stats().thefts == 0);
}

TEST_CASE("of a range whose elements fork nothing is learned, and its steps stay short") {
  const auto loop = [](member& m, std::string& where) {
    posse::fork_merge_n(m, where.size(), [&](member& k, std::size_t i) {
      if (i == 400)
        let_thieves_begin(k);
      k.fork_merge([](member&) { pass(100ns); }, [](member&) {});
      where[i] = static_cast<char>('0' + k.executor().index());
    });
  };
  std::string where(1000, ' ');
  CHECK(thefts_on(1, [&](member& m) { loop(m, where); }) == 0);
  stepped_runtime host{by_worth(2)};
  started root{host, 0, [&](member& m) {
                 look(m);
                 loop(m, where);
               }};
  host.run(0);
  host.run(1);
  go_on();
  host.run_all();
  CHECK(root.has_ended());
  CHECK(host.count(theft_verdict::not_worth_it) == 0);
  CHECK(where.substr(0, 20) == std::string(20, '0')); // would be divided at once, were it known
  CHECK(where.back() == '1');
}

TEST_CASE("of a few elements that fork the upper half of those that are left is taken, whole") {
  const auto loop = [](member& m, std::string& where, std::size_t failing = 100) {
    posse::fork_merge_n(m, where.size(), [&, failing](member& k, std::size_t i) {
      k.fork_merge([](member&) { pass(10us); }, [](member&) {});
      if (i < 2)
        k.executor().raise_attention(); // a look before the next element
      if (i == 2 && k.executor().index() == 0)
        let_thieves_begin(k);
      where[i] = static_cast<char>('0' + k.executor().index());
      if (i >= failing)
        throw std::runtime_error("element " + std::to_string(i));
    });
  };
  std::string where(10, ' ');
  CHECK(thefts_on(1, [&](member& m) { loop(m, where); }) == 0); // that they fork becomes known
  const auto run_on_two = [&](std::size_t failing) {
    where = std::string(10, ' ');
    stepped_runtime host{by_worth(2)};
    started root{host, 0, [&](member& m) {
                   look(m);
                   loop(m, where, failing);
                 }};
    host.run(0);
    host.run(1);
    go_on();
    host.run_all();
    CHECK(root.has_ended());
    return root.error();
  };
  CHECK(run_on_two(100).empty());
  CHECK(where.substr(5) == "11111");
  CHECK(where.substr(0, 3) == "000");
  CHECK(run_on_two(4) == "element 4"); // the victim's, though 6, the thief's, came before it
}

TEST_CASE("a reduction whose cost is known is divided among the idle executors as it begins") {
  using large = std::array<long, 4>; // of which each element's value is merged at once
  std::uint64_t thefts_at_once = 0;
  const auto sum = [&](posse::runtime& host, member& m, std::string& where) {
    const auto total = posse::map_reduce(
      m, std::views::iota(std::size_t{0}, where.size()),
      [&](member& k, std::size_t i) {
        if (i == 0) {
          thefts_at_once = host.stats().thefts;
          let_thieves_begin(k);
        }
        pass(1us);
        where[i] = static_cast<char>('0' + k.executor().index());
        return large{1, static_cast<long>(i)};
      },
      large{},
      [](large a, const large& b) {
        return large{a[0] + b[0], a[1] + b[1]};
      });
    CHECK(total[0] == 100);
    CHECK(total[1] == 4950);
  };
  std::string where(100, ' ');
  for (const std::size_t executors : {1, 4}) { // on one it becomes known
    stepped_runtime host{by_worth(executors)};
    started root{host, 0, [&](member& m) { sum(*host, m, where); }};
    for (std::size_t i = 0; i < executors; ++i)
      host.run(i);
    go_on();
    host.run_all();
    CHECK(root.has_ended());
    CHECK(root.error() == "");
  }
  CHECK(thefts_at_once == 3);
  CHECK(where[0] == '0');
  CHECK(where[99] == '1');
}

TEST_CASE("of a reduction whose elements fork nothing is learned") {
  using large = std::array<long, 4>;
  std::uint64_t thefts_at_once = 99;
  for (const std::size_t executors : {1, 4}) {
    stepped_runtime host{by_worth(executors)};
    started root{host, 0, [&](member& m) {
                   posse::map_reduce(
                     m, std::views::iota(0, 100),
                     [&](member& k, int i) {
                       if (i == 0)
                         thefts_at_once = host->stats().thefts;
                       k.fork_merge([](member&) { pass(1us); }, [](member&) {});
                       return large{};
                     },
                     large{}, [](const large& a, const large&) { return a; });
                 }};
    for (std::size_t i = 0; i < executors; ++i)
      host.run(i);
    host.run_all();
    CHECK(root.has_ended());
  }
  CHECK(thefts_at_once == 0); // else it would be divided as it begins
}

TEST_CASE("a range whose elements go through ranges is worth as many of these as are left") {
  bool asked = false;
  const auto row = [&](member& m) {
    posse::fork_merge_n(m, 40, [&](member& k, std::size_t j) {
      pass(100ns);
      if (asked && j == 5)
        k.executor().raise_attention();
    });
  };
  CHECK(thefts_on(1, row) == 0); // 4 us: no theft would pay for a part of it
  asked = true;
  std::size_t taken = 0;
  std::string where(40, ' ');
  stepped_runtime host{by_worth(4)};
  started root{host, 0, [&](member& m) {
                 look(m);
                 posse::fork_merge_n(m, where.size(), [&](member& k, std::size_t i) {
                   if (i == 2)
                     let_thieves_begin(k);
                   if (i < 2)
                     CHECK(host->stats().thefts == i); // one node, so one theft in each row
                   row(k);
                   if (k.executor().index() == 1 && taken == 0)
                     taken = i;
                   where[i] = static_cast<char>('0' + k.executor().index());
                 });
               }};
  host.run(0);
  CHECK(host->stats().thefts == 2);
  go_on();
  host.run(1);
  CHECK(where.back() == '1');
  CHECK(taken == 30); // a fourth of them; and then it takes others
  host.run_all();
  CHECK(root.has_ended());
}

TEST_CASE("a fork whose left branch is about to end is worth as much as that has taken") {
  bool asked = false;
  stepped_runtime host{by_worth(2)};
  const auto loop = [&](member& m) {
    posse::fork_merge_n(m, 30, [&](member& k, std::size_t i) {
      if (asked && (i == 10 || i == 25)) // the fork is 9 us old, and 10.5
        CHECK(host->stats().thefts == (i == 25));
      pass(100ns);
      if (asked)
        k.executor().raise_attention();
    });
  };
  started before{host, 0, loop}; // there the cost becomes known
  host.run_all();
  REQUIRE(before.has_ended());
  asked = true;
  fork_beside(host, 8us, loop); // in whose middle the fork is 10 us old
  CHECK(host->stats().thefts == 1);
}

TEST_CASE("such a fork is compared with what thefts have cost lately") {
  for (const bool measure : {false, true}) {
    bool asked = false;
    auto config = by_worth(2);
    config.costs.measure = measure; // 1.25 us, where there was no theft yet
    stepped_runtime host{config};
    const auto loop = [&](member& m) {
      posse::fork_merge_n(m, 20, [&](member& k, std::size_t) {
        pass(100ns);
        if (asked)
          k.executor().raise_attention();
      });
    };
    started before{host, 0, loop}; // there the cost becomes known
    host.run_all();
    REQUIRE(before.has_ended());
    asked = true;
    fork_beside(host, 1300ns, loop); // at whose last look the fork is 2.8 us old
    CHECK(host->stats().thefts == (measure ? 1 : 0));
  }
}

TEST_CASE("a range of known cost that is about to end is not worth a theft, however old it is") {
  bool pausing = false;
  stepped_runtime host{by_worth(2)};
  const auto loop = [&](member& m) {
    posse::fork_merge_n(m, 100, [&](member& k, std::size_t i) {
      if (pausing && i == 95)
        let_thieves_begin(k);
      pass(1us);
      if (pausing)
        k.executor().raise_attention();
    });
  };
  const occupied other{host, 1};
  started before{host, 0, loop};
  host.run(0);
  REQUIRE(before.has_ended());
  pausing = true;
  started root{host, 0, loop};
  host.run(0);
  host.run(1);
  CHECK(host->compute().is_idle(1));
  go_on();
  host.run_all();
  CHECK(root.has_ended());
  CHECK(host->stats().thefts == 0);
}

TEST_CASE("what is too young for an idle executor is looked at when it is old enough") {
  stepped_runtime host{by_worth(3)}; // who was given something stays woken
  std::string thefts;
  started root{host, 0, [&](member& m) {
                 m.fork_merge(
                   [&](member& l) {
                     look(l);
                     for (int i = 0; i < 500; ++i) { // look_length grows
                       pass(100ns);
                       l.poll();
                     }
                   },
                   [](member&) {});
                 m.fork_merge(
                   [&](member& l) {
                     look(l);
                     for (int i = 0; i < 200; ++i) {
                       pass(100ns);
                       l.poll();
                       thefts += static_cast<char>('0' + host->stats().thefts);
                     }
                   },
                   [](member&) {});
               }};
  host.run_all();
  CHECK(root.has_ended());
  CHECK(thefts.find('2') >= 98); // at 10 us, within the clock's rounding
  CHECK(thefts.find('2') <= 110);
}

TEST_CASE("a member looks up by the time that its range's pace knows") {
  stepped_runtime host{by_worth(1)};
  std::uint64_t looks = 0;
  const auto counted = [&] { return host->stats().theft_looks; };
  started root{host, 0, [&](member& m) {
                 for (int i = 0; i < 5'000; ++i) { // 10 ns apart
                   pass(10ns);
                   m.poll();
                 }
                 posse::fork_merge_n(m, 100, [&](member&, std::size_t i) {
                   if (i == 20)
                     looks = counted();
                   pass(5us);
                 });
                 looks = counted() - looks;
               }};
  host.run_all();
  CHECK(root.has_ended());
  CHECK(looks
        >= 8); // 400 us, one each 25 us and a step; the countdown was for 1,000 steps and more
}

TEST_CASE("a fork that is older than a range of known cost goes first") {
  const auto loop = [](member& m) {
    posse::fork_merge_n(m, 100, [](member& k, std::size_t i) {
      if (i == 0)
        let_thieves_begin(k);
      pass(1us);
    });
  };
  CHECK(thefts_on(1, loop) == 0);
  std::size_t right_ran_on = 0;
  stepped_runtime host{by_worth(3)};
  started root{host, 0, [&](member& m) {
                 m.fork_merge(
                   [&](member& l) {
                     l.poll();
                     loop(l);
                   },
                   [&](member& r) { right_ran_on = r.executor().index(); });
               }};
  host.run(0);
  CHECK(host->stats().thefts == 2); // and then the range
  host.run(1);
  go_on();
  host.run_all();
  CHECK(root.has_ended());
  CHECK(right_ran_on == 1);
}

TEST_CASE("where forks are far apart their right branches are given away when they are made") {
  stepped_runtime host{by_worth(3)};
  std::string where;
  const auto leaf = [&](member& m) {
    pass(50us);
    where += static_cast<char>('0' + m.executor().index());
  };
  started root{host, 0, [&](member& m) {
                 m.fork_merge(leaf, leaf); // nothing is known of it
                 CHECK(host->stats().thefts == 0);
                 m.fork_merge(
                   [&](member& l) {
                     CHECK(host->stats().thefts == 1);
                     let_thieves_begin(l);
                     leaf(l);
                   },
                   [&](member& r) { // and whoever has it knows as much
                     r.fork_merge(
                       [&](member& l) {
                         CHECK(host->stats().thefts == 2);
                         leaf(l);
                       },
                       leaf);
                   });
               }};
  host.run(0);
  host.run(2);
  host.run(1);
  go_on();
  host.run_all();
  CHECK(root.has_ended());
  CHECK(root.error() == "");
  CHECK(host->stats().thefts == 2);
}

TEST_CASE("two branches that do not fork are known from one computation to the next") {
  std::string where;
  const auto takes = [&](member& m, std::chrono::nanoseconds time) {
    m.fork_merge(
      [&, time](member& l) {
        let_thieves_begin(l);
        pass(time);
        where += static_cast<char>('0' + l.executor().index());
      },
      [&, time](member& r) {
        pass(time);
        where += static_cast<char>('0' + r.executor().index());
      });
  };
  // @returns the executors of the branches, in the order in which these ended
  const auto run = [&](std::chrono::nanoseconds time) {
    where.clear();
    stepped_runtime host{by_worth(2)};
    started root{host, 0, [&](member& m) { takes(m, time); }};
    host.run(0);
    host.run(1);
    go_on();
    host.run_all();
    CHECK(root.has_ended());
    return where;
  };
  CHECK(run(50us) == "00"); // nothing is known of it
  CHECK(run(1us) == "10");  // the thief's was first
  CHECK(run(1us) == "00");  // they take less time by now
  CHECK(run(50us) == "00");
  CHECK(run(50us) == "10");
}

namespace {

/// A tree of forks whose leaves take equally long. One kind of tree for each `Kind`, since what is
/// known of it stays.
template <int Kind>
struct fork_tree {
  std::chrono::nanoseconds all; ///< that the leaves take
  std::function<void(member&, int leaf)> before = [](member&, int) {};
  int height = 4;

  void operator()(member& m) {
    grow(m, height, 0);
  }

private:
  void grow(member& m, int up, int leaf) {
    if (up == 0) {
      before(m, leaf);
      pass(all / (1 << height));
      return;
    }
    m.fork_merge(
      [=, this](member& l) {
        look(l);
        grow(l, up - 1, leaf);
      },
      [=, this](member& r) { grow(r, up - 1, leaf + (1 << (up - 1))); });
  }
};

} // namespace

TEST_CASE("a tree of forks gives its branches away as it begins if the last one was worth it") {
  using tree = fork_tree<1>;
  const auto thefts_before_first_leaf = [](std::size_t executors, std::chrono::nanoseconds all) {
    stepped_runtime host{by_worth(executors)};
    std::uint64_t thefts = 0;
    started root{host, 0, tree{all, [&](member&, int leaf) {
                                 if (leaf == 0)
                                   thefts = host->stats().thefts;
                               }}};
    host.run_all();
    CHECK(root.has_ended());
    CHECK(root.error() == "");
    return thefts;
  };
  CHECK(thefts_before_first_leaf(1, 80us) == 0);
  CHECK(thefts_before_first_leaf(2, 80us) == 1);
  CHECK(thefts_before_first_leaf(4, 80us) == 3); // 40, 20 and 10 us for 5 each
  CHECK(thefts_before_first_leaf(8, 80us) == 3); // the next one would take 5 us
  CHECK(thefts_before_first_leaf(2, 1600ns) == 1);
  CHECK(thefts_before_first_leaf(2, 1600ns) == 0); // they have become short at once,
  CHECK(thefts_before_first_leaf(2, 80us) == 0);
  CHECK(thefts_before_first_leaf(2, 80us) == 1); // and long to a half
}

TEST_CASE("all that executors have done of a tree is known of it") {
  const auto thefts = [](std::size_t executors) {
    stepped_runtime host{by_worth(executors)};
    started root{host, 0, [](member& m) {
                   auto& here = m.executor();
                   m.fork_merge(
                     [](member& l) {
                       look(l);
                       let_thieves_begin(l);
                       pass(12us);
                     },
                     [&](member& r) {
                       if (&r.executor() != &here)
                         let_thieves_begin(r); // its victim comes to the merge, and waits
                       pass(12us);
                     });
                 }};
    for (std::size_t i = 0; i < executors; ++i)
      host.run(i);
    go_on();
    host.run(0);
    host.run_all();
    CHECK(root.has_ended());
    CHECK(root.error() == "");
    return host->stats().thefts;
  };
  CHECK(thefts(1) == 0);
  for (int i = 0; i < 5; ++i)
    CHECK(thefts(2) == 1); // of 12 us, and not of 6 since the thief does half of it
}

TEST_CASE("of a tree as much is expected as the last one has left after that time") {
  CHECK(thefts_on(1, fork_tree<3>{80us}) == 0);
  stepped_runtime host{by_worth(2)};
  const auto work = [&](member& m, int leaf) {
    if (leaf != 0)
      return;
    CHECK(host->stats().thefts == 1);
    let_thieves_begin(m); // whose part takes no time
    const auto fork = [](member& l) { look(l); };
    m.fork_merge(fork, [](member&) {}); // 40 us are left
    CHECK(host->stats().thefts == 2);
    let_thieves_begin(m);
    for (int i = 0; i < 8; ++i) { // 20 are left now
      pass(1us);
      m.poll();
    }
    m.fork_merge(fork, [](member&) {});
    CHECK(host->stats().thefts == 2); // 12 are, and 6 would be given
  };
  started root{host, 0, fork_tree<3>{0us, work, 1}};
  for (int i = 0; i < 3; ++i) {
    host.run(0);
    host.run(1);
    go_on();
  }
  host.run_all();
  CHECK(root.has_ended());
  CHECK(root.error() == "");
}

TEST_CASE("a delegate's forks are expected to take what it was given for") {
  CHECK(thefts_on(1, fork_tree<4>{80us}) == 0);
  stepped_runtime host{by_worth(8)};
  started root{host, 0, fork_tree<4>{80us, [&](member& m, int leaf) {
                                       if (leaf == 0) {
                                         CHECK(host->stats().thefts == 3);
                                         let_thieves_begin(m);
                                       }
                                       if (leaf == 8) // the first one of the first delegate
                                         CHECK(host->stats().thefts == 3 + 2);
                                     }}};
  for (std::size_t i = 0; i < 2; ++i)
    host.run(i);
  go_on();
  host.run_all();
  CHECK(root.has_ended());
  CHECK(root.error() == "");
}

TEST_CASE("a delegate of a range whose cost is known is not expected to take a half of the rest") {
  bool forks = false;
  const auto element = [&](member& m, std::size_t i) {
    if (i == 0 && forks)
      let_thieves_begin(m);
    if (i != 0 && forks)
      m.fork_merge([](member& k) { look(k); }, [](member&) {});
    pass(50us);
  };
  const auto takes = [&](member& m) {
    m.fork_merge([&](member& k) { posse::fork_merge_n(k, 2, element); },
                 [](member& k) {
                   for (int i = 0; i < 20'000; ++i) {
                     pass(50ns);
                     k.poll(); // else time without one would make forks worth a theft
                   }
                 });
  };
  CHECK(thefts_on(1, takes) == 0); // there it becomes known
  forks = true;
  CHECK(thefts_on(4, takes) == 2);
}

TEST_CASE("two elements of a range are known from one computation to the next") {
  const auto takes
    = [](member& m) { posse::fork_merge_n(m, 2, [](member&, std::size_t) { pass(50us); }); };
  CHECK(thefts_on(2, takes) == 0); // the last one is not given away to be waited for
  CHECK(thefts_on(2, takes) == 1);
}

TEST_CASE("of three elements of which nothing is known the first one tells what the others cost") {
  const auto takes
    = [](member& m) { posse::fork_merge_n(m, 3, [](member&, std::size_t) { pass(8us); }); };
  CHECK(thefts_on(2, takes) == 1); // else they would have to wait for longer than that
}

TEST_CASE("a single element is not given away, however dear it is known to be") {
  std::size_t n = 4;
  const auto takes
    = [&](member& m) { posse::fork_merge_n(m, n, [](member&, std::size_t) { pass(50us); }); };
  CHECK(thefts_on(1, takes) == 0); // there they become known
  n = 1;
  CHECK(thefts_on(2, takes) == 0);
}

TEST_CASE("where forks follow each other closely they have to wait") {
  stepped_runtime host{by_worth(2)};
  started root{host, 0, [&](member& m) {
                 for (int i = 0; i < 100; ++i)
                   m.fork_merge([](member&) { pass(1us); }, [](member&) { pass(1us); });
               }};
  host.run_all();
  CHECK(root.has_ended());
  CHECK(host->stats().thefts == 0);
}

// -- what has not begun by the merge is taken back ------------------------------------

namespace {

/// Forks, gives the right branch away while the left one runs, and goes on to the merge.
template <class Left, class Right>
auto fork_stolen(member& m, Left left, Right right) {
  return m.fork_merge(
    [=](member& l) {
      look(l);
      pass(20us);
      look(l);
      return left(l);
    },
    right);
}

} // namespace

TEST_CASE("a victim does the branch itself that has not begun by the merge") {
  stepped_runtime host{by_worth(2)};
  std::size_t ran = 0, ran_on = 9;
  started root{host, 0, [&](member& m) {
                 const auto [l, r] = fork_stolen(
                   m, [](member&) { return 1; },
                   [&](member& k) {
                     ++ran;
                     ran_on = k.executor().index();
                     return 2;
                   });
                 CHECK(host->stats().thefts == 1);
                 CHECK(l + r == 3);
               }};
  host.run(0);
  CHECK(root.has_ended());
  CHECK(root.error() == "");
  CHECK(ran_on == 0);
  CHECK(host->stats().taken_back == 1);
  CHECK(host->stats().merges == 1);
  CHECK(host->stats().merge_waits == 0);
  host.run_all(); // the other executor finds nothing, when the computation is gone
  CHECK(ran == 1);
  CHECK(host->stats().merges == 1);
  CHECK(host->compute().is_idle(1));
}

TEST_CASE("what a branch that was taken back throws comes out of the fork") {
  stepped_runtime host{by_worth(2)};
  started root{host, 0, [&](member& m) {
                 fork_stolen(
                   m, [](member&) {}, [](member&) { throw std::runtime_error{"right"}; });
               }};
  host.run(0);
  CHECK(root.error() == "right");
  CHECK(host->stats().taken_back == 1);
  host.run_all();
}

TEST_CASE("a branch that has not begun when left fails is taken back and not done") {
  stepped_runtime host{by_worth(2)};
  auto ran = false;
  started root{host, 0, [&](member& m) {
                 fork_stolen(
                   m, [](member&) { throw std::runtime_error{"left"}; },
                   [&](member&) { ran = true; });
               }};
  host.run(0);
  CHECK(root.error() == "left");
  CHECK(host->stats().taken_back == 1);
  host.run_all();
  CHECK_FALSE(ran);
}

TEST_CASE("a part of a range that was taken back is divided anew") {
  const auto loop = [](member& m, std::string& where, std::size_t pause) {
    posse::fork_merge_n(m, where.size(), [&, pause](member& k, std::size_t i) {
      if (i == pause)
        let_thieves_begin(k);
      pass(1us);
      where[i] = static_cast<char>('0' + k.executor().index());
    });
  };
  std::string where(100, ' ');
  CHECK(thefts_on(1, [&](member& m) { loop(m, where, 100); }) == 0);
  stepped_runtime host{by_worth(2)};
  started root{host, 0, [&](member& m) { loop(m, where, 50); }};
  host.run(0); // comes to the merge in the middle, and on to its pause
  CHECK(host->stats().taken_back == 1);
  CHECK(where[49] == '0');
  host.run(1); // finds nothing, and is idle again
  const auto thefts = host->stats().thefts;
  go_on();
  host.run(0);
  CHECK(host->stats().thefts > thefts);
  host.run_all();
  CHECK(root.has_ended());
  CHECK(where.find(' ') == std::string::npos);
}

TEST_CASE("by quanta, and under a memory limit, a victim waits for what has not begun") {
  const auto limited = GENERATE(false, true);
  auto config = by_worth(2);
  if (!limited)
    config.steal_by = posse::hysteresis::quantum;
  stepped_runtime host{config};
  std::size_t ran_on = 9;
  started root{host,
               0,
               [&](member& m) {
                 m.fork_merge(
                   [](member& l) {
                     look(l);
                     end_quantum(l);
                     end_quantum(l);
                   },
                   [&](member& r) { ran_on = r.executor().index(); });
               },
               {.memory_limit = limited ? std::size_t{1} << 20 : 0}};
  host.run(0);
  CHECK_FALSE(root.has_ended());
  host.run_all();
  CHECK(root.has_ended());
  CHECK(ran_on == 1);
  CHECK(host->stats().taken_back == 0);
}
