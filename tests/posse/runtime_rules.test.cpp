// Requests between a runtime's executors, the spreading of a cancellation, and every counter of
// posse_stats after a run of which each step is known. In one piece, since all of it is about what
// a runtime knows of its pools: who is idle, who has a CPU, and what was counted.

#include "stepped_runtime.hpp"

#include <cstdlib>
#include <stop_token>
#include <string>

using namespace basal;
using namespace basal::test;
using executors::completion;
using posse::member;
using posse::theft_verdict;

namespace {

bool is_asked(stepped_runtime& host, std::size_t index) {
  return host.at(index).attention().load() != 0;
}

/// Calls the hook of executor `index` for an executor that has found no work.
void goes_idle(stepped_runtime& host, std::size_t index) {
  const auto& hooks = host->compute().config().hooks;
  hooks.goes_idle(hooks.context, host.at(index));
}

/// For how long it then looks for a wake-up.
std::uint64_t lingers(stepped_runtime& host, std::size_t index) {
  const auto& hooks = host->compute().config().hooks;
  return hooks.lingers(hooks.context, host.at(index));
}

/// One compute executor and some of an attached pool, all of which look for work.
struct machine {
  executors::executor_pool clients;
  stepped_runtime host;

  explicit machine(std::size_t cpus, std::size_t message_executors)
    : clients(attachable(message_executors)), host(with_cpus(cpus)) {
    host->attach(clients);
    clients.run_until_idle();
  }

  static posse::runtime_config with_cpus(std::size_t cpus) {
    auto config = stepped(1);
    config.simulate.cpus = cpus;
    return config;
  }

  static executors::pool_config attachable(std::size_t executors) {
    executors::pool_config config;
    config.executors = executors;
    config.simulate = stepped(1).simulate;
    return config;
  }

  /// Asked by work on executor 0 of the attached pool.
  bool crowds(bool has_merged = false) {
    struct question {
      machine& self;
      bool has_merged;
      bool answer = false;
    } asked{*this, has_merged};
    static constexpr executors::work_ops ask{[](void* q, executors::executor& waker) noexcept {
                                               auto& mine = *static_cast<question*>(q);
                                               if (mine.has_merged)
                                                 waker.note_merge();
                                               mine.answer = mine.self.host->is_crowded_by(waker);
                                             },
                                             nullptr};
    executors::inbox_node node{nullptr, {&asked, &ask}};
    clients.at(0).deliver(node);
    REQUIRE(clients.step(0));
    clients.run_until_idle();
    return asked.answer;
  }
};

} // namespace

TEST_CASE("an idle executor asks one that runs a computation and was not asked yet") {
  stepped_runtime host{stepped(4)};
  goes_idle(host, 0);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK_FALSE(is_asked(host, i));
  CHECK(host->stats().asks == 0);
  for (std::size_t busy : {0, 1, 3})
    host.at(busy).attentive().store(true);
  goes_idle(host, 2); // the next one behind it
  CHECK(is_asked(host, 3));
  CHECK_FALSE(is_asked(host, 0));
  CHECK(host->stats().asks == 1);
  goes_idle(host, 1); // not itself, nor executor 2, which is idle, nor 3 again
  CHECK(is_asked(host, 0));
  CHECK_FALSE(is_asked(host, 1));
  CHECK_FALSE(is_asked(host, 2));
  goes_idle(host, 2);
  CHECK(is_asked(host, 1));
  CHECK(host->stats().asks == 3);
  goes_idle(host, 2); // nobody is left
  CHECK(host->stats().asks == 3);
}

TEST_CASE("a member answers at its next fork, and has then looked") {
  stepped_runtime host{stepped(2)};
  occupied other{host, 1};
  completion other_sleeps;
  started root{host, 0, [&](member& m) {
                 m.fork_merge(
                   [&](member& a) {
                     end_quantum(a);
                     CHECK(host.count(theft_verdict::nobody_idle) == 1);
                     other_sleeps.wait();
                     CHECK(a.executor().attentive().load());
                     goes_idle(host, 1);
                     CHECK(is_asked(host, 0));
                     a.fork_merge([&](member&) { CHECK(host->stats().thefts == 1); },
                                  [](member&) {});
                     CHECK_FALSE(is_asked(host, 0));
                   },
                   [](member&) {});
               }};
  host.run(0);
  CHECK_FALSE(host.at(0).attentive().load()); // its computation is suspended
  host.run(1);
  CHECK(host->stats().asks == 0);
  other_sleeps.set();
  host.run_all();
  CHECK(root.has_ended());
  CHECK_FALSE(host.at(0).attentive().load());
  CHECK(host->stats().asks == 1);
}

TEST_CASE("an executor lingers while a computation runs elsewhere, for a quantum and an eighth") {
  stepped_runtime host{stepped(2)};
  CHECK(lingers(host, 0) == 0);
  host.at(0).attentive().store(true);
  CHECK(lingers(host, 0) == 0);
  const auto ticks = executors::tick_clock::to_ticks(quantum);
  CHECK(lingers(host, 1) == ticks + ticks / 8);
}

TEST_CASE("queued work wakes compute executors for half of the CPUs, and for those that are free") {
  auto config = stepped(5);
  config.simulate.cpus = 5;
  executors::pool_config other;
  other.executors = 4;
  other.simulate = config.simulate;
  executors::executor_pool clients{other}; // its executors have not slept yet
  stepped_runtime host{config};
  host->attach(clients);
  executors::work_ops nothing{[](void*, executors::executor&) noexcept {}, nullptr};
  for (int i = 0; i < 8; ++i)
    REQUIRE(host->compute().submit({&host, &nothing}));
  auto awake_after_steps = [&] {
    for (std::size_t i = 0; i < 5; ++i)
      if (!host->compute().is_idle(i))
        host->compute().step(i);
    return 5 - host->compute().num_idle();
  };
  CHECK(awake_after_steps() == 2);
  host->note_free_cpu(); // there is none
  CHECK(awake_after_steps() == 2);
  std::thread{[&] { clients.run_until_idle(); }}.join();
  host->note_free_cpu();
  CHECK(awake_after_steps() > 2);
  host.run_all();
}

TEST_CASE("a CPU that a compute executor leaves is for work in attached pools") {
  auto config = stepped(1);
  executors::pool_config other;
  other.executors = 2;
  other.simulate = config.simulate;
  static bool has_cpu;
  has_cpu = false;
  other.hooks.has_cpu = [](void*) noexcept { return has_cpu; };
  executors::executor_pool clients{other};
  stepped_runtime host{config};
  host->attach(clients);
  std::thread{[&] { clients.run_until_idle(); }}.join();
  executors::work_ops nothing{[](void*, executors::executor&) noexcept {}, nullptr};
  for (int i = 0; i < 3; ++i)
    REQUIRE(clients.submit({&host, &nothing}));
  clients.step(0); // its search ends, and another item is there
  CHECK(clients.num_idle() == 1);
  has_cpu = true;
  REQUIRE(host->compute().submit({&host, &nothing}));
  host.run_all();
  CHECK(clients.num_idle() == 0);
  clients.run_until_idle();
}

TEST_CASE("one more executor of a pool crowds compute executors that look, where no CPU is free") {
  CHECK(machine{2, 1}.crowds());
  CHECK_FALSE(machine{3, 1}.crowds()); // a CPU is left
  CHECK_FALSE(machine{2, 2}.crowds()); // an executor is awake already: here they never sleep
  machine busy{2, 1};
  executors::work_ops nothing{[](void*, executors::executor&) noexcept {}, nullptr};
  REQUIRE(busy.host->compute().submit({&busy, &nothing}));
  CHECK_FALSE(busy.crowds());
  CHECK(busy.crowds(true)); // it has done a part of the work that asks, and looks soon
  busy.host.run_all();
}

TEST_CASE("an executor looks on while a CPU is left for whoever is to wake it") {
  auto may_look = [](machine& here) { return here.host->has_cpu_to_look(here.clients.at(0)); };
  machine quiet{3, 1};
  CHECK(may_look(quiet));
  machine with_compute_executor{2, 1}; // which looks as well
  CHECK_FALSE(may_look(with_compute_executor));
  machine with_another{3, 2};
  CHECK_FALSE(may_look(with_another));
  executors::work_ops nothing{[](void*, executors::executor&) noexcept {}, nullptr};
  REQUIRE(quiet.host->compute().submit({&quiet, &nothing})); // it runs now, and looks no more
  CHECK(may_look(quiet));
  REQUIRE(with_another.host->compute().submit({&with_another, &nothing}));
  CHECK_FALSE(may_look(with_another));
  quiet.host.run_all();
  with_another.host.run_all();
}

TEST_CASE("a merge counts for the work that merges, until that ends") {
  stepped_runtime host{stepped(2)};
  started root{host, 0, [&](member& m) {
                 CHECK_FALSE(m.executor().has_merged());
                 m.fork_merge(
                   [&](member& a) {
                     end_quantum(a);
                     a.fork_merge([&](member& b) { let_thieves_begin(b); }, [](member&) {});
                   },
                   [](member&) {});
                 CHECK(m.executor().has_merged());
               }};
  host.run(0);
  host.run(1);
  go_on();
  host.run_all();
  CHECK(root.has_ended());
  started next{host, 0, [&](member& m) { CHECK_FALSE(m.executor().has_merged()); }};
  host.run_all();
  CHECK(next.has_ended());
  CHECK(host->stats().thefts > 0);
}

TEST_CASE("compute executors keep apart") {
  stepped_runtime host{stepped(2)};
  CHECK(host->compute().config().keep_apart);
}

TEST_CASE("who finds out that the computation is cancelled makes the others look") {
  stepped_runtime host{stepped(3)};
  std::stop_source source;
  bool delegate_asked = false, stranger_asked = true;
  started root{host,
               0,
               [&](member& m) {
                 m.fork_merge(
                   [&](member& a) {
                     end_quantum(a);
                     source.request_stop();
                     CHECK_FALSE(is_asked(host, 1));
                     try {
                       look(a);
                     } catch (const posse::cancelled&) {
                       delegate_asked = is_asked(host, 1);
                       stranger_asked = is_asked(host, 2);
                       throw;
                     }
                   },
                   [](member&) {});
               },
               {.stop = source.get_token()}};
  host.run_all();
  CHECK(root.has_ended());
  CHECK(delegate_asked);
  CHECK_FALSE(stranger_asked); // it is not in the cabal
  CHECK(host->stats().cancelled == 1);
}

TEST_CASE("if left fails, the stolen right branch is made to look") {
  stepped_runtime host{stepped(2)};
  bool asked = false;
  started root{host, 0, [&](member& m) {
                 m.fork_merge(
                   [&](member& a) {
                     end_quantum(a);
                     CHECK_FALSE(is_asked(host, 1));
                     throw std::runtime_error("left");
                   },
                   [&](member& r) {
                     asked = is_asked(host, 1);
                     CHECK_THROWS_AS(r.poll(), posse::cancelled);
                   });
               }};
  host.run_all();
  CHECK(root.error() == "left");
  CHECK(asked);
}

TEST_CASE("cancelling a runtime makes the executors of all of its pools look") {
  executors::pool_config config;
  config.executors = 2;
  config.simulate = stepped(2).simulate;
  executors::executor_pool clients{config};
  stepped_runtime host{stepped(2)};
  host->attach(clients);
  host->cancel();
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(is_asked(host, i));
    CHECK(clients.at(i).attention().load() != 0);
  }
  host->stop(executors::stop_mode::discard);
}

TEST_CASE("a probe is asked at quantum ends, by one member at a time") {
  stepped_runtime host{stepped(1)};
  struct asked {
    member* running = nullptr;
    int times = 0;
    int deep = 0;
    int deepest = 0;
  } seen;
  posse::interrupt_probe probe{[](void* context) noexcept {
                                 auto& s = *static_cast<asked*>(context);
                                 ++s.times;
                                 s.deepest = std::max(s.deepest, ++s.deep);
                                 if (s.deep == 1)
                                   end_quantum(*s.running); // as another member would
                                 --s.deep;
                                 return s.times == 3;
                               },
                               &seen};
  started root{host,
               0,
               [&](member& m) {
                 seen.running = &m;
                 look(m);
                 look(m);
                 CHECK(seen.times == 0);
                 end_quantum(m);
                 CHECK(seen.times == 1);
                 end_quantum(m);
                 CHECK(seen.times == 2);
                 CHECK_THROWS_AS(end_quantum(m), posse::cancelled);
               },
               {.probe = probe}};
  host.run_all();
  CHECK(root.has_ended());
  CHECK(seen.times == 3);
  CHECK(seen.deepest == 1);
}

// -- verdicts that need more than a clock -------------------------------------

namespace {

bool memory_is_short = false;

/// Delegations come from here instead of operator new.
struct short_of_memory {
  static constexpr executors::collector_hooks hooks{
    .enter = []() noexcept {},
    .allocate
    = [](std::size_t bytes) noexcept { return memory_is_short ? nullptr : std::malloc(bytes); },
    .release = [](void* memory) noexcept { std::free(memory); },
    .leaves_fiber = []() noexcept {},
    .used_bytes = []() noexcept { return std::size_t{0}; },
    .collect = []() noexcept { return std::size_t{0}; },
    .pauses = []() noexcept { return executors::collector_pauses{}; },
  };

  short_of_memory() {
    executors::collector.store(&hooks);
  }
  ~short_of_memory() {
    executors::collector.store(nullptr);
    memory_is_short = false;
  }
};

} // namespace

TEST_CASE(
  "without memory for a delegation nothing is stolen, and that is not for want of executors") {
  for (auto policy : {posse::victim_policy::run_victim, posse::victim_policy::suspend_victim}) {
    short_of_memory memory;
    auto config = stepped(2);
    config.victims = policy;
    stepped_runtime host{config};
    started root{host, 0, [&](member& m) {
                   m.fork_merge(
                     [&](member& a) {
                       a.fork_merge(
                         [&](member& b) {
                           look(b);
                           pass(quantum);
                           memory_is_short = true;
                           look(b);
                           end_quantum(b);
                           memory_is_short = false;
                           CHECK(host->stats().thefts == 0);
                           look(b);
                         },
                         [](member&) {});
                     },
                     [](member&) {});
                 }};
    host.run_all();
    CHECK(root.has_ended());
    const auto runs = policy == posse::victim_policy::run_victim;
    CHECK(host.count(theft_verdict::out_of_memory) == (runs ? 2u : 1u));
    CHECK(host.count(theft_verdict::nobody_idle) == 0);
    CHECK(host->stats().thefts == (runs ? 1u : 2u));
  }
}

// V runs on executor 0, has given two and waits, when W comes there. The last delegate of V ends
// while W runs: then V is about to go on, and nothing may be taken from it any more.
TEST_CASE("nothing is taken from a victim that is about to go on") {
  stepped_runtime host{stepped(3)};
  completion send_w, go_on_w;
  auto nothing = [](member&) {};
  auto v = [&](member& m) {
    m.fork_merge(
      [&](member& a) {
        a.fork_merge(
          [&](member& b) {
            end_quantum(b);
            b.fork_merge([](member& c) { end_quantum(c); }, nothing); // too young when it gives two
          },
          nothing);
      },
      nothing);
  };
  auto w = [&](member& m) {
    look(m);
    go_on_w.wait();
    end_quantum(m);
  };
  auto sends_v_then_w = [&](member& m) {
    m.fork_merge(
      [&](member& a) {
        a.fork_merge(
          [&](member& b) {
            end_quantum(b);
            send_w.wait();
            end_quantum(b);
          },
          w);
      },
      v);
  };
  started root{host, 0, [&](member& m) { m.fork_merge(end_quantum, sends_v_then_w); }};
  host.run(0);
  occupied second{host, 2};
  host.run(1); // sends V to executor 0
  host.run(2);
  host->set_victims(posse::victim_policy::suspend_victim);
  occupied first{host, 1};
  host.run(0); // V gives one to executor 2
  REQUIRE(host.count(theft_verdict::delegate_two) == 1);
  host->set_victims(posse::victim_policy::run_victim);
  send_w.set();
  host.run(1); // sends W to executor 0
  host.run(0); // W waits
  go_on_w.set();
  host.run(2); // V can go on, behind W
  CHECK(host.count(theft_verdict::victim_goes_on) == 0);
  host->compute().step(0); // W looks, then lets V have its turn
  CHECK(host.count(theft_verdict::victim_goes_on) == 1);
  host.run_all();
  CHECK(root.has_ended());
  CHECK(host->stats().delegates_now == 0);
}

// -- counters -----------------------------------------------------------------

namespace {

/// Three forks: the first is stolen, and forks again.
void scripted(member& m, stepped_runtime& host, bool right_fails) {
  m.fork_merge(
    [&](member& a) {
      end_quantum(a);
      CHECK(host->stats().thefts == host->stats().merges + 1);
      a.fork_merge([](member&) {}, [](member&) {});
    },
    [&](member& r) {
      pass(300us); // before its first look
      r.fork_merge([](member&) {}, [](member&) {});
      end_quantum(r);
      pass(100us);
      r.poll();
      look(r);
      if (right_fails)
        throw std::runtime_error("right");
    });
}

constexpr posse::pure<scripted> pure_scripted{"scripted"};

void is_about(std::uint64_t found, std::chrono::nanoseconds expected) {
  CHECK(found <= static_cast<std::uint64_t>(expected.count()) + 100);
  CHECK(found + 100 >= static_cast<std::uint64_t>(expected.count())); // ticks are whole
}

} // namespace

TEST_CASE("every counter has the value that the run's steps give it") {
  stepped_runtime host{stepped(2)};
  bool fails = false;
  auto call = [&](member&) { pure_scripted(*host, host, fails); };
  {
    started first{host, 0, call};
    host.run(0);
    auto s = host->stats();
    CHECK(s.computations_now == 2); // this one is called by another
    CHECK(s.merge_waits == 1);
    CHECK(s.victims_now == 1);
    CHECK(s.delegates_now == 1);
    CHECK(s.suspended_ns == 0);
    host.run(1);
    host.run(0);
    CHECK(first.has_ended());
  }
  auto s = host->stats();
  CHECK(s.computations == 2);
  CHECK(s.computations_now == 0);
  CHECK(s.forks == 3);
  CHECK(s.inlined == 2);
  CHECK(s.quanta == 2);
  CHECK(s.yields == 0);
  CHECK(s.thefts == 1);
  CHECK(s.seamless_thefts == 0);
  CHECK(s.delegates_now == 0);
  CHECK(s.merges == 1);
  CHECK(s.failed_merges == 0);
  CHECK(s.merge_waits == 1);
  CHECK(s.victims_now == 0);
  is_about(s.suspended_ns, 600us);
  CHECK(s.largest_cabal == 2);
  CHECK(s.cancelled == 0);
  CHECK(s.over_limit == 0);
  CHECK(s.deepest_stack_bytes > 0);
  CHECK(s.verdicts[theft_verdict::delegate_oldest] == 1);
  REQUIRE(s.functions.size() == 1);
  const auto& f = s.functions[0];
  CHECK(f.name == "scripted");
  CHECK(f.calls == 1);
  CHECK(f.offloaded == 0);
  CHECK(f.failed == 0);
  CHECK(f.forks == 3);
  CHECK(f.inlined == 2);
  CHECK(f.thefts == 1);
  CHECK(f.merges == 1);
  CHECK(f.quanta == 2);
  is_about(f.busy_ns, 500us); // time before the first look of each is not counted

  fails = true;
  started second{host, 0, call};
  host.run_all();
  CHECK(second.error() == "right");
  s = host->stats();
  CHECK(s.computations == 4);
  CHECK(s.merges == 2);
  CHECK(s.failed_merges == 1);
  CHECK(s.functions[0].calls == 2);
  CHECK(s.functions[0].failed == 1);
}

TEST_CASE("computations that end by a limit or are cancelled are counted as such") {
  stepped_runtime host{stepped(1)};
  started greedy{host, 0, [](member& m) { std::ignore = m.charge(2000); }, {.memory_limit = 1000}};
  host.run_all();
  CHECK(host->stats().over_limit == 1);
  CHECK(host->stats().cancelled == 0);
  std::stop_source source;
  source.request_stop();
  started stopped{host, 0, [](member&) {}, {.stop = source.get_token()}};
  host.run_all();
  CHECK(host->stats().over_limit == 1);
  CHECK(host->stats().cancelled == 1);
  CHECK(host->stats().computations == 2);
}
