// How long it takes to tell where everybody is, with 10,000 fibers that wait.

#include "bench/support/bench.hpp"

#include <basal/executors/dump.hpp>
#include <basal/executors/event.hpp>
#include <basal/executors/executor_pool.hpp>

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

double dump_ms() {
  using clock = std::chrono::steady_clock;
  executor_pool pool{{.name = "dumped", .executors = usable_cpus()}};
  event go;
  for (int i = 0; i < waiters; ++i)
    if (!pool.submit({&go, &waits}))
      throw std::runtime_error("the pool takes no work");
  const std::array pools{&pool};
  const auto expected = std::to_string(waiters) + " fibers: a task, waits for an event";
  while (dump(pools).find(expected) == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds{10}); // not all wait yet
  std::vector<double> ms;
  for (int i = 0; i < times; ++i) {
    const auto start = clock::now();
    const auto text = dump(pools);
    ms.push_back(std::chrono::duration<double, std::milli>{clock::now() - start}.count());
    if (text.find(expected) == std::string::npos)
      throw std::runtime_error("the dump does not have all fibers");
  }
  go.set();
  pool.stop(stop_mode::drain);
  std::nth_element(ms.begin(), ms.begin() + times / 2, ms.end());
  return ms[times / 2];
}

const bench::suite dump_suite{[](bench::plan& plan) { plan.measure("dump_ms", dump_ms); }};

} // namespace
