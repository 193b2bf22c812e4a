// How long others wait behind slow handlers, on the only message executor: an echo is asked every
// millisecond or so, while an actor gets a message every ten whose handler takes 3 ms (30 % load).
//
// interference          p95 of the time from send() to the echo's handler, over the same without
//                       load
// interference_inline   the same with the plain handler

#include "bench/mab/samples.hpp"
#include "bench/support/bench.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/adaptive.hpp>
#include <basal/actors/chooser_stats.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <atomic>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace basal;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using mab::bench::samples;

enum class load { none, adaptive, plain };
constexpr const char* load_names[] = {"idle", "adaptive", "inline"};

void spin(std::chrono::nanoseconds how_long) {
  const auto end = clock_type::now() + how_long;
  while (clock_type::now() < end) {
  }
}

caf::behavior slow(caf::event_based_actor* self, bool adaptively, std::atomic<int>* handled) {
  const auto handler = [handled](int) {
    spin(3ms);
    handled->fetch_add(1);
  };
  if (adaptively)
    return {actors::adaptive(self, handler, {.name = "slow"})};
  return {handler};
}

caf::behavior echo() {
  return {[](std::int64_t sent) {
    return static_cast<std::int64_t>(clock_type::now().time_since_epoch().count() - sent);
  }};
}

void sample(load l, int echoes, samples& into) {
  std::atomic<int> handled{0};
  int sent = 0;
  {
    actor_system_config config;
    config.set("basal.message-executors", std::size_t{1});
    config.set("basal.compute-executors", std::size_t{1});
    caf::actor_system system{config};
    caf::scoped_actor self{system};
    auto echoing = system.spawn(echo);
    auto loaded = system.spawn(slow, l == load::adaptive, &handled);
    auto due = clock_type::now();
    for (int i = 0; i < echoes; ++i) {
      if (l != load::none && clock_type::now() >= due) {
        self->send(loaded, ++sent);
        due += 10ms;
      }
      // Not in step with the load.
      std::this_thread::sleep_for(std::chrono::microseconds{500 + i * 37 % 1000});
      self
        ->request(echoing, caf::infinite,
                  static_cast<std::int64_t>(clock_type::now().time_since_epoch().count()))
        .receive([&](std::int64_t ns) { into.add(std::chrono::nanoseconds{ns}); },
                 [](const caf::error&) { throw std::runtime_error("no echo"); });
    }
    // Nobody holds them any more, so the system waits until they have handled everything.
  }
  if (handled != sent)
    throw std::runtime_error("a slow message got lost");
}

samples& echoes(load l, bool quick) {
  static std::array<samples, 3> all;
  if (all[0].size() == 0) {
    for (int round = 0; round < 5; ++round)
      for (const auto each : {load::none, load::adaptive, load::plain})
        sample(each, quick ? 100 : 600, all[static_cast<std::size_t>(each)]);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i].print(std::string{"echo/"} + load_names[i]);
  }
  return all[static_cast<std::size_t>(l)];
}

double interference(load l, bool quick) {
  return echoes(l, quick).percentile_us(95) / echoes(load::none, quick).percentile_us(95);
}

const bench::suite interference_suite{[](bench::plan& plan) {
  const bool quick = plan.quick();
  plan.measure("interference", [=] { return interference(load::adaptive, quick); });
  plan.measure("interference_inline", [=] { return interference(load::plain, quick); });
}};

} // namespace
