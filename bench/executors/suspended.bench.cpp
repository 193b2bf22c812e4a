// Cost of handlers that all wait at once: each actor gets a message, and its handler waits for an
// event on its fiber. Measured while all wait:
//
// rss_per_suspended_fiber_kb         resident memory of each, beside the actor and its message
// page_table_per_suspended_fiber_kb  what the kernel takes to describe it
// suspended_million_s                10^6 of them: from the first message until all have ended
// rss_per_suspended_million_kb       and resident memory of each of these
//
// The first two are for 20,000, which is possible on every kernel. The last two need 14 GB and
// Linux 6.13, and are left out where that is not to be had, and of a quick run.

#include "bench/support/bench.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/executors/completion.hpp>
#include <basal/executors/detail/stack_pool.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <atomic>
#include <chrono>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace basal;

/// A line of /proc, in KiB.
double kilobytes(const char* file, const std::string& key) {
  std::ifstream in{file};
  for (std::string word; in >> word;)
    if (word == key) {
      double value = 0;
      in >> value;
      return value;
    }
  throw std::runtime_error(std::string{file} + " has no " + key);
}

struct memory {
  double resident = kilobytes("/proc/self/status", "VmRSS:");
  double page_table = kilobytes("/proc/self/status", "VmPTE:");
};

struct outcome {
  double resident_kb = 0;
  double page_table_kb = 0;
  double seconds = 0;
};

outcome suspend_all(std::size_t count) {
  using clock = std::chrono::steady_clock;
  actor_system_config config;
  caf::actor_system system{config};
  // An event has one waiter, so each actor has its own.
  std::vector<executors::completion> events(count);
  std::atomic<std::size_t> begun{0};
  std::atomic<std::size_t> ended{0};
  std::vector<caf::actor> actors;
  actors.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    actors.push_back(system.spawn<caf::lazy_init>([&]() -> caf::behavior {
      return {[&](std::size_t which) {
        begun.fetch_add(1, std::memory_order_relaxed);
        events[which].wait();
        ended.fetch_add(1, std::memory_order_relaxed);
      }};
    }));
  const memory before;
  const auto start = clock::now();
  for (std::size_t i = 0; i < count; ++i)
    caf::anon_send(actors[i], i);
  while (begun.load(std::memory_order_relaxed) < count)
    std::this_thread::yield();
  const memory during;
  for (auto& event : events)
    event.set();
  while (ended.load(std::memory_order_relaxed) < count)
    std::this_thread::yield();
  const std::chrono::duration<double> time = clock::now() - start;
  for (auto& one : actors)
    caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
  actors.clear();
  system.await_all_actors_done();
  const auto of_each = static_cast<double>(count);
  return {(during.resident - before.resident) / of_each,
          (during.page_table - before.page_table) / of_each, time.count()};
}

constexpr std::size_t some = 20'000;
constexpr std::size_t million = 1'000'000;

/// Of all of these at once, so that they are suspended once.
const outcome& of_some() {
  static const outcome result = suspend_all(some);
  return result;
}

const outcome& of_a_million() {
  static const outcome result = suspend_all(million);
  return result;
}

bool is_there_room_for_a_million() {
  executors::stack_pool stacks{executors::stack_pool::min_stack_bytes};
  stacks.acquire();
  return stacks.marks_guards() && kilobytes("/proc/meminfo", "MemAvailable:") > 14e6;
}

const bench::suite suspended_suite{[](bench::plan& plan) {
  plan.measure("rss_per_suspended_fiber_kb", [] { return of_some().resident_kb; });
  plan.measure("page_table_per_suspended_fiber_kb", [] { return of_some().page_table_kb; });
  if (plan.quick() || !is_there_room_for_a_million())
    return;
  plan.measure("suspended_million_s", [] { return of_a_million().seconds; });
  plan.measure("rss_per_suspended_million_kb", [] { return of_a_million().resident_kb; });
}};

} // namespace
