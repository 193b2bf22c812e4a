// dump() of executors that run, sleep or block, and of fibers that wait.

#include <basal/executors/completion.hpp>
#include <basal/executors/dump.hpp>
#include <basal/executors/executor_pool.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "begin_threads.hpp"
#include "closure_task.hpp"
#include "support/catch.hpp"

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

// ThreadSanitizer keeps a signal from its thread until that calls something that is intercepted,
// which an executor that sleeps does not.
#if defined(__SANITIZE_THREAD__)
constexpr bool sleepers_answer = false;
constexpr auto patience = 50ms;
constexpr int dumps = 20;
#else
constexpr bool sleepers_answer = true;
constexpr auto patience = 60s; // on a busy machine; the last answer ends it sooner
constexpr int dumps = 200;
#endif

std::string dump_of(executor_pool& pool) {
  const std::array pools{&pool};
  return dump(pools, patience);
}

void await(const std::atomic<int>& count, int value) {
  while (count.load() < value)
    std::this_thread::yield();
}

} // namespace

TEST_CASE("an executor that has nothing to do sleeps, or looks for work") {
  if (!sleepers_answer)
    return;
  executor_pool pool{{.name = "dmp.idle", .executors = 2}};
  begin_threads(pool);
  const auto text = dump_of(pool);
  CHECK_THAT(text, ContainsSubstring("dmp.idle0: looks for work, or sleeps\n"));
  CHECK_THAT(text, ContainsSubstring("dmp.idle1: looks for work, or sleeps\n"));
  pool.stop(stop_mode::drain);
}

TEST_CASE("an executor that is blocked in a system call answers, with its backtrace") {
  if (!sleepers_answer)
    return;
  std::atomic<int> begun{0};
  std::atomic<int> got{0};
  executor_pool pool{{.name = "dmp.block", .executors = 1}};
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  REQUIRE(pool.submit(task::make([&](executor&) {
    begun.fetch_add(1);
    char x = 0;
    got = static_cast<int>(read(ends[0], &x, 1)); // begun again after the signal
  })));
  await(begun, 1);
  const auto text = dump_of(pool);
  CHECK_THAT(text, ContainsSubstring("dmp.block0: runs a task\n"));
#if defined(__x86_64__)
  CHECK_THAT(text, ContainsSubstring("    #3  "));
#endif
  REQUIRE(write(ends[1], "x", 1) == 1);
  pool.stop(stop_mode::drain);
  CHECK(got == 1);
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("fibers that wait in the same place are told together, with their number and time") {
  if (!sleepers_answer)
    return;
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  executor_pool pool{{.name = "dmp.wait", .executors = 2}};
  constexpr int count = 20;
  std::vector<completion> events(count);
  for (auto& event : events)
    REQUIRE(pool.submit(task::make([&](executor&) {
      begun.fetch_add(1);
      event.wait();
      ended.fetch_add(1);
    })));
  await(begun, count);
  while (pool.at(0).stats().suspensions + pool.at(1).stats().suspensions < count)
    std::this_thread::yield();
  const auto text = dump_of(pool);
  CHECK_THAT(text, ContainsSubstring("20 fibers: a task, waits for an event, for "));
#if defined(__x86_64__)
  const auto at = text.find("20 fibers");
  CHECK(text.find("    #2  ", at) != std::string::npos);
#endif
  for (auto& event : events)
    event.set();
  await(ended, count);
  // The last task's fiber becomes a spare a moment later.
  while (dump_of(pool).find("waits for") != std::string::npos)
    std::this_thread::yield();
  pool.stop(stop_mode::drain);
}

TEST_CASE("a dump while fibers are suspended and go on all the time") {
  std::atomic<bool> stop{false};
  std::atomic<int> ended{0};
  executor_pool pool{{.name = "dmp.busy", .executors = 2}};
  for (int i = 0; i < 8; ++i)
    REQUIRE(pool.submit(task::make([&](executor& self) {
      while (!stop.load()) {
        self.yield();
        usleep(10);
      }
      ended.fetch_add(1);
    })));
  for (int i = 0; i < dumps; ++i) {
    const auto text = dump_of(pool);
    CHECK_THAT(text, ContainsSubstring("dmp.busy1: "));
    CHECK((!sleepers_answer || text.find("does not answer") == std::string::npos));
  }
  stop = true;
  pool.stop(stop_mode::drain);
  CHECK(ended == 8);
}

// Tasks that yield all the time: a signal often comes while the executor is between two stacks,
// where nothing can be told. One that is not sent again leaves the executor without an answer.
TEST_CASE("a signal that comes between two stacks is sent again") {
  if (!sleepers_answer)
    return;
  std::atomic<bool> stop{false};
  executor_pool pool{{.name = "dmp.switch", .executors = 1}};
  for (int i = 0; i < 2; ++i)
    REQUIRE(pool.submit(task::make([&](executor& self) {
      while (!stop.load())
        self.yield();
    })));
  while (pool.at(0).stats().suspensions < 1000)
    std::this_thread::yield();
  bool answers = true; // one that is missing is enough: each is waited for
  for (int i = 0; i < dumps && answers; ++i)
    answers = dump_of(pool).find("does not answer") == std::string::npos;
  stop = true;
  pool.stop(stop_mode::drain);
  CHECK(answers);
}

TEST_CASE("a pool that has stopped has no threads to ask") {
  executor_pool pool{{.name = "dmp.gone", .executors = 1}};
  pool.stop(stop_mode::drain);
  CHECK(dump_of(pool) == "dmp.gone0: has no thread yet, or none any more\n");
}
