// How long it takes to tell where everybody is, with 10,000 fibers that wait: in tasks, and in
// computations.

#include "bench/support/bench.hpp"

#include <basal/executors/dump.hpp>
#include <basal/executors/event.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/posse/dump.hpp>
#include <basal/posse/runtime.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace basal;
using namespace basal::executors;

namespace {

constexpr int waiters = 10'000;
constexpr int times = 11;

const work_ops waits{
  [](void* e, executor&) noexcept { static_cast<event*>(e)->wait(); },
  [](void*) noexcept {},
};

/// Median time of a dump, in ms, once all wait: then it has `expected`.
template <class Dump>
double median_ms(Dump dump, const std::string& expected) {
  using clock = std::chrono::steady_clock;
  while (dump().find(expected) == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds{10}); // not all wait yet
  std::vector<double> ms;
  for (int i = 0; i < times; ++i) {
    const auto start = clock::now();
    const auto text = dump();
    ms.push_back(std::chrono::duration<double, std::milli>{clock::now() - start}.count());
    if (text.find(expected) == std::string::npos)
      throw std::runtime_error("the dump does not have all fibers");
  }
  std::nth_element(ms.begin(), ms.begin() + times / 2, ms.end());
  return ms[times / 2];
}

double dump_ms() {
  executor_pool pool{{.name = "dumped", .executors = usable_cpus()}};
  event go;
  for (int i = 0; i < waiters; ++i)
    if (!pool.submit({&go, &waits}))
      throw std::runtime_error("the pool takes no work");
  const std::array pools{&pool};
  const auto result = median_ms([&] { return dump(pools); },
                                std::to_string(waiters) + " fibers: a task, waits for an event");
  go.set();
  pool.stop(stop_mode::drain);
  return result;
}

struct waiting_computation {
  posse::runtime& host;
  event go;
};

const work_ops computes{
  [](void* object, executor&) noexcept {
    auto& of = *static_cast<waiting_computation*>(object);
    of.host.run([&](posse::member&) { of.go.wait(); });
  },
  [](void*) noexcept {},
};

double dump_computations_ms() {
  posse::runtime host;
  waiting_computation of{.host = host, .go = {}};
  for (int i = 0; i < waiters; ++i)
    if (!host.compute().submit({&of, &computes}))
      throw std::runtime_error("the pool takes no work");
  const std::array pools{&host.compute()};
  const auto result
    = median_ms([&] { return posse::dump(pools); },
                std::to_string(waiters) + " of a computation without delegates, wait for an event");
  of.go.set();
  host.stop(stop_mode::drain);
  return result;
}

const bench::suite dump_suite{[](bench::plan& plan) {
  plan.measure("dump_ms", dump_ms);
  plan.measure("dump_computations_ms", dump_computations_ms);
}};

} // namespace
