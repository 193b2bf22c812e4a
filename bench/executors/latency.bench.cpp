// From submit() on a plain thread to the first instruction of the task, on pools of two workers:
//
// wake      The pool is parked. Most of the time is the kernel's, to wake a thread on a CPU that
//           sleeps, too.
// injected  Both workers are saturated with tasks of 5 us that spawn themselves again. Shows
//           how soon a worker with enough of its own to do looks outside. A task that has not
//           started after 100 ms counts as 100 ms: some schedulers starve it for good.
//           `std::async` has no workers to saturate and is left out.
//
// The submitter sleeps between two samples, so it takes nobody's CPU. The pools
// take turns; one that is not measured does not exist.

#include "bench/support/bench.hpp"
#include "task_pools.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace basal;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr int num_workers = 2;
constexpr nanoseconds cut_off = 100ms;
constexpr int max_cut_off = 3; ///< in a round; then it ends

/// Remembers when it started to run.
class probe final : public bench::task {
public:
  void run() override {
    started_.store(clock_type::now().time_since_epoch().count(), std::memory_order_relaxed);
  }

  bool started() const {
    return started_.load(std::memory_order_relaxed) != 0;
  }

  nanoseconds since(clock_type::time_point submitted) const {
    return clock_type::time_point{clock_type::duration{started_.load(std::memory_order_relaxed)}}
           - submitted;
  }

private:
  std::atomic<std::int64_t> started_{0}; // the task writes it once; nothing else is published by it
};

/// 5 us of work, again and again until told to stop.
template <class Pool>
class busy_task final : public bench::task {
public:
  busy_task(Pool& pool, const std::atomic<bool>& stop, std::atomic<int>& alive)
    : pool_(pool), stop_(stop), alive_(alive) {
  }

  void run() override {
    const auto end = clock_type::now() + 5us;
    while (clock_type::now() < end) {
    }
    if (stop_.load(std::memory_order_relaxed))
      alive_.fetch_sub(1, std::memory_order_release); // pairs with the wait in ~load
    else
      pool_.spawn(*this);
  }

private:
  Pool& pool_;
  const std::atomic<bool>& stop_;
  std::atomic<int>& alive_;
};

/// Saturates a pool while it lives. 64 tasks for each worker: none runs dry when another steals.
template <class Pool>
class load {
public:
  explicit load(Pool& pool) {
    for (int i = 0; i < 64 * num_workers; ++i)
      pool.submit(tasks_.emplace_back(pool, stop_, alive_));
  }

  ~load() {
    stop_.store(true, std::memory_order_relaxed);
    while (alive_.load(std::memory_order_acquire) > 0)
      std::this_thread::sleep_for(1ms);
  }

private:
  std::atomic<bool> stop_{false};
  std::atomic<int> alive_{64 * num_workers};
  std::deque<busy_task<Pool>> tasks_;
};

using samples = std::vector<nanoseconds>;

/// Submits one probe after the other, a pause apart. Those that were cut off may run later.
template <class Pool>
void sample(Pool& pool, std::deque<probe>& probes, int count, samples& into) {
  constexpr nanoseconds pause = 1ms;
  int cut = 0;
  for (int i = 0; i < count && cut < max_cut_off; ++i) {
    std::this_thread::sleep_for(pause);
    auto& one = probes.emplace_back();
    const auto submitted = clock_type::now();
    pool.submit(one);
    do
      std::this_thread::sleep_for(pause);
    while (!one.started() && clock_type::now() - submitted < cut_off);
    if (one.started()) {
      into.push_back(one.since(submitted));
    } else {
      into.push_back(cut_off);
      ++cut;
    }
  }
}

void await_all(const std::deque<probe>& probes) {
  for (const auto& one : probes)
    while (!one.started())
      std::this_thread::sleep_for(1ms);
}

// Whatever a library does for the first tasks of a thread is not what is measured.
constexpr int warm_up = 5;

template <class Pool>
void sample_parked(int count, samples& into) {
  std::deque<probe> probes;
  Pool pool{num_workers};
  samples ignored;
  sample(pool, probes, warm_up, ignored);
  sample(pool, probes, count, into);
  await_all(probes);
}

template <class Pool>
void sample_saturated(int count, samples& into) {
  std::deque<probe> probes;
  Pool pool{num_workers};
  {
    load saturated{pool};
    samples ignored;
    sample(pool, probes, warm_up, ignored);
    sample(pool, probes, count, into);
  }
  await_all(probes);
}

/// Sorted latencies by the pool's name.
class latencies {
public:
  using sampler = void (*)(int count, samples& into);

  latencies(const char* title, const std::map<std::string, sampler>& pools, bool quick) {
    const int rounds = quick ? 3 : 9;
    const int count = quick ? 50 : 200;
    for (int round = 0; round < rounds; ++round)
      for (const auto& [name, sample_into] : pools)
        sample_into(count, sorted_[name]);
    for (auto& [name, all] : sorted_) {
      std::sort(all.begin(), all.end());
      std::cout << std::left << std::setw(9) << title << std::setw(10) << name << std::right
                << std::fixed << std::setprecision(1) << " p50 " << std::setw(8)
                << percentile_us(name, 50) << " us   p99 " << std::setw(8)
                << percentile_us(name, 99) << " us   of " << all.size() << '\n';
    }
  }

  double percentile_us(const std::string& name, std::size_t percent) const {
    const auto& all = sorted_.at(name);
    const auto index = std::min(all.size() - 1, all.size() * percent / 100);
    return std::chrono::duration<double, std::micro>{all[index]}.count();
  }

  double best_peer_us(std::size_t percent) const {
    auto best = std::numeric_limits<double>::infinity();
    for (const auto& [name, all] : sorted_)
      if (name != bench::basal_pool::name)
        best = std::min(best, percentile_us(name, percent));
    return best;
  }

private:
  std::map<std::string, samples> sorted_;
};

// Each measured once, by the first figure that asks.

const latencies& wake(bool quick) {
  static const latencies all{"wake",
                             {
                               {bench::basal_pool::name, sample_parked<bench::basal_pool>},
                               {bench::asio_pool::name, sample_parked<bench::asio_pool>},
                               {bench::tbb_pool::name, sample_parked<bench::tbb_pool>},
                               {bench::std_async::name, sample_parked<bench::std_async>},
                             },
                             quick};
  return all;
}

const latencies& injected(bool quick) {
  static const latencies all{"injected",
                             {
                               {bench::basal_pool::name, sample_saturated<bench::basal_pool>},
                               {bench::asio_pool::name, sample_saturated<bench::asio_pool>},
                               {bench::tbb_pool::name, sample_saturated<bench::tbb_pool>},
                             },
                             quick};
  return all;
}

const bench::suite latency_suite{[](bench::plan& plan) {
  const bool quick = plan.quick();
  const std::string ours = bench::basal_pool::name;
  plan.measure("wake_p50_us", [=] { return wake(quick).percentile_us(ours, 50); });
  plan.measure("wake_p50_us_best_peer", [=] { return wake(quick).best_peer_us(50); });
  plan.measure("wake_p99_us", [=] { return wake(quick).percentile_us(ours, 99); });
  plan.measure("wake_p99_us_best_peer", [=] { return wake(quick).best_peer_us(99); });
  plan.measure("injected_p99_ms", [=] { return injected(quick).percentile_us(ours, 99) / 1000; });
  plan.measure("injected_p99_ms_best_peer",
               [=] { return injected(quick).best_peer_us(99) / 1000; });
}};

} // namespace
