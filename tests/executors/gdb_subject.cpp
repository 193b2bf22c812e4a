// The program under gdb_script.sh: two fibers that wait.

#include <basal/executors/completion.hpp>
#include <basal/executors/executor_pool.hpp>

#include "begin_threads.hpp"
#include "closure_task.hpp"

#include <atomic>
#include <cstdlib>
#include <thread>

using namespace basal::executors;

namespace {

completion events[2];

[[gnu::noinline]] int waits_in_the_depth(int depth, completion& event) {
  if (depth == 0) {
    event.wait();
    return 0;
  }
  int below = waits_in_the_depth(depth - 1, event);
  asm volatile("" : "+r"(below)); // so that it does not become a loop
  return below + 1;
}

} // namespace

/// gdb stops here.
extern "C" [[gnu::noinline, gnu::used]] void everybody_waits() {
  asm volatile("" ::: "memory");
}

/// With an argument it aborts, and leaves a core, in place of going on.
int main(int count, char**) {
  pool_config config;
  config.name = "subject";
  config.executors = 2;
  std::atomic<int> done{0};
  executor_pool pool{config};
  begin_threads(pool);
  config.name = "unborn";
  const executor_pool unborn{config};
  auto body = [&](completion& event) {
    return [&](executor&) {
      if (waits_in_the_depth(3, event) != 3)
        std::abort();
      done.fetch_add(1, std::memory_order_release);
    };
  };
  for (auto& event : events)
    if (!pool.submit(task::make(body(event))))
      return 1;
  while (pool.at(0).stats().suspensions + pool.at(1).stats().suspensions < 2 || !pool.is_idle(0)
         || !pool.is_idle(1)) // they count before they leave a fiber
    std::this_thread::yield();
  everybody_waits();
  if (count > 1)
    std::abort();
  for (auto& event : events)
    event.set();
  while (done.load(std::memory_order_acquire) < 2)
    std::this_thread::yield();
}
