#pragma once

// Parts shared by the tests of adaptive handlers.

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/adaptive.hpp>
#include <basal/actors/chooser_stats.hpp>
#include <basal/actors/detail/scheduler.hpp>
#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <ctime>
#include <string>

#include "support/catch.hpp"

namespace adaptive_tests {

/// Long enough for anything that works; only a broken program waits this long.
inline constexpr auto patience = std::chrono::seconds{60};

/// Burns CPU time of this thread: what else the machine does makes it no longer.
inline void burn(std::chrono::nanoseconds how_long) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
  };
  const auto end = now() + how_long;
  while (now() < end) {
  }
}

struct fixture {
  basal::actor_system_config cfg;
  caf::actor_system system;
  caf::scoped_actor self{system};

  explicit fixture(std::size_t messages = 1, std::size_t compute = 1)
    : system(configured(cfg, messages, compute)) {
  }

  static basal::actor_system_config& configured(basal::actor_system_config& cfg,
                                                std::size_t messages, std::size_t compute) {
    cfg.set("basal.message-executors", messages);
    cfg.set("basal.compute-executors", compute);
    return cfg;
  }

  basal::executors::executor_pool* messages() {
    return &basal::actors::scheduler::of(system)->messages();
  }

  basal::executors::executor_pool* compute() {
    return &basal::actors::scheduler::of(system)->compute().compute();
  }

  template <class Result, class Handle, class... Args>
  Result ask(const Handle& whom, const Args&... args) {
    Result result{};
    self->request(whom, patience, args...)
      .receive([&](const Result& x) { result = x; },
               [&](caf::error& err) { FAIL(system.render(err)); });
    return result;
  }

  /// The error with which a request is answered.
  template <class Handle, class... Args>
  caf::error ask_error(const Handle& whom, const Args&... args) {
    caf::error result;
    self->request(whom, patience, args...)
      .receive([](int) { FAIL("it answered"); }, [&](caf::error& err) { result = err; });
    return result;
  }

  /// Statistics of the handlers of that name; empty if there are none.
  basal::actors::chooser_stats stats(const std::string& name) {
    for (const auto& x : basal::actors::chooser_stats_of(system))
      if (x.name == name)
        return x;
    return {};
  }
};

/// The pool on which the caller runs; null on a thread of no pool.
inline basal::executors::executor_pool* here() {
  auto* self = basal::executors::executor::current();
  return self != nullptr ? &self->pool() : nullptr;
}

/// Knobs under which a handler always runs at one place.
inline basal::actors::adaptive_actor_config always(basal::mab::policy p) {
  basal::actors::adaptive_actor_config config;
  config.knobs.emplace().chosen_by = p;
  return config;
}

inline const auto always_offload = always(basal::mab::policy::always_offload);
inline const auto always_inline = always(basal::mab::policy::always_inline);

} // namespace adaptive_tests
