#include <basal/executors/executors.hpp>

#include "closure_task.hpp"
#include "support/catch.hpp"
#include "support/in_child.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

using namespace basal::executors;
using basal::test::in_child;

namespace {

using guard_kind = stack_pool::guard_kind;

constexpr std::size_t mib = 1024 * 1024;

std::size_t mappings() {
  std::ifstream maps{"/proc/self/maps"};
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    ++count;
  return count;
}

// Bytes of [low, high) that are in memory.
std::size_t resident(const std::byte* low, const std::byte* high) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto first = reinterpret_cast<std::uintptr_t>(low) / page * page;
  auto bytes = reinterpret_cast<std::uintptr_t>(high) - first;
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  REQUIRE(mincore(reinterpret_cast<void*>(first), bytes, pages.data()) == 0);
  std::size_t count = 0;
  for (auto p : pages)
    count += p & 1;
  return count * page;
}

std::size_t resident(const stack& s) {
  return resident(s.floor, s.top());
}

void touch(std::byte* low, std::byte* high) {
  for (auto* p = low; p < high; p += 4096)
    *static_cast<volatile std::byte*>(p) = std::byte{1};
}

[[gnu::noinline]] void use_stack(std::size_t bytes) {
  volatile char frame[4096];
  frame[0] = 1;
  if (bytes > sizeof frame)
    use_stack(bytes - sizeof frame);
  asm volatile("" : : "r"(frame) : "memory"); // the frame is there until the calls have returned
}

// Runs `body` as a task and returns when it has ended.
void run_on(executor_pool& pool, std::function<void(executor&)> body) {
  completion ended;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    body(self);
    ended.set();
  })));
  ended.wait();
}

} // namespace

TEST_CASE("a stack has what was promised, a margin below it, and a guard below that") {
  for (auto kind : {guard_kind::best, guard_kind::protected_}) {
    stack_pool stacks{8 * mib, kind};
    auto a = stacks.acquire();
    auto b = stacks.acquire();
    CHECK(a.bytes == 8 * mib);
    CHECK(static_cast<std::size_t>(a.base - a.floor) >= stack_pool::least_margin_bytes);
    a.floor[0] = b.floor[0] = a.top()[-1] = b.top()[-1] = std::byte{1};
    CHECK((b.floor >= a.top() + stack_pool::guard_bytes
           || a.floor >= b.top() + stack_pool::guard_bytes));
    stacks.release(a);
    CHECK(stacks.acquire().floor == a.floor);
    CHECK(stacks.mapped() == 2);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE(
  "both ends of the guard fault, however it is made, also after the stack was used before") {
  for (auto kind : {guard_kind::best, guard_kind::protected_})
    for (auto below : {std::size_t{1}, stack_pool::guard_bytes})
      for (bool used : {false, true}) {
        auto [said, signal] = in_child([&] {
          stack_pool stacks{64 * 1024, kind};
          auto s = stacks.acquire();
          stacks.acquire().top()[-1] = std::byte{1}; // a neighbour
          if (used) {
            touch(s.floor, s.top());
            stacks.release(s);
            s = stacks.acquire();
          }
          *static_cast<volatile std::byte*>(s.floor - below) = std::byte{1};
        });
        CHECK(signal == SIGSEGV);
      }
}
#endif

TEST_CASE("marked guards split no mapping") {
  stack_pool stacks{8 * mib};
  stacks.acquire();
  if (!stacks.marks_guards()) {
    WARN("this kernel cannot mark guards");
    return;
  }
  auto before = mappings();
  for (int i = 0; i < 1000; ++i)
    stacks.acquire();
  CHECK(mappings() < before + 50); // two for each chunk; not two for each stack
}

TEST_CASE("memory of a stack goes back with it, or in part") {
  stack_pool stacks{8 * mib};
  auto s = stacks.acquire();
  touch(s.floor, s.top());
  CHECK(resident(s) >= 31 * mib);
  stack_pool::give_back_below(s, s.top() - 16 * 1024);
  CHECK(resident(s) == 16 * 1024);
  CHECK(s.top()[-4096] == std::byte{1});
  CHECK(s.floor[0] == std::byte{0});
  touch(s.floor, s.top());
  stacks.release(s);
  CHECK(resident(s) == 0);
}

TEST_CASE("the first page of a stack and the guard of the next share a page of the page table") {
  stack_pool stacks{8 * mib};
  auto a = stacks.acquire();
  auto b = stacks.acquire();
  auto table = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p) >> 21; };
  CHECK(table(a.top() - 1) == table(b.floor - stack_pool::guard_bytes));
  CHECK(table(b.floor - stack_pool::guard_bytes) == table(b.floor - 1));
}

TEST_CASE("an executor gives back deep stacks before it sleeps") {
  pool_config config;
  executor_pool pool{config};
  stack running;
  run_on(pool, [&](executor& self) {
    running = self.running().memory();
    use_stack(4 * mib);
    CHECK(resident(running) >= 4 * mib);
  });
  // Soon; if never, the test's time-out tells.
  while (resident(running) > 2 * spare_fibers::kept_bytes)
    std::this_thread::yield();
}

TEST_CASE("beyond the warm ones, a stack that is left gives its memory back at once") {
  pool_config config;
  std::atomic<std::size_t> begun{0};
  std::atomic<std::size_t> ended{0};
  executor_pool pool{config};
  constexpr std::size_t count = spare_fibers::max_warm + 20;
  std::vector<stack> stacks(count);
  std::vector<fiber*> waiting(count);
  completion all_ended;
  for (std::size_t i = 0; i < count; ++i)
    REQUIRE(pool.submit(task::make([&, i](executor& self) {
      stacks[i] = self.running().memory();
      use_stack(mib);
      static_cast<void>(self.suspend([&](fiber& f) noexcept {
        waiting[i] = &f;
        if (begun.fetch_add(1) + 1 == count)
          for (auto* one : waiting)
            executor::wake(*one);
      }));
      if (ended.fetch_add(1) + 1 != count)
        return;
      // The last one, in a row of resumptions without sleep: all but itself are spares.
      std::size_t deep = 0;
      for (const auto& s : stacks)
        deep += resident(s) >= mib;
      CHECK(deep <= spare_fibers::max_warm + 1);
      CHECK(deep > 0);
      all_ended.set();
    })));
  all_ended.wait();
  pool.stop(stop_mode::drain);
}

TEST_CASE("an executor keeps a thousand spare stacks, and gives the rest away") {
#if defined(__SANITIZE_THREAD__)
  return; // takes milliseconds to make each fiber
#endif
  pool_config config;
  executor_pool pool{config};
  constexpr std::size_t count = spare_fibers::max_spares + 500;
  constexpr std::size_t rounds = 3;
  const auto& self = pool.at(0);
  for (std::size_t round = 1; round <= rounds; ++round) {
    std::vector<completion> events(count);
    std::atomic<std::size_t> ended{0};
    for (auto& event : events)
      REQUIRE(pool.submit(task::make([&](executor&) {
        event.wait();
        ended.fetch_add(1);
      })));
    while (self.stats().suspensions < round * count)
      std::this_thread::yield();
    for (auto& event : events)
      event.set();
    while (ended.load() < count)
      std::this_thread::yield();
  }
  CHECK(self.stats().fibers_created >= count + (rounds - 1) * 400); // some were destroyed
  CHECK(pool.stacks().mapped() <= count + 2);                       // and their stacks used again
  pool.stop(stop_mode::drain);
}
