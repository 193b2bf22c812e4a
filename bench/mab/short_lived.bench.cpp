// Costs of the choice for those who are there for a single run, of a function that takes next to
// nothing: one_shot_ns, of a function that is handed to spawn_adaptive() in a handler, over a plain
// call of it; new_actor_ns, of an actor whose adaptive handler gets one message, over one whose
// handler is plain. Differences of runs that took turns; with the defaults.

#include "bench/support/bench.hpp"
#include "bench/support/statistics.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/adaptive.hpp>
#include <basal/actors/chooser_stats.hpp>
#include <basal/actors/spawn_adaptive.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace {

using namespace basal;
using clock_type = std::chrono::steady_clock;

std::uint64_t next(std::uint64_t x) {
  return x * 6364136223846793005 + 1442695040888963407;
}

// Calls body(event_based_actor*) in a handler of an actor of its own.
// @returns ns for each of `count`
template <class Body>
double ns_in_handler(caf::actor_system& system, int count, Body body) {
  caf::scoped_actor self{system};
  double ns = -1;
  const auto host = system.spawn([&](caf::event_based_actor* me) -> caf::behavior {
    return {[&, me](int) {
      const auto start = clock_type::now();
      body(me);
      ns = std::chrono::duration<double, std::nano>(clock_type::now() - start).count() / count;
      me->quit();
    }};
  });
  self->send(host, 1);
  self->wait_for(host);
  return ns;
}

void expect_sum(std::uint64_t sum, int count) {
  std::uint64_t expected = 0;
  for (int i = 0; i < count; ++i)
    expected += next(static_cast<std::uint64_t>(i));
  if (sum != expected)
    throw std::runtime_error("a function or a handler computed something else");
}

int rounds(bool quick) {
  return quick ? 6 : 12;
}

/// Choosers that are still there may not have told of their last runs.
void expect_choices(caf::actor_system& system, int count, bool quick) {
  const auto all = actors::total(actors::chooser_stats_of(system));
  if (all.counts[mab::event::finished]
      < static_cast<std::uint64_t>(rounds(quick) - 1) * static_cast<std::uint64_t>(count))
    throw std::runtime_error("fewer runs were counted than there were");
}

/// Runs both by turns; the first round, in which choosers learn, does not count.
/// @returns the median of the differences, ns
template <class Adaptive, class Plain>
double difference(bool quick, Adaptive adaptive, Plain plain) {
  std::vector<double> result;
  for (int round = 0; round < rounds(quick); ++round) {
    double base = 0;
    if (round % 2 == 0)
      base = plain();
    const double ns = adaptive();
    if (round % 2 != 0)
      base = plain();
    if (round > 0)
      result.push_back(ns - base);
  }
  return bench::median(result);
}

double one_shot_ns(bool quick) {
  const int count = quick ? 20'000 : 100'000;
  actor_system_config config;
  caf::actor_system system{config};
  const auto all = [&](auto one) {
    std::uint64_t sum = 0;
    const double ns = ns_in_handler(system, count, [&](caf::event_based_actor* me) {
      for (int i = 0; i < count; ++i)
        sum += one(me, bench::opaque(static_cast<std::uint64_t>(i)));
    });
    expect_sum(sum, count);
    return ns;
  };
  const double result = difference(
    quick,
    [&] {
      return all([](caf::event_based_actor* me, std::uint64_t i) {
        return actors::spawn_adaptive(me, [i] { return next(i); }).get();
      });
    },
    [&] { return all([](caf::event_based_actor*, std::uint64_t i) { return next(i); }); });
  expect_choices(system, count, quick);
  return result;
}

/// One after the other, each asked by an actor that waits for its answer.
template <class Server>
double ns_of_new_actors(caf::actor_system& system, int count, Server server) {
  caf::scoped_actor self{system};
  std::uint64_t sum = 0;
  int left = count;
  const auto start = clock_type::now();
  const auto client = system.spawn([&](caf::event_based_actor* me) -> caf::behavior {
    return {[&, me](int i) {
      const auto whom = me->system().spawn(server);
      me->request(whom, caf::infinite, static_cast<std::uint64_t>(i))
        .then([&, me, i, whom](std::uint64_t answer) {
          sum += answer;
          me->send_exit(whom, caf::exit_reason::user_shutdown);
          if (--left > 0)
            me->send(me, i + 1);
          else
            me->quit();
        });
    }};
  });
  self->send(client, 0);
  self->wait_for(client);
  const double ns = std::chrono::duration<double, std::nano>(clock_type::now() - start).count();
  expect_sum(sum, count);
  return ns / count;
}

caf::behavior plain_server(caf::event_based_actor*) {
  return {[](std::uint64_t i) { return next(i); }};
}

caf::behavior adaptive_server(caf::event_based_actor* self) {
  return {actors::adaptive(self, [](std::uint64_t i) { return next(i); })};
}

double new_actor_ns(bool quick) {
  const int count = quick ? 20'000 : 100'000;
  actor_system_config config;
  caf::actor_system system{config};
  const double result = difference(
    quick, [&] { return ns_of_new_actors(system, count, adaptive_server); },
    [&] { return ns_of_new_actors(system, count, plain_server); });
  expect_choices(system, count, quick);
  return result;
}

const bench::suite short_lived_suite{[](bench::plan& plan) {
  const bool quick = plan.quick();
  plan.measure("one_shot_ns", [quick] { return one_shot_ns(quick); });
  plan.measure("new_actor_ns", [quick] { return new_actor_ns(quick); });
}};

} // namespace
