// Memory and places of members under a memory limit, on executors that the test steps.
// memory.test.cpp tests the same with threads, where nobody can say which branches are stolen.

#include "stepped_runtime.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace basal;
using namespace basal::test;
using executors::completion;
using posse::member;
using posse::memory_charge;
using posse::theft_verdict;

namespace {

constexpr std::size_t kib = 1024;

/// Whether `m` may have `bytes` more; they are given back at once.
bool may_have(member& m, std::size_t bytes) {
  try {
    std::ignore = m.charge(bytes);
    return true;
  } catch (const posse::memory_limit_exceeded&) {
    return false;
  }
}

posse::detail::memory_context& context_of(member& m) {
  return static_cast<posse::detail::memory_context&>(m.memory());
}

} // namespace

TEST_CASE("a delegate may have what its victim had not used at the fork, no more and no less") {
  stepped_runtime host{stepped(2)};
  bool began = false;
  started root{host,
               0,
               [&](member& m) {
                 auto before = m.charge(200 * kib);
                 m.fork_merge(
                   [&](member& a) {
                     auto after = a.charge(100 * kib); // not the delegate's affair
                     end_quantum(a);
                     REQUIRE(host->stats().thefts == 1);
                   },
                   [&](member& r) {
                     began = true;
                     CHECK(r.executor().index() == 1);
                     CHECK(may_have(r, 280 * kib));
                     CHECK_FALSE(may_have(r, 320 * kib));
                   });
               },
               {.memory_limit = 500 * kib}};
  host.run_all();
  CHECK(root.has_ended());
  CHECK(root.error().empty());
  CHECK(began);
}

TEST_CASE("a delegate's delegate may have what both of its victims have left") {
  stepped_runtime host{stepped(3)};
  bool began = false;
  started root{host,
               0,
               [&](member& m) {
                 auto of_root = m.charge(150 * kib);
                 m.fork_merge([](member& a) { end_quantum(a); },
                              [&](member& r) {
                                auto of_delegate = r.charge(150 * kib);
                                r.fork_merge([](member& b) { end_quantum(b); },
                                             [&](member& s) {
                                               began = true;
                                               CHECK(s.executor().index() == 2);
                                               CHECK(may_have(s, 180 * kib));
                                               CHECK_FALSE(may_have(s, 220 * kib));
                                             });
                              });
               },
               {.memory_limit = 500 * kib}};
  host.run(0);
  host.run(1);
  host.run_all();
  CHECK(root.has_ended());
  CHECK(root.error().empty());
  CHECK(began);
  CHECK(host->stats().largest_cabal == 3);
}

TEST_CASE("all members on one executor stay within the limit together") {
  constexpr auto limit = 640 * kib;
  auto config = stepped(2);
  config.victims = posse::victim_policy::suspend_victim;
  stepped_runtime host{config};
  started root{host,
               0,
               [&](member& m) {
                 m.fork_merge(
                   [&](member& a) {
                     a.fork_merge(
                       [&](member& v) {
                         // Held while it waits, and not part of what it held at the forks.
                         auto more = v.charge(20 * kib);
                         end_quantum(v);
                         end_quantum(v);
                       },
                       [](member& r) { // beside the victim: takes all it can get
                         CHECK(r.executor().index() == 0);
                         std::vector<memory_charge> all;
                         try {
                           for (;;)
                             all.push_back(r.charge(kib));
                         } catch (const posse::memory_limit_exceeded&) {
                         }
                       });
                   },
                   [](member&) {});
               },
               {.memory_limit = limit}};
  host.run_all();
  CHECK(root.has_ended());
  CHECK(host.count(theft_verdict::delegate_two) == 1);
  CHECK(host->stats().most_bytes_per_executor <= limit);
  CHECK(host->stats().most_bytes_per_executor > limit - 2 * kib);
}

TEST_CASE("a continuation goes only where no more is held than at its fork") {
  for (std::size_t executors : {2, 3}) {
    stepped_runtime host{stepped(executors)};
    completion first_holds, go_on;
    std::size_t second_ran_on = 0;
    started root{host,
                 0,
                 [&](member& m) {
                   m.fork_merge(
                     [&](member& a) {
                       a.fork_merge(
                         [&](member& b) {
                           end_quantum(b);
                           first_holds.wait();
                           end_quantum(b);
                         },
                         [&](member& r) { second_ran_on = r.executor().index(); });
                     },
                     [&](member& r) {
                       auto held = r.charge(300 * kib);
                       go_on.wait(); // its executor sleeps, and holds that
                     });
                 },
                 {.memory_limit = 400 * kib}};
    host.run(0);
    host.run(1);
    REQUIRE(host->compute().is_idle(1));
    first_holds.set();
    host.run_all();
    CHECK(host.count(theft_verdict::no_room) == (executors == 2 ? 1u : 0u));
    CHECK(host.count(theft_verdict::delegate_oldest) == (executors == 2 ? 1u : 2u));
    go_on.set();
    host.run_all();
    CHECK(root.has_ended());
    CHECK(second_ran_on == (executors == 2 ? 0u : 2u));
  }
}

TEST_CASE("a victim that has grown since its forks by more than a sixteenth does not wait beside "
          "its own delegate") {
  for (std::size_t grown : {20 * kib, 60 * kib}) {
    auto config = stepped(2);
    config.victims = posse::victim_policy::suspend_victim;
    stepped_runtime host{config};
    started root{host,
                 0,
                 [&](member& m) {
                   m.fork_merge(
                     [&](member& a) {
                       a.fork_merge(
                         [&](member& v) {
                           auto more = v.charge(grown);
                           end_quantum(v);
                           end_quantum(v);
                         },
                         [](member&) {});
                     },
                     [](member&) {});
                 },
                 {.memory_limit = 640 * kib}};
    host.run_all();
    CHECK(root.has_ended());
    CHECK(host.count(theft_verdict::delegate_two) == (grown == 20 * kib ? 1u : 0u));
    CHECK(host.count(theft_verdict::no_room) == (grown == 20 * kib ? 0u : 1u));
  }
}

TEST_CASE("what a merged branch returned counts before its executor takes more") {
  for (bool returns_much : {false, true}) {
    auto config = stepped(2);
    config.victims = posse::victim_policy::suspend_victim;
    stepped_runtime host{config};
    started root{host,
                 0,
                 [&](member& m) {
                   m.fork_merge(
                     [&](member& a) {
                       a.fork_merge(
                         [&](member& b) {
                           b.fork_merge(
                             [](member& v) {
                               end_quantum(v);
                               end_quantum(v);
                             },
                             [](member&) {});
                         },
                         [&](member& r) { return r.charge(returns_much ? 100 * kib : kib); });
                     },
                     [](member&) {});
                 },
                 {.memory_limit = 640 * kib}};
    host.run_all();
    CHECK(root.has_ended());
    CHECK(host->stats().seamless_thefts == (returns_much ? 0u : 1u));
  }
}

TEST_CASE("a member's stack counts while it runs") {
  stepped_runtime host{stepped(2)};
  std::vector<std::size_t> stacks;
  auto note_stack = [&](member& r) {
    auto& context = context_of(r);
    stacks.push_back(context.bytes() - context.heap_bytes());
  };
  completion ended;
  started root{host,
               0,
               [&](member& m) {
                 m.fork_merge(
                   [&](member& a) {
                     a.fork_merge(
                       [&](member& b) {
                         end_quantum(b);
                         ended.wait();
                         end_quantum(b);
                       },
                       note_stack);
                   },
                   note_stack);
               },
               {.memory_limit = 400 * kib}};
  host.run(0);
  host.run(1);
  ended.set();
  host.run_all();
  CHECK(root.has_ended());
  REQUIRE(stacks.size() == 2);
  CHECK(stacks[0] > 0);
  CHECK(stacks[0] == stacks[1]); // the first one's was given back
}

// A victim waits for the second of two delegates, on executor 2. The first, on executor 1, gives
// one of its own to the victim's executor.

TEST_CASE("under a memory limit only the youngest member on an executor runs") {
  for (bool limited : {false, true}) {
    stepped_runtime host{stepped(3)};
    std::string order;
    completion youngest_goes_on;
    posse::call_options options;
    options.memory_limit = limited ? 1024 * kib : 0;
    started root{host, 0,
                 [&](member& m) {
                   m.fork_merge(
                     [&](member& a) {
                       a.fork_merge(
                         [&](member& b) {
                           end_quantum(b);
                           end_quantum(b);
                         },
                         [&](member&) {});
                       order += "victim ";
                     },
                     [&](member& r) {
                       r.fork_merge([](member& c) { end_quantum(c); },
                                    [&](member& s) {
                                      CHECK(s.executor().index() == 0);
                                      youngest_goes_on.wait();
                                      order += "youngest ";
                                    });
                     });
                 },
                 options};
    host.run(0);
    REQUIRE(host->stats().thefts == 2);
    host.run(1);
    REQUIRE(host->stats().thefts == 3);
    host.run(0); // begins the youngest
    host.run(2); // wakes the victim
    host.run(0);
    CHECK(order == (limited ? "" : "victim "));
    youngest_goes_on.set();
    host.run_all();
    CHECK(order == (limited ? "youngest victim " : "victim youngest "));
    CHECK(root.has_ended());
  }
}

TEST_CASE("under a memory limit a victim waits for a delegate that is on its way to its executor") {
  stepped_runtime host{stepped(3)};
  std::string order;
  posse::detail::memory_context* of_victim = nullptr;
  started root{host,
               0,
               [&](member& m) {
                 of_victim = &context_of(m);
                 m.fork_merge(
                   [&](member& a) {
                     a.fork_merge(
                       [&](member& b) {
                         end_quantum(b);
                         end_quantum(b);
                       },
                       [&](member&) {});
                     order += "victim ";
                   },
                   [&](member& r) {
                     r.fork_merge([](member& c) { end_quantum(c); },
                                  [&](member& s) {
                                    CHECK(s.executor().index() == 0);
                                    order += "youngest ";
                                  });
                   });
               },
               {.memory_limit = 1024 * kib}};
  host.run(0);
  REQUIRE(host->stats().thefts == 2);
  // Its executor is claimed for one, but the second delegate's end arrives there first.
  of_victim->expected.fetch_add(1);
  host.run(2);
  host.run(0);
  CHECK(order.empty());
  of_victim->expected.fetch_sub(1);
  occupied other{host, 2};
  host.run(1);
  REQUIRE(host->stats().thefts == 3);
  host.run_all();
  CHECK(order == "youngest victim ");
  CHECK(root.has_ended());
}
