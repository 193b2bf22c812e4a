#include "bench/evaluation/work.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <ctime>

namespace basal::evaluation {

double us_since(clock::time_point start) {
  return std::chrono::duration<double, std::micro>(clock::now() - start).count();
}

namespace {

double read_us(clockid_t which) {
  timespec now{};
  clock_gettime(which, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

} // namespace

double thread_cpu_us() {
  return read_us(CLOCK_THREAD_CPUTIME_ID);
}

double process_cpu_us() {
  return read_us(CLOCK_PROCESS_CPUTIME_ID);
}

void spin_us(double us) {
  const auto start = clock::now();
  while (us_since(start) < us) {
  }
}

std::uint64_t iterate(std::uint64_t iterations) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    benchmark::DoNotOptimize(i);
    sum += i;
  }
  return sum;
}

double median(std::vector<double> xs) {
  return percentile(std::move(xs), 0.5);
}

double percentile(std::vector<double> xs, double p) {
  if (xs.empty())
    return 0;
  const auto at
    = xs.begin() + static_cast<std::ptrdiff_t>(p * static_cast<double>(xs.size() - 1) + 0.5);
  std::nth_element(xs.begin(), at, xs.end());
  return *at;
}

compute_threads::compute_threads(int threads) {
  for (int i = 0; i < threads; ++i)
    threads_.emplace_back([this] { loop(); });
}

compute_threads::~compute_threads() {
  {
    const std::lock_guard guard{mutex_};
    stopping_ = true;
  }
  posted_.notify_all();
  for (auto& t : threads_)
    t.join();
}

void compute_threads::post(std::function<void()> task) {
  {
    const std::lock_guard guard{mutex_};
    queue_.push_back(std::move(task));
  }
  posted_.notify_one();
}

void compute_threads::run_and_wait(const std::function<void()>& task) {
  // The flag outlives notify_one(), since this thread waits under the lock.
  std::mutex mutex;
  std::condition_variable done;
  bool ran = false;
  post([&] {
    task();
    const std::lock_guard guard{mutex};
    ran = true;
    done.notify_one();
  });
  std::unique_lock guard{mutex};
  done.wait(guard, [&] { return ran; });
}

void compute_threads::loop() {
  std::unique_lock guard{mutex_};
  for (;;) {
    posted_.wait(guard, [&] { return stopping_ || !queue_.empty(); });
    if (queue_.empty())
      return;
    auto task = std::move(queue_.front());
    queue_.pop_front();
    guard.unlock();
    task();
    guard.lock();
  }
}

} // namespace basal::evaluation
