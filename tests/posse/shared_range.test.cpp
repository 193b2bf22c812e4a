// Members of a range after a theft: each does its share, and then some of another's.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/detail/range_site.hpp>
#include <basal/posse/range_fork.hpp>

#include "stepped_runtime.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace basal;
using namespace basal::test;
using posse::member;

namespace {

/// Two executors, of which 1 has its turn while the loop's member on 0 pauses.
struct two_members {
  explicit two_members(posse::runtime_config config) : host(config) {
  }

  /// @param loop given to executor 0
  std::string run(const std::function<void(member&)>& loop) {
    started root{host, 0, loop};
    host.run(0); // pauses
    host.run(1);
    while (!root.has_ended()) {
      go_on();
      host.run_all();
    }
    return root.error();
  }

  stepped_runtime host;
};

/// Does the loop on one executor, until its place knows what an element costs.
template <class Loop>
void learn(const Loop& loop) {
  for (int i = 0; i != 4; ++i) {
    stepped_runtime host{by_worth(1)};
    started root{host, 0, [&](member& m) { loop(m); }};
    while (!root.has_ended()) {
      go_on();
      host.run_all();
    }
  }
}

} // namespace

TEST_CASE("a member that has done its share takes what others have not begun") {
  std::string where(100, ' ');
  const auto loop = [&](member& m) {
    posse::fork_merge_n(m, where.size(), [&](member& k, std::size_t i) {
      if (i == 0)
        let_thieves_begin(k);
      pass(10us);
      where[i] = static_cast<char>('0' + k.executor().index());
    });
  };
  learn(loop);
  CHECK(where == std::string(100, '0'));
  two_members two{by_worth(2)};
  CHECK(two.run(loop).empty());
  CHECK(where.substr(0, 2) == "01"); // executor 0 paused in its first one
  CHECK(std::ranges::count(where, '1') == 99);
}

TEST_CASE("by quanta a member takes nothing without being asked") {
  std::string where(100, ' ');
  two_members two{stepped(2)};
  CHECK(two
          .run([&](member& m) {
            posse::fork_merge_n(m, where.size(), [&](member& k, std::size_t i) {
              pass(2ms);
              look(k);
              if (i == 10)
                let_thieves_begin(k);
              where[i] = static_cast<char>('0' + k.executor().index());
            });
          })
          .empty());
  const auto first = where.find('1');
  REQUIRE(first != std::string::npos);
  CHECK(first > 12);
  CHECK(where.substr(0, first) == std::string(first, '0'));
}

TEST_CASE("of elements that fail the first one comes out, whoever did it") {
  std::size_t failing = 0;
  bool all = false;
  const auto loop = [&](member& m) {
    posse::fork_merge_n(m, 100, [&](member& k, std::size_t i) {
      if (i == 0)
        let_thieves_begin(k);
      pass(10us);
      if (i == failing || (all && i > failing))
        throw std::runtime_error("element " + std::to_string(i));
    });
  };
  failing = 1000;
  learn(loop);
  for (const bool others : {false, true})
    for (const std::size_t i : {0, 1, 25, 49, 50, 75, 99}) {
      failing = i;
      all = others;
      two_members two{by_worth(2)};
      CHECK(two.run(loop) == "element " + std::to_string(i));
    }
}

TEST_CASE("elements behind one that has failed are not begun") {
  std::size_t failing = 1000;
  std::string where;
  const auto loop = [&](member& m) {
    where.assign(100, ' ');
    posse::fork_merge_n(m, where.size(), [&](member& k, std::size_t i) {
      if (i == 0)
        let_thieves_begin(k);
      pass(10us);
      where[i] = 'x';
      if (i == failing)
        throw std::runtime_error("it");
    });
  };
  learn(loop);
  failing = 60; // of the thief's share
  two_members two{by_worth(2)};
  CHECK(two.run(loop) == "it");
  CHECK(where.substr(0, 61) == std::string(61, 'x'));
  CHECK(where.substr(61) == std::string(39, ' '));
}

TEST_CASE("a thief that does elements behind one that has failed is told so") {
  bool fails = false;
  bool has_begun = false;
  bool was_told = false;
  const auto loop = [&](member& m) {
    posse::fork_merge_n(m, 100, [&](member& k, std::size_t i) {
      if (i == 0)
        let_thieves_begin(k);
      pass(10us);
      if (fails && i == 1)
        throw std::runtime_error("element 1");
      if (k.executor().index() == 1 && !std::exchange(has_begun, true)) {
        let_thieves_begin(k);
        try {
          look(k);
        } catch (const posse::cancelled&) {
          was_told = true;
          throw;
        }
      }
    });
  };
  learn(loop);
  fails = true;
  stepped_runtime host{by_worth(2)};
  started root{host, 0, loop};
  host.run(0);
  host.run(1); // begins
  REQUIRE(paused_members.size() == 2);
  executors::executor::wake(*paused_members.front());
  paused_members.erase(paused_members.begin());
  host.run(0); // fails, and waits
  go_on();
  host.run_all();
  CHECK(root.has_ended());
  CHECK(root.error() == "element 1");
  CHECK(was_told);
}

TEST_CASE("a range costs as much as all of its elements") {
  std::string where(100, ' ');
  const auto loop = [&](member& m) {
    posse::fork_merge_n(m, where.size(), [&](member& k, std::size_t i) {
      if (i == 0)
        let_thieves_begin(k);
      pass(i < 90 ? 10ns : 10us); // by the first ones, no part would be worth a theft
      where[i] = static_cast<char>('0' + k.executor().index());
    });
  };
  learn(loop);
  two_members two{by_worth(2)};
  CHECK(two.run(loop).empty());
  CHECK(where[0] == '0');
  CHECK(where[50] == '1'); // divided as it began
  CHECK(where[99] == '1');
}

TEST_CASE("short ranges of cheap elements are not divided where long ones of dear ones are") {
  std::size_t of_long = 0; // elements that executor 1 did
  std::size_t of_short = 0;
  const auto levels = [&](member& m) {
    for (const std::size_t n : {400, 20})
      posse::fork_merge_n(m, n, [&](member& k, std::size_t i) {
        if (i == 0)
          let_thieves_begin(k);
        const bool is_long = n == 400;
        pass(is_long ? 1us : 10ns);
        (is_long ? of_long : of_short) += k.executor().index();
      });
  };
  learn(levels);
  two_members two{by_worth(2)};
  CHECK(two.run(levels).empty());
  CHECK(of_long > 100);
  CHECK(of_short == 0);
}

TEST_CASE("the time that a theft takes does not count for the elements") {
  const auto loop
    = [](member& m, std::size_t n) { posse::fork_merge_n(m, n, [](std::size_t) { pass(100ns); }); };
  learn([&](member& m) { loop(m, 120); });
  auto config = by_worth(2);
  config.thefts.saw = [](void*, const posse::theft_event&) noexcept { pass(1ms); };
  const auto thefts_of = [&](std::size_t n) {
    stepped_runtime host{config};
    started root{host, 0, [&](member& m) { loop(m, n); }};
    host.run_all();
    CHECK(root.has_ended());
    return host->stats().thefts;
  };
  CHECK(thefts_of(120) == 1); // taken back
  CHECK(thefts_of(70) == 0);
}

TEST_CASE("a member does not claim all that is left where elements are uneven") {
  int steps = 0; // with the last elements of the thief's share
  auto late = 0us;
  const auto loop = [&](member& m) {
    steps = 0;
    auto body = [&](member& k, std::size_t first, std::size_t last) {
      steps += last > 980;
      if (first == 0) {
        let_thieves_begin(k);
        pass(late);
      }
      pass((last - first) * 100ns);
    };
    posse::range_fork<decltype(body)>{body}.run(m, 0, 1000);
  };
  learn(loop);
  for (const auto by : {200us, 200us, 0us}) { // the second makes it known
    late = by;
    two_members two{by_worth(2)};
    CHECK(two.run(loop).empty());
  }
  CHECK(steps > 4);
}

TEST_CASE("what a member claims of a share gets smaller with what is left of it") {
  std::vector<std::size_t> of_thief; // elements of each claim
  const auto loop = [&](member& m) {
    of_thief.clear();
    auto body = [&](member& k, std::size_t first, std::size_t last) {
      if (k.executor().index() != 0 && first >= 200)
        of_thief.push_back(last - first);
      if (first == 0)
        let_thieves_begin(k);
      pass((last - first) * 500ns);
    };
    posse::range_fork<decltype(body)>{body}.run(m, 0, 400);
  };
  learn(loop);
  two_members two{by_worth(2)};
  CHECK(two.run(loop).empty());
  REQUIRE(of_thief.size() > 2);
  CHECK(of_thief[1] > 10); // once the rest was offered to others
  std::size_t left = 200;
  for (const auto claimed : of_thief) {
    CHECK(claimed <= left / 4 + 4);
    left -= std::min(left, claimed);
  }
  CHECK(of_thief.size() <= 20);
  CHECK(of_thief.back() <= 4);
}

TEST_CASE("long steps begin where cache lines do") {
  std::size_t apart = 0;
  const auto loop = [&](member& m) {
    apart = 0;
    auto body = [&](member& k, std::size_t first, std::size_t last) {
      if (last - first >= 256)
        apart += first % 16;
      if (first == 0)
        let_thieves_begin(k);
      pass((last - first) * 3ns);
    };
    posse::range_fork<decltype(body)>{body}.run(m, 0, 100'003);
  };
  learn(loop);
  two_members two{by_worth(2)};
  CHECK(two.run(loop).empty());
  CHECK(two.host->stats().thefts >= 1);
  CHECK(apart == 0);
}

TEST_CASE("a share is given to no more executors than it is worth") {
  const auto loop = [](member& m) {
    posse::fork_merge_n(m, 24, [&](member& k, std::size_t i) {
      if (i == 0)
        let_thieves_begin(k);
      pass(1us);
    });
  };
  learn(loop);
  stepped_runtime host{by_worth(16)};
  started root{host, 0, loop};
  host.run(0);
  CHECK(host->stats().thefts == 3);
  while (!root.has_ended()) {
    host.run_all();
    go_on();
  }
}

TEST_CASE("a thief whose victim has nothing left takes steps of another's share") {
  std::size_t middle = 0; // where the first thief's share begins
  std::vector<std::size_t> of_second;
  const auto loop = [&](member& m) {
    auto body = [&](member& k, std::size_t first, std::size_t last) {
      const auto who = k.executor().index();
      if (who == 2)
        of_second.push_back(last - first);
      const bool begins = who == 1 && middle == 0;
      if (begins)
        middle = first;
      if (first == 0 || begins || (who == 0 && last == middle))
        let_thieves_begin(k);
      pass((last - first) * 100ns);
    };
    posse::range_fork<decltype(body)>{body}.run(m, 0, 1000);
  };
  learn(loop);
  stepped_runtime host{by_worth(3)};
  started root{host, 0, loop};
  host.run(0); // gives to 1, then to 2, of what it has kept
  CHECK(host->stats().thefts == 2);
  occupied zero{host, 0};
  host.run(1);
  occupied one{host, 1};
  executors::executor::wake(*paused_members.front());
  paused_members.erase(paused_members.begin());
  host.run(0); // does its share, before 2 has come for a part of it
  host.run(2);
  CHECK((!of_second.empty() && of_second.front() > 10));
  while (!root.has_ended()) {
    go_on();
    host.run_all();
  }
}

TEST_CASE("ranges of more elements than a half of a word counts are done once") {
  constexpr auto n = (std::size_t{1} << 33) + 5;
  posse::runtime_config config;
  config.compute_executors = 2;
  posse::runtime host{config};
  std::atomic<std::size_t> sum{0};
  std::atomic<std::size_t> calls{0};
  const auto sum_of = [](std::size_t k) { return k % 2 == 0 ? k / 2 * (k - 1) : (k - 1) / 2 * k; };
  host.run([&](member& m) {
    auto body = [&](member&, std::size_t first, std::size_t last) {
      sum.fetch_add(sum_of(last) - sum_of(first), std::memory_order_relaxed); // may wrap
      calls.fetch_add(1, std::memory_order_relaxed);
    };
    posse::range_fork<decltype(body)>{body}.run(m, 0, n);
  });
  CHECK(sum == sum_of(n));
  CHECK(calls > 1000);
  CHECK(calls < 4 * n / posse::pace::longest_step); // steps grow
}

TEST_CASE("a place is uneven after two ranges whose members ended far apart") {
  const auto is_far = [](std::uint64_t apart, std::uint64_t busy, std::uint64_t least) {
    posse::range_site site;
    site.note_ends(apart, busy, least);
    CHECK_FALSE(site.is_uneven());
    site.note_ends(apart, busy, least);
    return site.is_uneven();
  };
  CHECK_FALSE(is_far(200, 0, 100)); // half of that is hardly worth to be taken
  CHECK(is_far(201, 0, 100));
  CHECK_FALSE(is_far(1000, 16'000, 100));
  CHECK(is_far(1001, 16'000, 100));
}
