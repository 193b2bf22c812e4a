// Cost of the flight recorder: the same work on systems that record, as by default, and on systems
// that do not, in turns.
//
// recorder_overhead  time with it over the time without, at most, of
//   ping_pong        two actors, one message on its way
//   echo             an actor asks another, and goes on when it has the answer
//   fork_tree        fib(30) by forks
//
// Of each, the median of the ratios of one turn to the next. The place of a system's memory and the
// CPUs of its threads make a difference of several percent, so there are several pairs of systems.

#include "bench/posse/fib.hpp"
#include "bench/support/bench.hpp"
#include "bench/support/format.hpp"
#include "bench/support/statistics.hpp"
#include "programs/program.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/executors/recorder.hpp>
#include <basal/posse/posse.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace basal;

/// An actor system and a runtime that record, or do not.
struct subject {
  explicit subject(bool records) {
    executors::recorder::use(records);
    system = std::make_unique<caf::actor_system>(config);
    runtime = std::make_unique<posse::runtime>();
    executors::recorder::use(true);
  }

  actor_system_config config;
  std::unique_ptr<caf::actor_system> system;
  std::unique_ptr<posse::runtime> runtime;
};

void expect(std::int64_t answer, std::int64_t expected) {
  if (answer != expected)
    throw std::runtime_error("wrong answer: " + std::to_string(answer) + ", not "
                             + std::to_string(expected));
}

void ping_pong(subject& on) {
  for (const auto* p : bench::all_programs())
    if (p->name == std::string{"ping_pong"})
      expect(p->run(*on.system, 20'000), 20'000);
}

caf::behavior echo_client(caf::stateful_actor<std::int64_t>* self, const caf::actor& server,
                          const caf::actor& observer) {
  return {[=](std::int64_t left) {
    if (left == 0) {
      self->send(observer, self->state);
      self->quit();
      return;
    }
    self->request(server, caf::infinite, left).then([=](std::int64_t answer) {
      self->state += answer == left ? 1 : 0;
      self->send(self, left - 1);
    });
  }};
}

void echo(subject& on) {
  constexpr std::int64_t requests = 7'000;
  caf::scoped_actor self{*on.system};
  const auto server = on.system->spawn(
    []() -> caf::behavior { return {[](std::int64_t number) { return number; }}; });
  self->send(on.system->spawn(echo_client, server, caf::actor{self}), requests);
  self->receive([](std::int64_t right) { expect(right, requests); });
  self->send_exit(server, caf::exit_reason::user_shutdown);
}

void fork_tree(subject& on) {
  expect(on.runtime->run([](posse::member& m) { return bench::fib(m, 30); }), 832'040);
}

struct workload {
  const char* name;
  void (*run)(subject&);
  std::vector<double> ratios{}; ///< time with the recorder over the time without
};

double seconds(void (*work)(subject&), subject& on) {
  const auto start = std::chrono::steady_clock::now();
  work(on);
  return std::chrono::duration<double>{std::chrono::steady_clock::now() - start}.count();
}

void compare(workload& what, subject& with, subject& without, int turns) {
  what.run(with);
  what.run(without);
  for (int i = 0; i < turns; ++i) {
    const bool with_first = i % 2 == 0;
    const auto first = seconds(what.run, with_first ? with : without);
    const auto second = seconds(what.run, with_first ? without : with);
    what.ratios.push_back(with_first ? first / second : second / first);
  }
}

double overhead(bool quick) {
  const int pairs = quick ? 3 : 11;
  const int turns = quick ? 10 : 40;
  std::array all{workload{"ping_pong", ping_pong}, workload{"echo", echo},
                 workload{"fork_tree", fork_tree}};
  for (int i = 0; i < pairs; ++i) {
    const bool with_first = i % 2 == 0;
    subject first{with_first};
    subject second{!with_first};
    for (auto& what : all)
      compare(what, with_first ? first : second, with_first ? second : first, turns);
  }
  double highest = 0;
  for (const auto& what : all) {
    const auto result = bench::median(what.ratios);
    std::cout << "recorder, " << what.name << ": " << bench::three_digits(result) << '\n';
    highest = std::max(highest, result);
  }
  return highest;
}

const bench::suite recorder_suite{[](bench::plan& plan) {
  plan.measure("recorder_overhead", [quick = plan.quick()] { return overhead(quick); });
}};

} // namespace
