/// The work that the measured parts do, and the threads that offloads go to.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace basal::evaluation {

using clock = std::chrono::steady_clock;

/// Time since `start` in us.
double us_since(clock::time_point start);

/// CPU time of the calling thread in us.
double thread_cpu_us();

/// CPU time of all threads of this program in us.
double process_cpu_us();

/// Busy for `us` microseconds on the wall clock.
void spin_us(double us);

/// The loop of the source's benchmark, which calls 100 iterations a microsecond.
std::uint64_t iterate(std::uint64_t iterations);

/// The middle value; 0 without any.
double median(std::vector<double> xs);

/// The value below which a share p lies.
double percentile(std::vector<double> xs, double p);

/// A plain thread pool: one queue, a mutex and a condition variable. Stands for the
/// compute executors, which this module does not know; an offload to it costs what such
/// a pool costs. That of the real ones is measured in roundtrip.bench.cpp.
class compute_threads {
public:
  explicit compute_threads(int threads);

  /// Runs what is queued, then joins.
  ~compute_threads();

  void post(std::function<void()> task);

  /// Posts, and returns when the task has run.
  void run_and_wait(const std::function<void()>& task);

private:
  void loop();

  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

} // namespace basal::evaluation
