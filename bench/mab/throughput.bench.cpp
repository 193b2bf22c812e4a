// adaptive_vs_best_static: how many requests a system answers in a given time, with adaptive
// handlers over the better of two static choices, always inline (the plain handler) and always
// offload.
//
// Four clients for each kind of handler, each with a server of its own and one request at a time.
// A handler of 100 us does what took 100 us undisturbed. In the mixed workload, with handlers of
// all kinds, what counts is how many requests the slow ones leave room for. Two message
// executors, two compute executors. The chatty workloads have one message executor, for which
// nearly always somebody waits.
//
// With the defaults, whatever the machine has: in one_message, each request has a server of its
// own, which ends with the answer. In rounds, one client asks sixteen servers and waits for all.

#include "bench/support/bench.hpp"
#include "bench/support/statistics.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/adaptive.hpp>
#include <basal/actors/offload.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <atomic>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace basal;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

std::uint32_t iterate(std::uint64_t times) {
  std::uint32_t x = bench::opaque(std::uint32_t{1});
  for (std::uint64_t i = 0; i < times; ++i)
    x = x * 1664525 + 1013904223;
  return x;
}

double iterations_per_us() {
  static const double result = [] {
    constexpr std::uint64_t tried = 1'000'000;
    auto fastest = std::chrono::nanoseconds::max();
    for (int i = 0; i < 10; ++i) {
      const auto start = clock_type::now();
      bench::keep(iterate(tried));
      fastest = std::min<std::chrono::nanoseconds>(fastest, clock_type::now() - start);
    }
    return 1e3 * static_cast<double>(tried) / static_cast<double>(fastest.count());
  }();
  return result;
}

enum class pattern {
  requests,    ///< a client asks its server again and again
  one_message, ///< a client asks a new server each time
  rounds,      ///< a client asks many servers at once
};

constexpr std::size_t by_default = 0;

struct workload {
  const char* name;
  std::vector<int> us;               ///< how long the handlers take
  std::size_t message_executors = 2; ///< by_default: the compute executors, too
  pattern of = pattern::requests;
};

const workload workloads[] = {
  {"fast_1us", {1}},
  {"fast_10us", {10}},
  {"medium_100us", {100}},
  {"slow_500us", {500}},
  {"slow_3000us", {3000}},
  {"mixed", {1, 10, 100, 500, 3000}},
  {"chatty_1us", {1}, 1},
  {"chatty_10us", {10}, 1},
  {"one_message_1us", {1}, by_default, pattern::one_message},
  {"rounds_5us", {5}, by_default, pattern::rounds},
};

enum class choice { always_inline, always_offload, adaptive };
constexpr choice choices[] = {choice::always_inline, choice::always_offload, choice::adaptive};
constexpr const char* choice_names[] = {"inline", "offload", "adaptive"};

/// The same in every kind; the kind is in the type, as it is in programs that are not benchmarks.
template <int Us>
caf::behavior server(caf::event_based_actor* self, choice c) {
  const auto times = static_cast<std::uint64_t>(Us * iterations_per_us());
  const auto handler = [times](std::uint32_t) { return iterate(times); };
  switch (c) {
  case choice::always_inline:
    return {handler};
  case choice::always_offload:
    return {[=](std::uint32_t x) { return actors::offload(self, [=] { return handler(x); }); }};
  default:
    return {actors::adaptive(self, handler, {.name = std::to_string(Us) + " us"})};
  }
}

caf::actor spawn_server(caf::actor_system& system, int us, choice c) {
  switch (us) {
  case 1:
    return system.spawn(server<1>, c);
  case 5:
    return system.spawn(server<5>, c);
  case 10:
    return system.spawn(server<10>, c);
  case 100:
    return system.spawn(server<100>, c);
  case 500:
    return system.spawn(server<500>, c);
  default:
    return system.spawn(server<3000>, c);
  }
}

struct tally {
  std::atomic<bool> stop{false};
  std::atomic<bool> wrong{false};
  std::atomic<std::uint64_t> answered{0};

  void note(bool is_right) {
    if (!is_right)
      wrong.store(true);
    answered.fetch_add(1, std::memory_order_relaxed);
  }
};

void ask(caf::event_based_actor* self, const caf::actor& whom, std::uint32_t expected, tally* t) {
  self->request(whom, caf::infinite, std::uint32_t{0}).then([=](std::uint32_t answer) {
    t->note(answer == expected);
    if (!t->stop.load(std::memory_order_relaxed))
      ask(self, whom, expected, t);
  });
}

void ask_new(caf::event_based_actor* self, int us, choice c, std::uint32_t expected, tally* t) {
  const auto whom = spawn_server(self->system(), us, c);
  self->request(whom, caf::infinite, std::uint32_t{0}).then([=](std::uint32_t answer) {
    self->send_exit(whom, caf::exit_reason::user_shutdown);
    t->note(answer == expected);
    if (!t->stop.load(std::memory_order_relaxed))
      ask_new(self, us, c, expected, t);
  });
}

void ask_all(caf::event_based_actor* self, const std::vector<caf::actor>& whom,
             std::uint32_t expected, tally* t) {
  auto open = std::make_shared<std::size_t>(whom.size());
  for (const auto& each : whom)
    self->request(each, caf::infinite, std::uint32_t{0}).then([=, &whom](std::uint32_t answer) {
      t->note(answer == expected);
      if (--*open == 0 && !t->stop.load(std::memory_order_relaxed))
        ask_all(self, whom, expected, t);
    });
}

using begin = caf::atom_constant<caf::atom("begin")>;

struct client_state {
  std::vector<caf::actor> servers;
};

caf::behavior client(caf::stateful_actor<client_state>* self, pattern of, int us, choice c,
                     std::uint32_t expected, tally* t) {
  constexpr int at_once = 16;
  auto& servers = self->state.servers;
  for (int i = 0; of != pattern::one_message && i < (of == pattern::rounds ? at_once : 1); ++i)
    servers.push_back(spawn_server(self->system(), us, c));
  return {[=, &servers](begin) {
    switch (of) {
    case pattern::requests:
      return ask(self, servers.front(), expected, t);
    case pattern::one_message:
      return ask_new(self, us, c, expected, t);
    case pattern::rounds:
      return ask_all(self, servers, expected, t);
    }
  }};
}

/// Answers a second, after a while in which choosers learn.
double answers_per_s(const workload& w, choice c, std::chrono::nanoseconds how_long) {
  tally t; // outlives the actors
  actor_system_config config;
  if (w.message_executors != by_default) {
    config.set("basal.message-executors", w.message_executors);
    config.set("basal.compute-executors", std::size_t{2});
  }
  double result = 0;
  {
    caf::actor_system system{config};
    caf::scoped_actor self{system};
    for (const int us : w.us) {
      const auto expected = iterate(static_cast<std::uint64_t>(us * iterations_per_us()));
      for (int i = 0; i < (w.of == pattern::rounds ? 1 : 4); ++i)
        self->send(system.spawn(client, w.of, us, c, expected, &t), begin::value);
    }
    std::this_thread::sleep_for(how_long / 2);
    const auto before = t.answered.load();
    const auto start = clock_type::now();
    std::this_thread::sleep_for(how_long);
    const auto count = t.answered.load() - before;
    result = static_cast<double>(count)
             / std::chrono::duration<double>(clock_type::now() - start).count();
    t.stop.store(true);
  }
  if (t.wrong)
    throw std::runtime_error("a handler computed something else");
  return result;
}

double adaptive_vs_best_static(const workload& w, bool quick) {
  std::map<choice, std::vector<double>> all;
  std::vector<double> ratios;
  for (int round = 0; round < (quick ? 5 : 9); ++round) {
    for (const auto c : choices)
      all[c].push_back(answers_per_s(w, c, quick ? 100ms : 400ms));
    ratios.push_back(
      all[choice::adaptive].back()
      / std::max(all[choice::always_inline].back(), all[choice::always_offload].back()));
  }
  for (const auto c : choices) {
    const auto [low, high] = std::minmax_element(all[c].begin(), all[c].end());
    std::cout << std::left << std::setw(32)
              << std::string{"throughput/"} + w.name + "/" + choice_names[static_cast<int>(c)]
              << std::right << std::fixed << std::setprecision(0) << std::setw(9)
              << bench::median(all[c]) << " answers/s, from " << *low << " to " << *high << '\n';
  }
  return bench::median(ratios);
}

const bench::suite throughput_suite{[](bench::plan& plan) {
  const bool quick = plan.quick();
  for (const auto& w : workloads)
    plan.measure(std::string{"adaptive_vs_best_static_"} + w.name,
                 [&w, quick] { return adaptive_vs_best_static(w, quick); });
}};

} // namespace
