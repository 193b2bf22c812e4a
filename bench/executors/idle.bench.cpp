// Idle means idle: with everything started and after some work, the threads of
// basal must not wake up at all. Counted by the kernel: the voluntary context
// switches of each thread whose name begins with "basal", over ten seconds.
//
// idle_cpu_ms_per_s is what a program pays that computes now and then, a millisecond in ten: the
// CPU time of those threads, per second, beyond that of the computation without basal. It is what
// idle executors spend looking for work, and what it costs to divide the computation.

#include "bench/posse/fib.hpp"
#include "bench/support/bench.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/posse/posse.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace basal;

caf::behavior worker(caf::event_based_actor* self) {
  return {[self](int n) { return static_cast<int>(bench::pure_fib(self, n)); }};
}

struct switches {
  long voluntary = 0;
  int threads = 0;
};

switches basal_threads() {
  switches sum;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream status{task.path() / "status"};
    std::string line;
    bool ours = false;
    while (std::getline(status, line)) {
      if (line.starts_with("Name:\t"))
        ours = line.starts_with("Name:\tbasal");
      else if (ours && line.starts_with("voluntary_ctxt_switches:\t")) {
        sum.voluntary += std::stol(line.substr(line.find('\t') + 1));
        ++sum.threads;
      }
    }
  }
  return sum;
}

double idle_wakeups() {
  actor_system_config config;
  caf::actor_system system{config};
  auto someone = system.spawn(worker);
  caf::scoped_actor self{system};
  self->request(someone, caf::infinite, 27)
    .receive(
      [](int result) {
        if (result != 196418)
          throw std::runtime_error("wrong answer: fib(27) is " + std::to_string(result));
      },
      [](const caf::error&) { throw std::runtime_error("the worker did not answer"); });
  // A timer that is pending, and whose time does not come.
  self->delayed_send(someone, std::chrono::hours{1}, 1);
  std::this_thread::sleep_for(std::chrono::seconds{1});
  auto before = basal_threads();
  std::this_thread::sleep_for(std::chrono::seconds{10});
  auto after = basal_threads();
  if (after.threads < 4)
    throw std::runtime_error("found only " + std::to_string(after.threads)
                             + " threads named basal*");
  self->send_exit(someone, caf::exit_reason::user_shutdown);
  return static_cast<double>(after.voluntary - before.voluntary);
}

/// CPU time of the threads of basal so far.
double basal_cpu_ms() {
  double ns = 0;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::string name;
    std::getline(std::ifstream{task.path() / "comm"}, name);
    double ran = 0;
    if (name.starts_with("basal") && std::ifstream{task.path() / "schedstat"} >> ran)
      ns += ran;
  }
  return ns / 1e6;
}

double thread_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

long plain_fib(int n) {
  return n < 2 ? n : plain_fib(n - 1) + plain_fib(n - 2);
}

double idle_cpu_ms_per_s() {
  constexpr int n = 26; // about a millisecond
  constexpr long result = 121'393;
  posse::runtime runtime;
  double computing = 0;
  const auto before = basal_cpu_ms();
  auto due = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) {
    const auto start = thread_cpu_ms();
    if (plain_fib(bench::opaque(n)) != result)
      throw std::runtime_error("plain_fib is wrong");
    computing += thread_cpu_ms() - start;
    due += std::chrono::milliseconds{10};
    std::this_thread::sleep_until(due);
    if (runtime.run([](posse::member& m) { return bench::fib(m, n); }) != result)
      throw std::runtime_error("fib is wrong");
  }
  return basal_cpu_ms() - before - computing;
}

const bench::suite idle_suite{[](bench::plan& plan) {
  plan.measure("idle_wakeups", idle_wakeups);
  plan.measure("idle_cpu_ms_per_s", idle_cpu_ms_per_s);
}};

} // namespace
