// More fibers at once than the kernel gives a process memory mappings.

#include <basal/executors/executors.hpp>

#include "closure_task.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace basal::executors;

namespace {

#if defined(__SANITIZE_THREAD__) // takes milliseconds to make a fiber
constexpr std::size_t with_marks = 500;
constexpr std::size_t without_marks = 200;
#elif defined(__SANITIZE_ADDRESS__) // takes 12 KiB more for each
constexpr std::size_t with_marks = 50'000;
constexpr std::size_t without_marks = 10'000;
#else
constexpr std::size_t with_marks = 200'000; // 1.8 GB, half of it page table
constexpr std::size_t without_marks = 20'000;
#endif

double available_gb() {
  std::ifstream in{"/proc/meminfo"};
  for (std::string word; in >> word;)
    if (word == "MemAvailable:") {
      double kilobytes = 0;
      in >> kilobytes;
      return kilobytes / 1e6;
    }
  return 0;
}

// Every task waits for an event of its own, until all wait.
void suspend_at_once(executor_pool& pool, std::size_t count) {
  std::vector<completion> events(count);
  std::atomic<std::size_t> ended{0};
  std::atomic<std::size_t> begun{0};
  for (auto& event : events)
    REQUIRE(pool.submit(task::make([&](executor&) {
      begun.fetch_add(1);
      event.wait();
      ended.fetch_add(1);
    })));
  while (begun.load() < count)
    std::this_thread::yield();
  CHECK(ended.load() == 0);
  for (auto& event : events)
    event.set();
  while (ended.load() < count)
    std::this_thread::yield();
}

} // namespace

TEST_CASE("200,000 fibers wait at once where the kernel can mark guards") {
  pool_config config;
  config.executors = 2;
  executor_pool pool{config};
  if (!pool.stacks().marks_guards() || available_gb() < 3) {
    WARN("needs Linux 6.13 and 3 GB");
    return;
  }
  suspend_at_once(pool, with_marks);
  // All of them had stacks; else some would have waited on their executor's thread.
  CHECK(pool.stacks().mapped() >= with_marks);
  suspend_at_once(pool, with_marks / 10); // on stacks that were given back
  CHECK(pool.stacks().mapped() < with_marks + 10);
  pool.stop(stop_mode::drain);
}

TEST_CASE("20,000 fibers wait at once on every kernel") {
  pool_config config;
  config.executors = 2;
  config.simulate.protected_guards = true;
  executor_pool pool{config};
  suspend_at_once(pool, without_marks);
  CHECK_FALSE(pool.stacks().marks_guards());
  CHECK(pool.stacks().mapped() >= without_marks);
  pool.stop(stop_mode::drain);
}
