// Cost to a handler of running a function that does nothing elsewhere:
//
// busy    One trip after the other: the other side has nothing to do and has not gone to sleep yet.
// parked  A millisecond's pause before each trip: the other side sleeps and must be woken.
//
// basal           offload(): the handler's fiber waits, a compute executor runs the function
// adaptive        an adaptive handler that is always offloaded: the same, with a decision and its
//                 outcome
// caf_detached    stock CAF: a request to an actor on a thread of its own, from the request to the
//                 handler of the answer
// tbb             oneTBB: task_arena::enqueue, and a thread that waits for the result in
//                 std::atomic::wait. A thread: oneTBB has nothing that would suspend a handler
// bare            two threads that only look at two atomics on lines of their own: what the machine
//                 takes. Busy only
//
// All with one worker on either side, in turns, five rounds.

#include "bench/mab/samples.hpp"
#include "bench/support/bench.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/adaptive.hpp>
#include <basal/actors/detail/scheduler.hpp>
#include <basal/actors/offload.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

// Allocations of this program, counted while somebody wants to know. Relaxed: the threads whose
// allocations are meant have told each other of their ends before it is read.
std::atomic<bool> counts_allocations{false};
std::atomic<std::size_t> allocations{0};

void* allocate(std::size_t bytes) {
  if (counts_allocations.load(std::memory_order_relaxed))
    allocations.fetch_add(1, std::memory_order_relaxed);
  if (auto* p = std::malloc(bytes == 0 ? 1 : bytes))
    return p;
  throw std::bad_alloc{};
}

} // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes);
}
void* operator new[](std::size_t bytes) {
  return allocate(bytes);
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete[](void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  std::free(p);
}

namespace {

using namespace basal;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using mab::bench::samples;
using std::chrono::nanoseconds;

using go = caf::atom_constant<caf::atom("go")>;

struct shape {
  nanoseconds pause; ///< before each trip
  int trips;         ///< a round
};

constexpr int warm_up = 20; ///< trips of each round that are not counted

actor_system_config& one_and_one(actor_system_config& config) {
  config.set("basal.message-executors", std::size_t{1});
  config.set("basal.compute-executors", std::size_t{1});
  return config;
}

actors::adaptive_actor_config always_offload() {
  actors::adaptive_actor_config config;
  config.knobs.emplace().chosen_by = mab::policy::always_offload;
  return config;
}

/// Asks `whom` for one trip after the other; it answers with how long the trip took, in ns.
void ask_for_trips(caf::scoped_actor& self, const caf::actor& whom, shape s, samples& into) {
  for (int i = -warm_up; i < s.trips; ++i) {
    if (s.pause > 0ns)
      std::this_thread::sleep_for(s.pause);
    self->request(whom, caf::infinite, go::value)
      .receive(
        [&](std::int64_t ns) {
          if (i >= 0)
            into.add(nanoseconds{ns});
        },
        [](const caf::error&) { throw std::runtime_error("no answer"); });
  }
}

/// The round trip as a handler sees it. When busy, all in one message, or the request for the next
/// trip would be a pause.
template <class Trip>
void in_handler(shape s, samples& into, Trip make_trip) {
  actor_system_config config;
  caf::actor_system system{one_and_one(config)};
  caf::scoped_actor self{system};
  int runs = 0;
  auto worker = system.spawn([&](caf::event_based_actor* me) -> caf::behavior {
    auto trip = make_trip(me, runs);
    auto timed = [trip]() mutable {
      const auto start = clock_type::now();
      trip();
      return clock_type::now() - start;
    };
    return {[=](go) mutable { return static_cast<std::int64_t>(timed().count()); },
            [=, &into](int trips) mutable {
              for (int i = -warm_up; i < trips; ++i)
                if (const auto ns = timed(); i >= 0)
                  into.add(ns);
              return true;
            }};
  });
  if (s.pause > 0ns)
    ask_for_trips(self, worker, s, into);
  else
    self->request(worker, caf::infinite, s.trips)
      .receive([](bool) {}, [](const caf::error&) { throw std::runtime_error("no answer"); });
  if (runs != s.trips + warm_up)
    throw std::runtime_error("an offloaded function did not run");
}

void basal_trips(shape s, samples& into) {
  in_handler(s, into, [](caf::event_based_actor* me, int& runs) {
    return [me, &runs] { actors::offload(me, [&runs] { ++runs; }); };
  });
}

void adaptive_trips(shape s, samples& into) {
  in_handler(s, into, [](caf::event_based_actor* me, int& runs) {
    return actors::adaptive(
      me, [&runs] { ++runs; }, always_offload());
  });
}

/// CAF's actors are driven by messages, so the next trip begins where the answer to the last is
/// handled.
void caf_trips(shape s, samples& into) {
  caf::actor_system_config config;
  config.set("scheduler.max-threads", std::size_t{1});
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  auto detached
    = system.spawn<caf::detached>([]() -> caf::behavior { return {[](int x) { return x + 1; }}; });
  struct asker {
    static void trip(caf::event_based_actor* me, const caf::actor& there, int left,
                     caf::response_promise done, samples* into, int all) {
      const auto start = clock_type::now();
      me->request(there, caf::infinite, left).then([=](int) mutable {
        const auto taken = clock_type::now() - start;
        if (into == nullptr)
          return done.deliver(static_cast<std::int64_t>(taken.count()));
        if (left < all)
          into->add(taken);
        if (left == 0)
          return done.deliver(true);
        trip(me, there, left - 1, std::move(done), into, all);
      });
    }
  };
  auto worker = system.spawn([&](caf::event_based_actor* me) -> caf::behavior {
    return {[=](go) {
              auto done = me->make_response_promise();
              asker::trip(me, detached, 0, done, nullptr, 0);
              return done;
            },
            [=, &into](int trips) {
              auto done = me->make_response_promise();
              asker::trip(me, detached, trips + warm_up - 1, done, &into, trips);
              return done;
            }};
  });
  if (s.pause > 0ns)
    ask_for_trips(self, worker, s, into);
  else
    self->request(worker, caf::infinite, s.trips)
      .receive([](bool) {}, [](const caf::error&) { throw std::runtime_error("no answer"); });
}

void tbb_trips(shape s, samples& into) {
  tbb::global_control two{tbb::global_control::max_allowed_parallelism, 2};
  tbb::task_arena arena{1, 0}; // one worker, no place for the thread that asks
  for (int i = -warm_up; i < s.trips; ++i) {
    if (s.pause > 0ns)
      std::this_thread::sleep_for(s.pause);
    std::atomic<int> done{0};
    const auto start = clock_type::now();
    arena.enqueue([&] {
      done.store(1, std::memory_order_release);
      done.notify_one();
    });
    done.wait(0, std::memory_order_acquire);
    const auto taken = clock_type::now() - start;
    if (i >= 0)
      into.add(taken);
    // The worker may still be inside of notify_one().
    std::this_thread::sleep_for(s.pause > 0ns ? 1us : 0us);
  }
}

void bare_trips(shape s, samples& into) {
  struct alignas(64) line {
    std::atomic<int> value{0};

    void await(int x) const noexcept {
      for (int looks = 1; value.load(std::memory_order_acquire) != x; ++looks)
        if (looks % 1024 == 0) // the other one may wait for this CPU
          std::this_thread::yield();
    }
  };
  line there;
  line back;
  const int last = s.trips + warm_up;
  std::thread other{[&] {
    for (int i = 1; i <= last; ++i) {
      there.await(i);
      back.value.store(i, std::memory_order_release);
    }
  }};
  for (int i = 1; i <= last; ++i) {
    const auto start = clock_type::now();
    there.value.store(i, std::memory_order_release);
    back.await(i);
    const auto taken = clock_type::now() - start;
    if (i > warm_up)
      into.add(taken);
  }
  other.join();
}

using measure = void (*)(shape, samples&);

/// Each measured once, by the first figure that asks.
std::map<std::string, samples>& trips(bool parked, bool quick) {
  const auto run = [=] {
    const shape s{parked ? nanoseconds{1ms} : 0ns, parked ? (quick ? 100 : 400) : 5000};
    std::map<std::string, measure> all{{"basal", basal_trips},
                                       {"adaptive", adaptive_trips},
                                       {"caf_detached", caf_trips},
                                       {"tbb", tbb_trips}};
    if (!parked)
      all.emplace("bare", bare_trips);
    std::map<std::string, samples> result;
    for (int round = 0; round < 5; ++round)
      for (const auto& [name, sample_into] : all)
        sample_into(s, result[name]);
    for (auto& [name, x] : result)
      x.print(std::string{"offload_roundtrip/"} + (parked ? "parked/" : "busy/") + name);
    return result;
  };
  static std::map<bool, std::map<std::string, samples>> measured;
  auto& result = measured[parked];
  if (result.empty())
    result = run();
  return result;
}

/// Allocations of 10,000 offloads by an adaptive handler that has offloaded before.
double offload_allocations() {
  actor_system_config config;
  caf::actor_system system{one_and_one(config)};
  caf::scoped_actor self{system};
  const auto stacks = [&] {
    std::uint64_t sum = 0;
    auto* host = actors::scheduler::of(system);
    for (auto* pool : {&host->messages(), &host->compute().compute()})
      for (std::size_t i = 0; i < pool->size(); ++i)
        sum += pool->at(i).stats().fibers_created;
    return sum;
  };
  int runs = 0;
  auto worker = system.spawn([&](caf::event_based_actor* me) -> caf::behavior {
    return {[&, trip = actors::adaptive(
                  me, [&runs](int) { ++runs; }, always_offload())](int count) mutable {
      for (int i = 0; i < 1000; ++i)
        trip(i);
      const auto stacks_before = stacks();
      allocations.store(0);
      counts_allocations.store(true);
      for (int i = 0; i < count; ++i)
        trip(i);
      counts_allocations.store(false);
      return static_cast<std::int64_t>(allocations.load() + stacks() - stacks_before);
    }};
  });
  std::int64_t result = 0;
  self->request(worker, caf::infinite, 10'000)
    .receive([&](std::int64_t x) { result = x; },
             [](const caf::error&) { throw std::runtime_error("no answer"); });
  if (runs != 11'000)
    throw std::runtime_error("an offloaded handler did not run");
  return static_cast<double>(result);
}

const bench::suite roundtrip_suite{[](bench::plan& plan) {
  const bool quick = plan.quick();
  for (const bool parked : {false, true}) {
    const std::string suffix = parked ? "_parked" : "_busy";
    const auto p50
      = [=](const char* who) { return trips(parked, quick).at(who).percentile_us(50); };
    plan.measure("offload_roundtrip_us" + suffix, [=] { return p50("basal"); });
    plan.measure("adaptive_roundtrip_us" + suffix, [=] { return p50("adaptive"); });
    plan.measure("offload_vs_caf_detached" + suffix,
                 [=] { return p50("basal") / p50("caf_detached"); });
    plan.measure("offload_vs_tbb" + suffix, [=] { return p50("basal") / p50("tbb"); });
  }
  plan.measure("bare_roundtrip_us_busy",
               [=] { return trips(false, quick).at("bare").percentile_us(50); });
  plan.measure("offload_alloc", offload_allocations);
}};

} // namespace
