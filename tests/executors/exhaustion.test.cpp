// Behaviour when the kernel gives no more threads or memory. Each case runs in a child process,
// since a limit that has been lowered stays.

#include <basal/executors/executors.hpp>

#include "begin_threads.hpp"
#include "closure_task.hpp"
#include "recurring.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <malloc.h>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace basal::executors;

namespace {

// Sanitizers reserve terabytes of address space, which is what the limit is about.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool can_limit = false;
#else
constexpr bool can_limit = true;
#endif

void leave_room(std::size_t bytes) {
  std::size_t pages = 0;
  auto* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%zu", &pages) != 1)
    _exit(100);
  std::fclose(file);
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0)
    _exit(102);
  limit.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + bytes;
  if (setrlimit(RLIMIT_AS, &limit) != 0)
    _exit(101);
}

std::atomic<bool> backstop_is_refused{false};

// For a child whose pool begins before leave_room(), and its backstop after that.
void expect_refused_backstop() {
  set_report_sink([](report_level, std::string_view, std::string_view t) noexcept {
    if (t.starts_with("no thread that looks after long tasks"))
      backstop_is_refused = true;
  });
  mallopt(M_ARENA_MAX, 1); // the first thread's arena, amid leave_room(), gives room back
}

// The exit status of a child that runs `body`.
template <class Body>
int in_child(Body body) {
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0)
    _exit(body());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

} // namespace

TEST_CASE("a pool whose first thread is refused, or its stack, says so and leaves none behind") {
  if (!can_limit)
    return;
  // A thread's stack takes 8 MiB, a fiber's takes 32 MiB of addresses.
  for (auto room : {std::size_t{4} << 20, std::size_t{36} << 20})
    CHECK(in_child([room] {
            leave_room(room);
            try {
              executor_pool pool{{}};
            } catch (const std::system_error& refused) {
              return std::string{refused.what()}.empty() ? 1 : 0;
            }
            return 2;
          })
          == 0);
}

TEST_CASE("an executor whose thread is refused cannot be claimed") {
  if (!can_limit)
    return;
  CHECK(in_child([] {
          set_report_sink([](report_level, std::string_view, std::string_view) noexcept {});
          mallopt(M_ARENA_MAX, 1); // the first thread's arena, amid leave_room(), gives room back
          pool_config config;
          config.executors = 2;
          executor_pool pool{config};
          completion begun;
          if (!pool.submit(task::make([&](executor&) { begun.set(); })))
            return 2;
          begun.wait();
          leave_room(4 << 20); // a thread's stack takes 8 MiB
          return pool.is_idle(1) && !pool.claim_idle(1) && !pool.is_idle(1) ? 0 : 1;
        })
        == 0);
}

TEST_CASE("work waits for no CPU in a pool whose backstop is refused its thread") {
  if (!can_limit)
    return;
  CHECK(in_child([] {
          expect_refused_backstop();
          pool_config config;
          config.executors = 2;
          config.share_cpus = 1;
          executor_pool pool{config};
          rlimit before{};
          getrlimit(RLIMIT_AS, &before);
          leave_room(4 << 20);
          static std::atomic<bool> ran{false};
          bool ran_meanwhile = false;
          completion done;
          if (!pool.submit(task::make([&](executor& self) {
                while (!backstop_is_refused)
                  std::this_thread::yield();
                setrlimit(RLIMIT_AS, &before);
                self.push_back(task::make([](executor&) { ran = true; }));
                const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds{20};
                while (!ran && std::chrono::steady_clock::now() < patience)
                  std::this_thread::yield();
                ran_meanwhile = ran;
                done.set();
              })))
            return 2;
          done.wait();
          return ran_meanwhile ? 0 : 1;
        })
        == 0);
}

TEST_CASE("work goes around in a pool whose backstop is refused its thread") {
  if (!can_limit)
    return;
  // Nothing is known of these turns, which is a reason for a trial, in which work stays.
  CHECK(in_child([] {
          expect_refused_backstop();
          pool_config config;
          config.executors = 2;
          config.newest_ops = &recurring::ops;
          std::atomic<bool> has_stayed{false};
          std::atomic<int> at_work{2};
          executor_pool pool{config};
          rlimit before{};
          getrlimit(RLIMIT_AS, &before);
          leave_room(4 << 20);
          completion done;
          const auto turns_of = [&](recurring& actor) {
            return [&, left = 10'000](executor& self) mutable {
              static constexpr char kind = 0;
              const bool is_timed = self.is_turn_timed();
              const auto begun = is_timed ? self.begin_timed_turn(&kind) : 0;
              const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds{5};
              while (std::chrono::steady_clock::now() < until) {
              }
              if (is_timed)
                self.end_timed_turn(begun, 1);
              if (pool.work_stays())
                has_stayed = true;
              if (--left > 0)
                self.push_again(actor.item());
              else if (at_work.fetch_sub(1) == 1)
                done.set();
            };
          };
          recurring one;
          recurring other;
          one.body = turns_of(one);
          other.body = turns_of(other);
          if (!pool.submit(one.item()))
            return 2;
          while (!backstop_is_refused)
            std::this_thread::yield();
          setrlimit(RLIMIT_AS, &before); // for the other executor's thread
          if (!pool.submit(other.item()))
            return 2;
          done.wait();
          pool.stop(stop_mode::drain);
          return has_stayed ? 1 : 0;
        })
        == 0);
}

TEST_CASE("a pool that is refused a later thread warns, and its other executors do the work") {
  if (!can_limit)
    return;
  CHECK(in_child([] {
          static std::atomic<int> warnings{0};
          set_report_sink([](report_level level, std::string_view, std::string_view t) noexcept {
            if (level == report_level::warning && t.starts_with("no thread for executor \"basal"))
              ++warnings;
          });
          mallopt(M_ARENA_MAX, 1);
          pool_config config;
          config.executors = 200;
          std::atomic<int> ran{0};
          executor_pool pool{config};
          leave_room(200 << 20); // a fiber's and a thread's stack take 40 MiB of it
          constexpr int count = 1000;
          completion done;
          for (int i = 0; i < count; ++i)
            if (!pool.submit(task::make([&](executor&) {
                  std::this_thread::sleep_for(std::chrono::microseconds{100});
                  if (ran.fetch_add(1) + 1 == count)
                    done.set();
                })))
              return 1;
          done.wait();
          std::size_t begun = 0;
          for (std::size_t i = 0; i < pool.size(); ++i) {
            begun += pool.at(i).stats().tasks_run > 0 ? 1 : 0;
            if (pool.claim_idle(i)) { // what is claimed has a thread
              completion here;
              inbox_node letter{nullptr, task::make([&](executor&) { here.set(); })};
              pool.deliver_claimed(pool.at(i), letter);
              here.wait();
            }
          }
          if (pool.any_idle() && pool.num_runnable() > begun)
            return 2; // it takes executors without threads for awake
          pool.stop(stop_mode::drain);
          return warnings == 1 && begun < 10 ? 0 : 3;
        })
        == 0);
}

TEST_CASE("work that gets no stack to wait on keeps its thread, and nothing is lost") {
  if (!can_limit)
    return;
  CHECK(in_child([] {
          // A thread's own arena takes 64 MiB, all that is left if it comes amid leave_room().
          mallopt(M_ARENA_MAX, 1);
          pool_config config;
          config.executors = 1;
          std::atomic<int> ended{0};
          executor_pool pool{config};
          begin_threads(pool);
          leave_room(std::size_t{1280} << 20); // a fiber takes 32 MiB of addresses
          constexpr int count = 200;
          std::vector<completion> events(count);
          for (auto& event : events)
            if (!pool.submit(task::make([&](executor&) {
                  event.wait();
                  ended.fetch_add(1);
                })))
              return 1;
          while (pool.at(0).stats().tasks_run < 30) // until it has no more stacks
            std::this_thread::yield();
          for (auto& event : events)
            event.set();
          pool.stop(stop_mode::drain);
          return ended.load() == count && pool.at(0).stats().suspensions < count ? 0 : 2;
        })
        == 0);
}
