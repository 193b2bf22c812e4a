#include "bench/support/cache_line.hpp"

#include "bench/support/statistics.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <sched.h>
#include <thread>
#include <vector>

namespace basal::bench {

namespace {

/// The medians of several rounds: one in which a thread has lost its CPU does not count.
constexpr int rounds = 9;
constexpr int trips = 400; // of a round

std::vector<int> first_two_cpus() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  std::vector<int> found;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0)
    return found;
  for (int cpu = 0; cpu < CPU_SETSIZE && found.size() < 2; ++cpu)
    if (CPU_ISSET(cpu, &usable))
      found.push_back(cpu);
  return found;
}

void move_to(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one); // refused: two threads on one CPU, which shows
}

} // namespace

std::optional<double> cache_line_ns() {
  const auto cpus = first_two_cpus();
  if (cpus.size() < 2)
    return std::nullopt;
  // Odd: on its way to the second CPU. Release and acquire: there is nothing but the count itself,
  // which is what messages publish with.
  alignas(64) static std::atomic<int> ball{0};
  ball = 0;
  std::thread other{[&] {
    move_to(cpus[1]);
    for (int i = 0; i < rounds * trips; ++i) {
      while (ball.load(std::memory_order_acquire) != 2 * i + 1) {
      }
      ball.store(2 * i + 2, std::memory_order_release);
    }
  }};
  std::array<double, rounds> ns{};
  std::thread{[&] {
    move_to(cpus[0]);
    int trip = 0;
    for (auto& one : ns) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < trips; ++i, ++trip) {
        ball.store(2 * trip + 1, std::memory_order_release);
        while (ball.load(std::memory_order_acquire) != 2 * trip + 2) {
        }
      }
      one
        = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count()
          / trips;
    }
  }}.join();
  other.join();
  return median(ns);
}

} // namespace basal::bench
