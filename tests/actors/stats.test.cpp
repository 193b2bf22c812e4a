#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/monitor.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/actors/stats.hpp>
#include <basal/priority/background_pool.hpp>

#include <caf/actor_system.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/deep_to_string.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace {

using basal::posse::member;

int twice(member&, int x) {
  return 2 * x;
}
constexpr basal::posse::pure<twice> pure_twice{"twice"};

basal::actors::system_stats sample() {
  basal::actors::system_stats x;
  x.message_executors.resize(2);
  x.message_executors[0].tasks_run = 1;
  x.message_executors[1].suspensions = ~std::uint64_t{0};
  x.compute_executors.resize(1);
  x.compute_executors[0].times_parked = 3;
  x.message_work = {"", "worker <- i32"};
  x.posse.thefts = 4;
  x.posse.verdicts[basal::posse::theft_verdict::too_young] = 5;
  x.posse.functions.push_back({"fib", 6, 7, 8, 9});
  x.overruns.push_back({"slow", 11, 12, 13, {0, 12}});
  x.background.queued_now = 14;
  x.background.levels.push_back({.name = "batch", .queued_now = 14, .oldest_us = 24});
  x.timers_now = 10;
  x.heap_bytes = 15;
  x.heap_pauses = {.count = 25, .sum_ns = 26, .p50_ns = 27, .p99_ns = 28, .within = {29}};
  x.heap_longest_pause_ns = 30;
  x.backlogs.push_back({"sink", 16, 17, 18});
  x.solver.waiting = 20;
  x.solver.methods.push_back({"gmres", {{"converged", 21}}, {.count = 21, .within = {22}}});
  x.solver.failures.push_back({"rejected", 23});
  x.warnings.push_back({"long_wait", "message", "why", "what to do", 19});
  return x;
}

} // namespace

TEST_CASE("statistics print with the names of their fields") {
  CHECK(
    caf::deep_to_string(basal::executors::executor_stats{.tasks_run = 3, .suspensions = 12})
    == "executor_stats(tasks_run = 3, tasks_stolen = 0, lifo_hits = 0, injection_hits = 0, "
       "injection_batches = 0, deliveries = 0, background_tasks = 0, background_turns = 0, "
       "times_parked = 0, wake_ups = 0, spin_wake_ups = 0, overflows = 0, "
       "fibers_created = 0, suspensions = 12, overruns = 0, overrun_quanta = 0, quantum_ends = 0, "
       "running_ns = 0, looking_ns = 0, parked_ns = 0, load_permille = 0, waiting_now = 0)");
  CHECK(caf::deep_to_string(basal::posse::function_stats{"fib", 1, 2, 3, 4, 5, 6, 7, 8, 9})
        == "function_stats(name = \"fib\", calls = 1, offloaded = 2, failed = 3, forks = 4, "
           "inlined = 5, thefts = 6, merges = 7, quanta = 8, busy_ns = 9)");
  const auto text = caf::deep_to_string(sample());
  CHECK_THAT(text, ContainsSubstring("message_executors = [executor_stats(tasks_run = 1,"));
  CHECK_THAT(text, ContainsSubstring("message_work = [\"\", \"worker <- i32\"], compute_work = "
                                     "[], posse = posse_stats(computations = 0,"));
  CHECK_THAT(text, ContainsSubstring("verdicts = theft_verdicts(delegate_oldest = 0, "));
  CHECK_THAT(text, ContainsSubstring("too_young = 5, not_worth_it = 0, in_sequence = 0, "));
  CHECK_THAT(text, ContainsSubstring("functions = [function_stats(name = \"fib\""));
  CHECK_THAT(text, ContainsSubstring("overruns = [overrun_stats(name = \"slow\", overruns = 11, "
                                     "quanta = 12, longest_us = 13, quanta_on = [0, 12])]"));
  CHECK_THAT(text, ContainsSubstring("queued_now = 14, running_now = 0, typical_us = 0, levels = "
                                     "[background_level_stats(name = \"batch\", submitted = 0, "));
  CHECK_THAT(text, ContainsSubstring("queued_now = 14, running_now = 0, oldest_us = 24)])"));
  CHECK_THAT(text, ContainsSubstring("timers_now = 10, heap_bytes = 15"));
  CHECK_THAT(text, ContainsSubstring("heap_pauses = time_stats(count = 25, sum_ns = 26, p50_ns = "
                                     "27, p99_ns = 28, within = [29]), heap_longest_pause_ns = "
                                     "30"));
  CHECK_THAT(text, ContainsSubstring("backlogs = [backlog_stats(name = \"sink\", messages = 16, "
                                     "most = 17, seen = 18)]"));
  CHECK_THAT(text,
             ContainsSubstring("solver = solving_stats(solvers = 0, permits = 0, running = 0, "
                               "waiting = 20, methods = [solve_method_stats(name = \"gmres\", "
                               "ended = [solve_count(name = \"converged\", solves = 21)], "
                               "times = "));
  CHECK_THAT(text, ContainsSubstring("warnings = [warning(kind = \"long_wait\", subject = "
                                     "\"message\", cause = \"why\""));
}

TEST_CASE("statistics survive CAF's serialiser") {
  auto before = sample();
  std::vector<char> bytes;
  caf::binary_serializer out{nullptr, bytes};
  REQUIRE_FALSE(out(before));
  basal::actors::system_stats after;
  caf::binary_deserializer in{nullptr, bytes};
  REQUIRE_FALSE(in(after));
  CHECK(caf::deep_to_string(after) == caf::deep_to_string(before));
  CHECK(after.message_executors[1].suspensions == ~std::uint64_t{0});
  CHECK(after == before);
  ++after.posse.functions.front().busy_ns;
  CHECK(after != before);
}

TEST_CASE("a monitor actor answers with what the system has done") {
  basal::actor_system_config cfg;
  cfg.set("basal.message-executors", std::size_t{2});
  cfg.set("basal.compute-executors", std::size_t{1});
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  const auto calls_before = [&] {
    for (const auto& f : basal::actors::stats_of(system).posse.functions)
      if (f.name == "twice")
        return f.calls;
    return std::uint64_t{0};
  }();
  auto worker = system.spawn([](caf::event_based_actor* me) -> caf::behavior {
    return {[me](int x) { return pure_twice(me, x); }};
  });
  for (int i = 0; i < 10; ++i)
    self->request(worker, caf::infinite, i)
      .receive([&](int x) { CHECK(x == 2 * i); }, [](caf::error&) { FAIL("no answer"); });
  auto monitor = system.spawn(basal::actors::monitor);
  self->delayed_anon_send(worker, std::chrono::hours{1}, 1);
  basal::actors::system_stats stats;
  self->request(monitor, caf::infinite, caf::get_atom::value)
    .receive([&](const basal::actors::system_stats& x) { stats = x; },
             [](caf::error&) { FAIL("no answer"); });
  CHECK(stats.message_executors.size() == 2);
  CHECK(stats.compute_executors.size() == 1);
  CHECK(stats.message_executors[0].tasks_run + stats.message_executors[1].tasks_run >= 1);
  CHECK(stats.posse.computations == 10);
  CHECK(stats.timers_now == 1);
  bool found = false;
  for (const auto& f : stats.posse.functions)
    if (f.name == "twice") {
      found = true;
      CHECK(f.calls == calls_before + 10);
    }
  CHECK(found);
  CHECK_THAT(caf::deep_to_string(stats), ContainsSubstring("name = \"twice\""));
  system.clock().cancel_all();
}

TEST_CASE("a monitor sends statistics to its subscribers until they or their subscription end") {
  using basal::actors::stats_subscriber;
  using basal::actors::system_stats;
  basal::actor_system_config cfg;
  cfg.set("basal.message-executors", std::size_t{1});
  cfg.set("basal.compute-executors", std::size_t{1});
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  auto monitor = system.spawn(basal::actors::monitor);
  const auto subscribe = [&](const stats_subscriber& to, std::chrono::milliseconds interval) {
    bool good = false;
    self->request(monitor, caf::infinite, caf::subscribe_atom::value, to, caf::timespan{interval})
      .receive([&] { good = true; }, [](caf::error&) {});
    return good;
  };
  // Passes on what it gets, `most` times, and ends.
  const auto listener = [&](int most) {
    return system.spawn([parent = caf::actor{self},
                         most](stats_subscriber::pointer me) -> stats_subscriber::behavior_type {
      return {[=, left = most](const system_stats& x) mutable {
        caf::anon_send(parent, x);
        if (--left == 0)
          me->quit();
      }};
    });
  };
  const auto next = [&] {
    std::uint64_t tasks = 0;
    self->receive([&](const system_stats& x) { tasks = x.message_executors[0].tasks_run; });
    return tasks;
  };
  auto forever = listener(-1);
  CHECK_FALSE(subscribe(forever, std::chrono::milliseconds{0}));
  REQUIRE(subscribe(forever, std::chrono::milliseconds{1}));
  const auto first = next();
  CHECK(next() > first);
  self->request(monitor, caf::infinite, caf::unsubscribe_atom::value, forever)
    .receive([] {}, [](caf::error&) { FAIL("no answer"); });
  // One may be under way; then there are no more.
  const auto more = [&] {
    bool got = false;
    self->receive([&](const system_stats&) { got = true; },
                  caf::after(std::chrono::milliseconds{50}) >> [] {});
    return got;
  };
  int late = 0;
  while (late < 100 && more())
    ++late;
  CHECK(late < 100);
  self->send_exit(forever, caf::exit_reason::user_shutdown);
  self->wait_for(forever);

  auto twice = listener(2);
  REQUIRE(subscribe(twice, std::chrono::milliseconds{1}));
  self->wait_for(twice);
  self->send_exit(monitor, caf::exit_reason::user_shutdown);
  self->wait_for(monitor);
  // Nothing of the monitor is left behind: the system ends.
}

TEST_CASE("background work is counted once there is some") {
  basal::actor_system_config cfg;
  cfg.set("basal.message-executors", std::size_t{1});
  cfg.set("basal.compute-executors", std::size_t{1});
  caf::actor_system system{cfg};
  CHECK(basal::actors::stats_of(system).background == basal::actors::background_stats{});
  auto& background
    = basal::priority::background_pool::of(basal::actors::runtime_of(system).compute());
  background.submit([] {}).get();
  const auto after = basal::actors::stats_of(system).background;
  CHECK(after.submitted == 1);
  CHECK(after.done == 1);
  REQUIRE(after.levels.size() == basal::priority::named_levels.size());
  const auto& normal = after.levels[1];
  CHECK(normal.name == "normal");
  CHECK(normal.submitted == 1);
  CHECK(normal.done == 1);
  CHECK(normal.queued_now == 0);
}

TEST_CASE("statistics say what an executor runs now, and nothing of an idle one") {
  basal::actor_system_config cfg;
  cfg.set("basal.message-executors", std::size_t{1});
  cfg.set("basal.compute-executors", std::size_t{1});
  std::atomic<bool> begun{false}, end{false};
  caf::actor_system system{cfg};
  const auto worker = system.spawn([&](caf::event_based_actor*) -> caf::behavior {
    return {[&](int) {
      begun = true;
      begun.notify_one();
      end.wait(false);
    }};
  });
  caf::anon_send(worker, 1);
  begun.wait(false);
  const auto busy = basal::actors::stats_of(system);
  end = true;
  end.notify_one();
  REQUIRE(busy.message_work.size() == 1);
  CHECK_THAT(busy.message_work[0], ContainsSubstring("event_based_actor"));
  REQUIRE(busy.compute_work.size() == 1);
  CHECK(busy.compute_work[0].empty());
  caf::anon_send_exit(worker, caf::exit_reason::user_shutdown);
  while (!basal::actors::stats_of(system).message_work[0].empty())
    std::this_thread::yield();
}

TEST_CASE("background work that waits is told by level, with the age of the oldest") {
  basal::actor_system_config cfg;
  cfg.set("basal.message-executors", std::size_t{1});
  cfg.set("basal.compute-executors", std::size_t{1});
  std::atomic<bool> begun{false}, end{false};
  caf::actor_system system{cfg};
  using basal::priority::level;
  auto& background
    = basal::priority::background_pool::of(basal::actors::runtime_of(system).compute());
  auto busy = background.submit({level::interactive, {}}, [&] {
    begun = true;
    begun.notify_one();
    end.wait(false);
  });
  begun.wait(false);
  auto waiting = background.submit({level::batch, {}}, [] {});
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  const auto now = basal::actors::stats_of(system).background;
  end = true;
  end.notify_one();
  waiting.get();
  CHECK(now.queued_now == 1);
  CHECK(now.running_now == 1);
  REQUIRE(now.levels.size() == 5);
  CHECK(now.levels[0].name == "interactive");
  CHECK(now.levels[0].running_now == 1);
  CHECK(now.levels[4].name == "batch");
  CHECK(now.levels[4].queued_now == 1);
  CHECK(now.levels[4].oldest_us >= 20'000);
  busy.get();
}

TEST_CASE("there are no statistics of a system on stock CAF") {
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  CHECK_THROWS_WITH(basal::actors::stats_of(system), ContainsSubstring("does not run on basal"));
}
