// How long interactive tasks wait while the executors are saturated with batch work: first come,
// first served against priorities, in turn, on the same executors, pool and load.

#include "bench/support/bench.hpp"

#include <basal/executors/executor_pool.hpp>
#include <basal/priority/background_pool.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace basal;
using clock_type = std::chrono::steady_clock;

namespace {

void spin_for(std::chrono::microseconds time) {
  const auto end = clock_type::now() + time;
  while (clock_type::now() < end) {
  }
}

/// @returns the 99th percentile of the interactive tasks' waits, in ms
double p99_wait_ms(bool first_come_first_served, int interactive_tasks) {
  constexpr std::size_t batch_waiting = 1000;
  constexpr std::chrono::microseconds batch_time{100};
  executors::pool_config config;
  config.executors = 1; // the submitters need a CPU, too
  executors::executor_pool executors{config};
  // With one level and nothing but the enqueue time, the key is the order of submission.
  auto& pool = priority::background_pool::build(
    executors, {.order = {.runtime = first_come_first_served ? 0.0 : 1.0}, .max_queued = 2048});
  const auto batch = first_come_first_served ? priority::level::normal : priority::level::batch;
  const auto urgent
    = first_come_first_served ? priority::level::normal : priority::level::interactive;

  std::vector<double> waits;
  auto refill = [&] {
    while (pool.queued() < batch_waiting)
      pool.post({batch, priority::task_key{"batch"}}, [=] { spin_for(batch_time); });
  };
  for (int i = 0; i < interactive_tasks; ++i) {
    refill();
    const auto submitted = clock_type::now();
    auto task = pool.submit({urgent, priority::task_key{"interactive"}},
                            [=] { return clock_type::now() - submitted; });
    // The load goes on while it waits.
    while (!task.wait_for(std::chrono::milliseconds{5}))
      refill();
    waits.push_back(std::chrono::duration<double, std::milli>(task.get()).count());
  }
  if (!pool.shutdown(executors::stop_mode::discard, std::chrono::seconds{10}).complete)
    throw std::runtime_error("the pool did not shut down");
  std::sort(waits.begin(), waits.end());
  return waits[waits.size() * 99 / 100];
}

double p99_ratio(bool quick) {
  // First come, first served takes 100 ms a task, so there are fewer of them.
  std::vector<double> ratios;
  for (int round = 0; round < 5; ++round) {
    const double ours = p99_wait_ms(false, quick ? 300 : 1000);
    const double fifo = p99_wait_ms(true, quick ? 5 : 20);
    ratios.push_back(fifo / ours);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios[ratios.size() / 2];
}

const bench::suite interactive_suite{[](bench::plan& plan) {
  const bool quick = plan.quick();
  plan.measure("interactive_p99_ms", [=] { return p99_wait_ms(false, quick ? 300 : 1000); });
  plan.measure("interactive_p99_ratio", [=] { return p99_ratio(quick); });
}};

} // namespace
