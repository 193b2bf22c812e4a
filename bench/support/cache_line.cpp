#include "bench/support/cache_line.hpp"

#include "bench/support/cpus.hpp"
#include "bench/support/statistics.hpp"

#include <atomic>
#include <chrono>
#include <sched.h>
#include <thread>
#include <vector>

namespace basal::bench {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// The median of several rounds: one in which a thread has lost its CPU does not count.
constexpr int rounds = 9;
constexpr int trips = 400; // of a round

/// Rounds end sooner where threads lose their CPU again and again.
constexpr auto patience = 200ms;

constexpr int over = -1;

void move_to(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one); // refused: the kernel finds a CPU for each thread
}

/// Waits while the ball is with the other side.
int await(const std::atomic<int>& ball, int here) {
  for (;;)
    if (const int seen = ball.load(std::memory_order_acquire); seen == here || seen == over)
      return seen;
}

} // namespace

std::optional<double> cache_line_ns() {
  if (usable_cpus().size() < 2)
    return std::nullopt;
  // 0: here, 1: there. Orderings as where a message is published; there is none.
  alignas(64) static std::atomic<int> ball{0};
  ball = 0;
  std::thread there{[] {
    move_to(usable_cpus()[1]);
    while (await(ball, 1) != over)
      ball.store(0, std::memory_order_release);
  }};
  std::vector<double> ns;
  std::thread{[&] {
    move_to(usable_cpus()[0]);
    const auto begun = clock::now();
    while (ns.size() < rounds && (ns.empty() || clock::now() - begun < patience)) {
      const auto start = clock::now();
      for (int i = 0; i < trips; ++i) {
        ball.store(1, std::memory_order_release);
        await(ball, 0);
      }
      ns.push_back(std::chrono::duration<double, std::nano>(clock::now() - start).count() / trips);
    }
    ball.store(over, std::memory_order_release);
  }}.join();
  there.join();
  return median(ns);
}

} // namespace basal::bench
