// The rules of thefts, on executors that the test steps: who gives what to whom, when, and what is
// counted. decide_theft() by itself is in theft.test.cpp.

#include <basal/posse/range_fork.hpp>

#include "stepped_runtime.hpp"

#include <functional>
#include <string>
#include <thread>

using namespace basal;
using namespace basal::test;
using posse::member;
using posse::theft_verdict;
using posse::victim_policy;

namespace {

posse::runtime_config suspending(std::size_t executors) {
  auto config = stepped(executors);
  config.victims = victim_policy::suspend_victim;
  return config;
}

/// Notes the place of a branch: "b1 " for branch b on executor 1.
void note(std::string& log, char branch, member& m) {
  log += branch + std::to_string(m.executor().index()) + ' ';
}

/// The verdicts that were reached, with how often. A member's second safepoint
/// is its first look for a theft: too young.
std::string verdicts(stepped_runtime& host) {
  std::string result;
  host->stats().verdicts.for_each([&](theft_verdict verdict, std::uint64_t count) {
    if (count != 0)
      result += std::string{posse::describe(verdict).name} + ' ' + std::to_string(count) + ' ';
  });
  return result;
}

} // namespace

TEST_CASE("a member gives away one continuation a quantum") {
  stepped_runtime host{stepped(4)};
  std::string log;
  started root{host, 0, [&](member& m) {
                 m.fork_merge(
                   [&](member& a) {
                     a.fork_merge(
                       [&](member& b) {
                         b.fork_merge(
                           [&](member& c) {
                             end_quantum(
                               c); // the first is old enough, the others are at the next end
                             CHECK(host->stats().thefts == 1);
                             end_quantum(c);
                             CHECK(host->stats().thefts == 2);
                             look(c);
                             look(c);
                             CHECK(host->stats().thefts == 2);
                             end_quantum(c);
                             CHECK(host->stats().thefts == 3);
                           },
                           [&](member& r) { note(log, 'c', r); });
                       },
                       [&](member& r) { note(log, 'b', r); });
                   },
                   [&](member& r) { note(log, 'a', r); });
               }};
  host.run(0);
  CHECK(verdicts(host) == "delegate_oldest 3 once_a_quantum 2 too_young 1 ");
  host.run(1);
  host.run(2);
  host.run(3);
  host.run(0);
  CHECK(root.has_ended());
  CHECK(log == "a1 b2 c3 "); // each to the next executor that sleeps
  CHECK(host->stats().theft_looks == 6);
}

TEST_CASE("nothing is stolen while an idle sibling could take whole work") {
  stepped_runtime host{stepped(3)};
  static constexpr executors::work_ops nothing{[](void*, executors::executor&) noexcept {},
                                               nullptr};
  started root{
    host, 0, [&](member& m) {
      m.fork_merge(
        [&](member& a) {
          a.executor().push_back({&host, &nothing}); // wakes executor 1, which would take it
          end_quantum(a);
          CHECK(verdicts(host) == "actors_first 1 ");
          CHECK(host->stats().yields == 1);
          look(a); // it has run meanwhile
          CHECK(verdicts(host) == "delegate_oldest 1 actors_first 1 ");
        },
        [](member&) {});
    }};
  host.run(0);
  host.run_all();
  CHECK(root.has_ended());
  CHECK(host->stats().yields == 1);
}

TEST_CASE("a continuation is handed over only while a CPU is left for who gets it") {
  struct {
    std::size_t cpus;
    std::uint64_t thefts_beside; // an executor of another pool that runs
    std::uint64_t thefts;
  } const cases[] = {{0, 3, 3}, {6, 3, 3}, {5, 3, 3}, {4, 2, 3}, {3, 2, 3}};
  for (const auto& x : cases) { // who asks for four compute executors has four CPUs at least
    CAPTURE(x.cpus);
    auto config = stepped(4);
    config.simulate.cpus = x.cpus;
    executors::pool_config other;
    other.executors = 1;
    other.simulate = config.simulate;
    executors::executor_pool clients{other}; // its executor has not slept yet
    stepped_runtime host{config};
    host->attach(clients);
    auto thefts_at_quantum_ends = [&](member& m) {
      for (int i = 0; i < 4; ++i)
        end_quantum(m);
      return host->stats().thefts;
    };
    std::function<void(member&, int)> fork = [&](member& m, int times) {
      if (times > 0) {
        m.fork_merge([&](member& left) { fork(left, times - 1); }, [](member&) {});
        return;
      }
      CHECK(thefts_at_quantum_ends(m) == x.thefts_beside);
      std::thread{[&] { clients.run_until_idle(); }}.join();
      CHECK(thefts_at_quantum_ends(m) == x.thefts);
    };
    started root{host, 0, [&](member& m) { fork(m, 3); }};
    host.run_all();
    CHECK(root.has_ended());
    host->stop(executors::stop_mode::discard);
  }
}

TEST_CASE("a look that finds nobody idle, or nothing old enough, says so") {
  stepped_runtime host{stepped(2)};
  executors::completion other_is_busy;
  started root{host, 0, [&](member& m) {
                 look(m); // the first is no look for a theft, the fork is one
                 m.fork_merge(
                   [&](member& a) {
                     look(a);
                     CHECK(verdicts(host) == "too_young 2 ");
                     end_quantum(a);
                     CHECK(verdicts(host) == "too_young 3 ");
                     other_is_busy.wait();
                     end_quantum(a);
                     CHECK(verdicts(host) == "nobody_idle 1 too_young 3 ");
                   },
                   [](member&) {});
               }};
  host.run(0);
  occupied other{host, 1};
  other_is_busy.set();
  host.run(0);
  CHECK(root.has_ended());
  CHECK(host->stats().thefts == 0);
  CHECK(host->stats().theft_looks == 4);
  host.run(1);
}

TEST_CASE("a thief takes the upper half of a range's elements that have not begun") {
  stepped_runtime host{stepped(2)};
  std::string where;
  where.resize(16);
  started root{host, 0, [&](member& m) {
                 posse::fork_merge_n(m, where.size(), [&](member& k, std::size_t i) {
                   pass(quantum / 4 + 1us);
                   where[i] = static_cast<char>('0' + k.executor().index());
                 });
               }};
  host.run_all();
  CHECK(root.has_ended());
  // At the quantum's end the fifth is about to begin: eleven are left.
  CHECK(where.substr(0, 10) == "0000000000");
  CHECK(where.substr(10, 3) == "111");
}

TEST_CASE("a member looks at the clock about eight times a quantum, whatever its safepoints take") {
  stepped_runtime host{stepped(1)};
  auto looks_of = [&](std::chrono::nanoseconds each) {
    const auto before = host->stats().theft_looks;
    started root{host, 0, [&](member& m) {
                   const auto end = time_now + executors::tick_clock::to_ticks(50 * quantum);
                   while (time_now < end) {
                     m.poll();
                     pass(each);
                   }
                 }};
    host.run_all();
    return host->stats().theft_looks - before;
  };
  for (auto each : {100ns, 1'000ns, 10'000ns}) {
    const auto looks = looks_of(each);
    INFO("safepoints every " << each.count() << " ns");
    CHECK(looks >= 380);
    CHECK(looks <= 520);
  }
  const auto looks
    = looks_of(100us); // each is one but the first, of 100 or, ticks being whole, 101
  CHECK(looks >= 99);
  CHECK(looks <= 100);
}

TEST_CASE("a member looks at the clock at least every 4096 safepoints") {
  stepped_runtime host{stepped(1)};
  started root{host, 0, [&](member& m) {
                 for (int i = 0; i < 1'000'000; ++i)
                   m.poll(); // and no time passes
               }};
  host.run_all();
  CHECK(host->stats().theft_looks >= 244);
  CHECK(host->stats().theft_looks <= 260);
}

TEST_CASE("a cabal grows up to its limit") {
  for (std::size_t limit : {1, 2, 3}) {
    stepped_runtime host{stepped(4)};
    started root{host,
                 0,
                 [&](member& m) {
                   m.fork_merge(
                     [&](member& a) {
                       a.fork_merge(
                         [&](member& b) {
                           b.fork_merge(
                             [&](member& c) {
                               for (int i = 0; i < 4; ++i)
                                 end_quantum(c);
                             },
                             [](member&) {});
                         },
                         [](member&) {});
                     },
                     [](member&) {});
                 },
                 {.cabal_limit = limit}};
    host.run(0);
    const auto thefts = limit - 1;
    auto stats = host->stats();
    CHECK(stats.thefts == thefts);
    CHECK(stats.verdicts[theft_verdict::delegate_oldest] == thefts);
    CHECK(stats.verdicts[theft_verdict::cabal_full] == 4 - thefts);
    CHECK(stats.theft_looks == 5);
    host.run_all();
    CHECK(root.has_ended());
    CHECK(host->stats().largest_cabal == (thefts > 0 ? limit : 0)); // of those stolen from
  }
}

// The rest is about victims that wait. The victim has forked a, b and c, oldest first.

TEST_CASE("a victim gives two, waits for both, and its executor takes what is left of it") {
  stepped_runtime host{suspending(2)};
  std::string log;
  started root{host, 0, [&](member& m) {
                 m.fork_merge(
                   [&](member& k) {
                     k.fork_merge(
                       [&](member& l) {
                         l.fork_merge(
                           [&](member& v) {
                             end_quantum(v);
                             CHECK(verdicts(host) == "too_young 1 single 1 ");
                             end_quantum(v);
                             note(log, 'v', v);
                           },
                           [&](member& r) { note(log, 'c', r); });
                       },
                       [&](member& r) { note(log, 'b', r); });
                   },
                   [&](member& r) { note(log, 'a', r); });
               }};
  host.run(0);
  CHECK(log == "b0 c0 ");
  auto stats = host->stats();
  CHECK(verdicts(host) == "delegate_two 1 too_young 1 single 1 ");
  CHECK(stats.thefts == 3);
  CHECK(stats.seamless_thefts == 1);
  CHECK(stats.merges == 2);
  CHECK(stats.delegates_now == 1);
  CHECK(stats.merge_waits == 1);
  CHECK(stats.victims_now == 1);
  host.run(1);
  CHECK(log == "b0 c0 a1 ");
  host.run(0);
  CHECK(log == "b0 c0 a1 v0 ");
  CHECK(root.has_ended());
  CHECK(host->stats().victims_now == 0);
  CHECK(host->stats().merge_waits == 1); // none at the merges: they had all ended
  CHECK(host->stats().largest_cabal == 2);
}

TEST_CASE("a victim goes on as soon as the last of those that were taken from it has merged") {
  stepped_runtime host{suspending(2)};
  std::string log;
  started root{host, 0, [&](member& m) {
                 m.fork_merge(
                   [&](member& k) {
                     k.fork_merge(
                       [&](member& v) {
                         end_quantum(v);
                         end_quantum(v);
                         note(log, 'v', v);
                         // The turn is a new one, but not the quantum.
                         look(v);
                         CHECK(host.count(theft_verdict::once_a_quantum) == 1);
                       },
                       [&](member& r) { note(log, 'b', r); });
                   },
                   [&](member& r) { note(log, 'a', r); });
               }};
  host->compute().step(0);
  host.run(1);
  host.run(0);
  CHECK(log == "b0 a1 v0 ");
  CHECK(root.has_ended());
}

TEST_CASE("what is taken seamlessly runs for the rest of the quantum") {
  stepped_runtime host{suspending(2)};
  std::chrono::nanoseconds quantum_left{};
  started root{host, 0, [&](member& m) {
                 m.fork_merge(
                   [&](member& k) {
                     k.fork_merge(
                       [&](member& l) {
                         l.fork_merge(
                           [&](member& v) {
                             end_quantum(v);
                             end_quantum(v);
                           },
                           [&](member& r) { // after b
                             const auto before = host->stats().quanta;
                             const auto start = time_now;
                             while (host->stats().quanta == before) {
                               pass(10us);
                               look(r);
                             }
                             quantum_left = executors::tick_clock::to_duration(time_now - start);
                           });
                       },
                       [&](member& r) { // begins a quantum and ends in it
                         look(r);
                         pass(150us);
                         look(r);
                       });
                   },
                   [](member&) {});
               }};
  host.run(0);
  CHECK(host->stats().seamless_thefts == 1);
  CHECK(quantum_left >= 49us);
  CHECK(quantum_left <= 61us);
  host.run_all();
  CHECK(root.has_ended());
}

TEST_CASE("continuations of a victim that waits grow old by the quanta of those that run there") {
  for (std::size_t executors : {2, 3}) {
    stepped_runtime host{suspending(executors)};
    std::string log;
    started root{host, 0, [&](member& m) {
                   m.fork_merge(
                     [&](member& k) {
                       k.fork_merge(
                         [&](member& l) {
                           end_quantum(l);
                           l.fork_merge(
                             [&](member& v) {
                               end_quantum(v); // a and b are old enough; c is new
                               note(log, 'v', v);
                             },
                             [&](member& r) { note(log, 'c', r); });
                         },
                         [&](member& r) {
                           look(r);
                           CHECK(host->stats().thefts == 2);
                           end_quantum(r); // a third executor takes c at this look
                           CHECK(host->stats().thefts == (executors == 3 ? 3u : 2u));
                           note(log, 'b', r);
                         });
                     },
                     [&](member& r) { note(log, 'a', r); });
                 }};
    host.run(0);
    CHECK(host->stats().thefts == 3);
    CHECK(host->stats().seamless_thefts == (executors == 3 ? 0u : 1u));
    CHECK(log == (executors == 3 ? "b0 " : "b0 c0 "));
    CHECK(host.count(theft_verdict::delegate_oldest) == (executors == 3 ? 1u : 0u));
    host.run(1);
    host.run(0);
    if (executors == 3) {
      CHECK(log == "b0 a1 "); // it waits for c, too
      host.run(2);
      host.run(0);
    }
    CHECK(log == (executors == 3 ? "b0 a1 c2 v0 " : "b0 c0 a1 v0 "));
    CHECK(root.has_ended());
  }
}
