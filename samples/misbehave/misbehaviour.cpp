#include "misbehaviour.hpp"

#include <basal/actors/actors.hpp>
#include <basal/executors/recorder.hpp>
#include <basal/posse/pure.hpp>
#include <basal/priority/background_pool.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <memory_resource>
#include <thread>
#include <vector>

#ifdef MISBEHAVE_GC
#  include <basal/posse/gc/gc.hpp>
#endif

namespace misbehave {

namespace {

using namespace std::chrono_literals;
using basal::posse::member;
using clock_type = std::chrono::steady_clock;
using flag = std::atomic<bool>;
using again = caf::atom_constant<caf::atom("again")>;

void compute(std::chrono::microseconds time) {
  for (const auto end = clock_type::now() + time; clock_type::now() < end;) {
  }
}

/// Does `once` at each of its messages, which it sends itself until it is to stop.
template <class Function>
caf::behavior repeating(caf::event_based_actor* self, const flag* stop, Function once) {
  self->send(self, again::value);
  return {[=](again) {
    once(self);
    if (!stop->load(std::memory_order_relaxed))
      self->send(self, again::value);
  }};
}

struct glutton_state {
  static inline const char* name = "glutton";
};

void handle_for_long(caf::actor_system& system, const flag& stop) {
  system.spawn([&stop](caf::stateful_actor<glutton_state>* self) {
    return repeating(self, &stop, [](caf::event_based_actor*) { compute(50ms); });
  });
}

void block(caf::actor_system& system, const flag& stop) {
  system.spawn([&stop](caf::event_based_actor* self) -> caf::behavior {
    self->send(self, again::value);
    return {[&stop](again) { stop.wait(false, std::memory_order_relaxed); }};
  });
}

/// 50 ms of work for each executor wait at any time, in pieces that fit into a quantum.
void crowd(caf::actor_system& system, const flag& stop) {
  for (int i = 0; i < 2000; ++i)
    system.spawn([&stop](caf::event_based_actor* self) {
      return repeating(self, &stop, [](caf::event_based_actor*) { compute(50us); });
    });
}

struct sink_state {
  static inline const char* name = "sink";
};

void flood(caf::actor_system& system, const flag& stop) {
  const auto sink = system.spawn(
    [](caf::stateful_actor<sink_state>*) -> caf::behavior { return {[](int) { compute(20us); }}; });
  system.spawn([&stop, sink](caf::event_based_actor* self) -> caf::behavior {
    self->send(self, again::value);
    return {[&stop, self, sink](again) {
      for (int i = 0; i < 400; ++i) // 8 ms of work for the sink
        self->send(sink, i);
      if (!stop.load(std::memory_order_relaxed))
        self->delayed_send(self, 5ms, again::value);
    }};
  });
}

long fib(member& m, int n) {
  if (n < 2)
    return n;
  auto [a, b] = m.fork_merge([=](member& left) { return fib(left, n - 1); },
                             [=](member& right) { return fib(right, n - 2); });
  return a + b;
}
constexpr basal::posse::pure<fib> pure_fib{"fib"};

void fork_alone(caf::actor_system& system, const flag& stop) {
  system.spawn([&stop](caf::event_based_actor* self) {
    return repeating(self, &stop, [](caf::event_based_actor* me) { pure_fib(me, 27); });
  });
}

int hungry(member& m) {
  std::vector<std::pmr::vector<int>> all;
  for (;;)
    all.emplace_back(1 << 16, 0, &m.memory());
}
constexpr basal::posse::pure<hungry> pure_hungry{"hungry"};

void exceed_memory(caf::actor_system& system, const flag& stop) {
  system.spawn([&stop](caf::event_based_actor* self) {
    return repeating(self, &stop, [](caf::event_based_actor* me) {
      try {
        pure_hungry(me);
      } catch (const basal::posse::memory_limit_exceeded&) {
        std::this_thread::sleep_for(1ms); // is warned of, not its storm
      }
    });
  });
}

#ifdef MISBEHAVE_GC
int collect_garbage(member&) {
  basal::posse::gc::collect();
  return 0;
}
constexpr basal::posse::pure<collect_garbage> pure_collect{"collect"};

void collect(caf::actor_system& system, const flag& stop) {
  system.spawn([&stop](caf::event_based_actor* self) {
    return repeating(self, &stop, [](caf::event_based_actor* me) { pure_collect(me); });
  });
}
#endif

void offload_dearly(caf::actor_system& system, const flag& stop) {
  system.spawn([&stop](caf::event_based_actor* self) -> caf::behavior {
    self->send(self, again::value);
    return {basal::actors::adaptive(self,
                                    [&stop, self](again) {
                                      compute(100us);
                                      if (!stop.load(std::memory_order_relaxed))
                                        self->send(self, again::value);
                                    },
                                    {.name = "traveller", .hint = basal::mab::compute_hint::high})};
  });
}

void record_too_much(caf::actor_system&, const flag& stop) {
  basal::executors::recorder::stream("/dev/null");
  std::thread{[&stop] {
    while (!stop.load(std::memory_order_relaxed))
      basal::executors::recorder::add(basal::executors::record_kind::quantum_end);
    basal::executors::recorder::stop_stream();
  }}.detach();
}

void submit_too_much(caf::actor_system& system, const flag& stop) {
  namespace priority = basal::priority;
  auto& pool = priority::background_pool::build(
    basal::actors::runtime_of(system).compute(),
    {.max_queued = 1, .when_full = priority::full_policy::reject});
  std::thread{[&stop, &pool] {
    while (!stop.load(std::memory_order_relaxed)) {
      try {
        for (;;)
          pool.post({}, [] { compute(1ms); });
      } catch (const priority::queue_full&) {
        std::this_thread::sleep_for(1ms);
      }
    }
  }}.detach();
}

} // namespace

misbehaviour of(basal::actors::warning_kind kind) {
  using enum basal::actors::warning_kind;
  using config = basal::actor_system_config;
  switch (kind) {
  case long_handler:
    return {nullptr, handle_for_long};
  case blocked_executor:
    return {nullptr, block};
  case long_wait:
    return {nullptr, crowd};
  case growing_mailbox:
    return {nullptr, flood};
  case nothing_stolen:
    return {[](config& c) { c.set("basal.cabal-limit", 1); }, fork_alone};
  case memory_limit:
    return {[](config& c) { c.set("basal.memory-limit", 1 << 20); }, exceed_memory};
  case collection:
#ifdef MISBEHAVE_GC
    return {nullptr, collect};
#else
    return {};
#endif
  case dear_offload:
    return {[](config& c) {
              c.set("basal.mab-calibrate", false);
              c.set("basal.mab-offload-overhead-us", 0.01);
            },
            offload_dearly};
  case lost_records:
    return {nullptr, record_too_much};
  case refused_tasks:
    return {nullptr, submit_too_much};
  }
  return {};
}

} // namespace misbehave
