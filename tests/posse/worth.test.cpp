// Thefts by what the work is worth, on executors that the test steps: all idle ones are awake. What
// decide_theft() says by itself is in theft.test.cpp.

#include <basal/posse/range_fork.hpp>

#include "stepped_runtime.hpp"

#include <cstddef>
#include <string>

using namespace basal;
using namespace basal::test;
using posse::member;
using posse::theft_verdict;

namespace {

posse::runtime_config by_worth(std::size_t executors) {
  auto config = stepped(executors);
  config.steal_by = posse::hysteresis::worth;
  config.costs = {.awake_ns = 5'000, .asleep_ns = 100'000};
  return config;
}

/// Runs `body` on the first of so many executors. @returns how many thefts there were
std::uint64_t thefts_on(std::size_t executors, std::function<void(member&)> body) {
  stepped_runtime host{by_worth(executors)};
  started root{host, 0, std::move(body)};
  host.run(0);
  host.run_all();
  CHECK(root.has_ended());
  CHECK(root.error() == "");
  return host->stats().thefts;
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
  host.run(0);
  CHECK(root.has_ended());
  CHECK(log == "a1 b2 c3 ");
}

TEST_CASE("a range whose cost is known is divided among the idle executors when it begins") {
  const auto loop = [](member& m, std::string& where) {
    posse::fork_merge_n(m, where.size(), [&](member& k, std::size_t i) {
      pass(1us);
      where[i] = static_cast<char>('0' + k.executor().index());
    });
  };
  std::string where(100, ' ');
  CHECK(thefts_on(1, [&](member& m) { loop(m, where); }) == 0); // there it becomes known
  CHECK(where == std::string(100, '0'));
  const auto three = thefts_on(4, [&](member& m) { loop(m, where); });
  CHECK(three >= 3);
  CHECK(where.substr(0, 25) == std::string(25, '0'));
  CHECK(where[25] == '3'); // and whoever has done its part takes of another's
  CHECK(where[50] == '2');
  CHECK(where[75] == '1');
  where.resize(9); // two parts of 5 us would pay
  CHECK(thefts_on(4, [&](member& m) { loop(m, where); }) == 0);
  where.resize(12);
  CHECK(thefts_on(4, [&](member& m) { loop(m, where); }) == 1);
}

TEST_CASE("a range whose cost becomes known on the way is divided as soon as it is") {
  std::string where(100, ' ');
  CHECK(thefts_on(2,
                  [&](member& m) {
                    posse::fork_merge_n(m, where.size(), [&](member& k, std::size_t i) {
                      pass(1us);
                      where[i] = static_cast<char>('0' + k.executor().index());
                    });
                  })
        >= 1);
  CHECK(where.substr(0, posse::pace::untimed + 2).find('1') == std::string::npos);
  CHECK(where[where.size() / 2 + posse::pace::untimed] == '1');
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
  host.run_all();
  CHECK(root.has_ended());
  CHECK(host.count(theft_verdict::not_worth_it) == 0);
  CHECK(where.substr(0, 20) == std::string(20, '0')); // would be divided at once, were it known
  CHECK(where.back() == '1');
}

TEST_CASE("a fork that is older than a range of known cost goes first") {
  const auto loop
    = [](member& m) { posse::fork_merge_n(m, 100, [](member&, std::size_t) { pass(1us); }); };
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
  host.run_all();
  CHECK(root.has_ended());
  CHECK(right_ran_on == 1);
}
