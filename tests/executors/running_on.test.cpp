// Executors that look for work leave the CPU to one of the process that is to run on it, and those
// that are woken by an executor that goes on wake up on another CPU than its.

#include <basal/executors/completion.hpp>
#include <basal/executors/detail/running_on.hpp>
#include <basal/executors/executor_pool.hpp>

#include "begin_threads.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <sched.h>
#include <thread>

using namespace basal::executors;

TEST_CASE("an executor counts where it was last seen to run, and nowhere once it has left") {
  auto census = std::make_unique<cpu_census>();
  {
    running_on first{*census};
    running_on second{*census};
    CHECK_FALSE(census->anybody_on(3));
    first.be_on(3);
    second.be_on(3);
    CHECK(census->anybody_on(3));
    first.be_on(3); // still
    first.be_on(5);
    CHECK(census->anybody_on(3));
    CHECK(census->anybody_on(5));
    second.leave();
    second.leave();
    CHECK_FALSE(census->anybody_on(3));
  }
  CHECK_FALSE(census->anybody_on(5));
}

TEST_CASE("CPUs beyond the last are counted, too") {
  auto census = std::make_unique<cpu_census>();
  running_on one{*census};
  one.be_on(cpu_census::max_cpus + 7);
  CHECK(census->anybody_on(cpu_census::max_cpus + 7));
}

namespace {

std::atomic<bool> all_on_one{false};

/// A pool whose executors would look for an hour, on what seems to be a CPU of its own for each, or
/// the same for all.
pool_config looking_for_long() {
  pool_config config;
  config.executors = 2;
  config.spin = std::chrono::nanoseconds{10};
  config.simulate.ticks = []() noexcept -> std::uint64_t {
    thread_local std::uint64_t time = 1; // so no look is far from the one before
    return ++time;
  };
  config.simulate.cpu = []() noexcept -> unsigned {
    static std::atomic<unsigned> threads{0};
    thread_local const unsigned own = 100 + threads++;
    return all_on_one ? 99 : own;
  };
  config.hooks.lingers = [](void*, executor&) noexcept { return std::uint64_t{1} << 60; };
  return config;
}

/// Lets the calling thread run where it is now, and nowhere else.
bool stay_here() noexcept {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
  return sched_setaffinity(0, sizeof one, &one) == 0;
}

/// Runs until it is told to end, on executor 0.
struct long_task {
  explicit long_task(executor_pool& pool) {
    while (!pool.claim_idle(0))
      std::this_thread::yield();
    pool.deliver_claimed(pool.at(0), node);
    begun.wait();
  }

  ~long_task() {
    end = true;
    ended.wait();
  }

  completion begun;
  std::atomic<bool> end{false};
  std::atomic<void (*)(executor&)> wakes{nullptr}; ///< to be called once
  completion ended;
  inbox_node node{nullptr, {this, &ops}};

  static void run(void* object, executor&) noexcept;
  static constexpr work_ops ops{&run, nullptr};
};

void long_task::run(void* object, executor& on) noexcept {
  auto& self = *static_cast<long_task*>(object);
  self.begun.set();
  while (!self.end) {
    if (auto* wake = self.wakes.exchange(nullptr))
      wake(on);
    std::this_thread::yield();
  }
  self.ended.set();
}

/// Notes where its executor's thread may run.
struct affinity {
  cpu_set_t seen{};
  std::atomic<bool> ran{false};
  inbox_node node{nullptr, {this, &ops}};

  static void run(void* object, executor&) noexcept;
  static constexpr work_ops ops{&run, nullptr};
};

void affinity::run(void* object, executor&) noexcept {
  auto& self = *static_cast<affinity*>(object);
  sched_getaffinity(0, sizeof self.seen, &self.seen);
  self.ran = true;
}

} // namespace

TEST_CASE("who looks for work on the CPU of an executor that runs sleeps, and else looks on") {
  if (usable_cpus() < 2)
    return; // nobody looks on one CPU
  all_on_one = true;
  executor_pool pool{looking_for_long()};
  const long_task task{pool};
  pool.rouse();
  // It goes back to sleep, although it would look for long.
  while (pool.at(1).stats().times_parked < 1 || pool.any_looking())
    std::this_thread::yield();
  all_on_one = false;
  pool.rouse();
  while (pool.at(1).stats().times_parked < 2)
    std::this_thread::yield();
  for (int i = 0; i < 1000; ++i)
    std::this_thread::yield();
  CHECK(pool.any_looking());
}

TEST_CASE("who has nothing to do and is in another's way sleeps without a look") {
  if (usable_cpus() < 2)
    return;
  auto config = looking_for_long();
  config.spin = std::chrono::seconds{1}; // each look at the clock takes a tick
  all_on_one = true;
  executor_pool pool{config};
  {
    const long_task task{pool};
    pool.rouse();
    while (pool.at(1).stats().times_parked < 1 || pool.any_looking())
      std::this_thread::yield();
  }
  all_on_one = false;
  CHECK(pool.at(1).stats().looking_ns < 1'000'000);
}

namespace {

std::atomic<bool> holds_back{false};
thread_local bool is_test = false;

} // namespace

TEST_CASE("who is being woken counts as running where it went to sleep") {
  is_test = true;
  pool_config config;
  config.executors = 1;
  config.simulate.cpu = []() noexcept -> unsigned { return 98; };
  config.simulate.ticks = []() noexcept -> std::uint64_t {
    while (!is_test && holds_back) // whoever has slept asks for the time before all else
      std::this_thread::yield();
    thread_local std::uint64_t time = 1;
    return ++time;
  };
  executor_pool pool{config};
  const auto wait_until_asleep = [&] {
    while (pool.num_idle() == 0 || pool.any_looking())
      std::this_thread::yield();
  };
  {
    const long_task first{pool}; // so that it has a thread
    CHECK(running_executors.anybody_on(98));
  }
  wait_until_asleep();
  CHECK_FALSE(running_executors.anybody_on(98));
  affinity noted;
  holds_back = true;
  REQUIRE(pool.claim_idle(0));
  pool.deliver_claimed(pool.at(0), noted.node);
  CHECK(running_executors.anybody_on(98));
  holds_back = false;
  while (!noted.ran)
    std::this_thread::yield();
  wait_until_asleep();
  CHECK_FALSE(running_executors.anybody_on(98));
}

namespace {

constexpr unsigned nowhere = ~0U;
std::atomic<unsigned> kept_on{nowhere}; ///< by simulation::keep
std::atomic<std::int32_t> kept_thread{0};
std::atomic<bool> counts_there{false};

/// Executor 0 runs a task; executor 1 has gone to sleep in the kernel, in its way.
struct crowded_pool {
  explicit crowded_pool(pool_config config) : pool(with_simulation(config)) {
    all_on_one = false;
    begin_threads(pool);
    all_on_one = true;
    task.emplace(pool);
    wait_until_asleep();
    kept_on = nowhere;
    counts_there = false;
  }

  ~crowded_pool() {
    task.reset();
    all_on_one = false;
  }

  static pool_config with_simulation(pool_config config) {
    config.simulate.keep = [](std::int32_t thread, unsigned cpu) noexcept {
      counts_there = running_executors.anybody_on(cpu);
      kept_thread = thread;
      kept_on = cpu;
      return false;
    };
    return config;
  }

  void wait_until_asleep() const {
    while (pool.num_idle() == 0 || pool.any_looking())
      std::this_thread::yield();
  }

  /// Wakes executor 1 by `how` on executor 0, or here, and waits until it sleeps again.
  void wake(void (*how)(executor&)) {
    const auto before = pool.at(1).stats().times_parked;
    if (how != nullptr)
      task->wakes = how;
    else
      pool.rouse();
    while (pool.at(1).stats().times_parked == before)
      std::this_thread::yield();
    wait_until_asleep();
  }

  executor_pool pool;
  std::optional<long_task> task;
};

void rouse(executor& on) {
  on.pool().rouse();
}

void rouse_in_a_computation(executor& on) {
  on.attentive().store(true);
  on.pool().rouse();
  on.attentive().store(false);
}

constexpr work_ops no_work{[](void*, executor&) noexcept {}, nullptr};
int nothing = 0;

/// As far as the executor knows, it may take long.
void add_work(executor& on) {
  on.push_back({&nothing, &no_work});
}

/// Likewise, to this executor alone.
void address_work(executor& on) {
  static inbox_node node{nullptr, {&nothing, &no_work}};
  on.push_pinned(node);
  on.pool().rouse();
}

} // namespace

TEST_CASE("who is woken by an executor that goes on wakes up where no executor runs") {
  if (usable_cpus() < 2)
    return;
  auto config = looking_for_long();
  config.keep_apart = GENERATE(true, false);
  auto* wake = GENERATE(as<void (*)(executor&)>{}, nullptr, &rouse, &rouse_in_a_computation,
                        &add_work, &address_work);
  const bool goes_on = wake != nullptr && wake != &rouse;
  crowded_pool crowded{config};
  crowded.wake(wake);
  CHECK((kept_on != nowhere) == (config.keep_apart && goes_on));
  if (kept_on == nowhere)
    return;
  CHECK(kept_on != 99);
  CHECK(counts_there); // so that nobody else is sent there, too
  CHECK(kept_thread == crowded.pool.at(1).thread());
  // It is not there, in this test: so it no longer counts there.
  CHECK_FALSE(running_executors.anybody_on(kept_on));
}

TEST_CASE("who has little left to do leaves its CPU to whom it wakes") {
  if (usable_cpus() < 2)
    return;
  static std::atomic<bool> has_cpu{true};
  auto config = looking_for_long();
  config.keep_apart = true;
  config.hooks.has_cpu = [](void*) noexcept { return has_cpu.load(); };
  // An item is expected to take 50 us, and after each tick whose items took no time 0.9 times as
  // long: two that wait are much for a while. There were two or three ticks before.
  const int ticks = GENERATE(0, 6, 20);
  const bool two = GENERATE(false, true);
  const auto keeps = [&] {
    crowded_pool crowded{config};
    crowded.task.reset();
    for (int i = 0; i < ticks; ++i)
      const long_task brief{crowded.pool};
    crowded.task.emplace(crowded.pool);
    crowded.wait_until_asleep();
    crowded.wake(two ? [](executor& on) {
      has_cpu = false; // for the first one alone, nobody is woken
      add_work(on);
      has_cpu = true;
      add_work(on);
    } : &add_work);
    return kept_on != nowhere;
  };
  if (ticks == 0 || (two && ticks == 6)) {
    while (!keeps()) {
      // Again: executor 0 had so little of a CPU that it seemed to be blocked.
    }
  } else {
    CHECK_FALSE(keeps());
  }
}

TEST_CASE("an executor whose thread may run on one CPU alone is woken there") {
  if (usable_cpus() < 2)
    return;
  std::thread([] {
    REQUIRE(stay_here()); // its pool's threads inherit it
    auto config = looking_for_long();
    config.keep_apart = true;
    crowded_pool crowded{config};
    crowded.wake(&rouse_in_a_computation);
    CHECK(kept_on == nowhere);
  }).join();
}

namespace {

executor_pool* sleeping = nullptr;
affinity* sent = nullptr;

} // namespace

TEST_CASE("an executor that has woken up may run where it could before") {
  pool_config config;
  config.executors = 1;
  config.keep_apart = true;
  executor_pool woken{config};
  config.keep_apart = false;
  executor_pool waking{config};
  long_task task{waking};
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  for (int i = 0; i < 20; ++i) { // its first sleep is another one than the later ones
    while (woken.num_idle() == 0 || woken.any_looking())
      std::this_thread::yield();
    affinity noted;
    sleeping = &woken;
    sent = &noted;
    task.wakes = [](executor& on) {
      on.attentive().store(true);
      if (sleeping->claim_idle(0))
        sleeping->deliver_claimed(sleeping->at(0), sent->node);
      on.attentive().store(false);
    };
    while (!noted.ran)
      std::this_thread::yield();
    CHECK(CPU_EQUAL(&noted.seen, &all));
  }
}

TEST_CASE("an executor's thread begins where no executor runs, nor the thread that makes it") {
  if (usable_cpus() < 2)
    return;
  auto config = looking_for_long();
  config.keep_apart = GENERATE(true, false);
  all_on_one = true; // here is CPU 99
  kept_on = nowhere;
  {
    executor_pool pool{crowded_pool::with_simulation(config)};
    CHECK((kept_on != nowhere) == config.keep_apart);
    CHECK(kept_on != 99);
  }
  CHECK_FALSE(running_executors.anybody_on(99)); // the maker counted for as long as it made it
  all_on_one = false;
}

TEST_CASE("an executor's thread does not begin behind the one that makes it") {
  if (usable_cpus() < 2)
    return;
  pool_config config;
  config.executors = 1;
  config.keep_apart = true;
  config = crowded_pool::with_simulation(config);
  for (;;) {
    kept_on = nowhere;
    const auto here = static_cast<unsigned>(sched_getcpu());
    const executor_pool pool{config};
    if (here != static_cast<unsigned>(sched_getcpu()))
      continue; // moved by the kernel, perhaps before
    REQUIRE(kept_on != nowhere);
    CHECK(kept_on != here);
    break;
  }
}

namespace {

std::atomic<unsigned> maker_on{50};
std::atomic<int> cpus_at_start{0};

} // namespace

TEST_CASE("an executor's thread does not begin where an executor runs that makes it") {
  if (usable_cpus() < 2)
    return;
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  unsigned first = 0;
  while (!CPU_ISSET(first, &all))
    ++first;
  pool_config config;
  config.executors = 2;
  config.keep_apart = true;
  config.simulate.cpu = []() noexcept -> unsigned { return maker_on; };
  maker_on = 50;
  executor_pool pool{crowded_pool::with_simulation(config)};
  {
    long_task task{pool};
    kept_on = nowhere;
    maker_on = first; // the kernel has moved it, in the middle of its task
    task.wakes = &rouse;
    while (kept_on == nowhere)
      std::this_thread::yield();
  }
  CHECK(kept_on != first);
}

TEST_CASE("an executor's thread may run on all CPUs once it has begun, and may choose then") {
  pool_config config;
  config.executors = 1;
  config.keep_apart = true;
  const bool chooses = GENERATE(false, true);
  config.hooks.thread_starts = [](void*, executor&) noexcept {
    cpu_set_t cpus;
    cpus_at_start = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : -1;
  };
  if (chooses)
    config.hooks.thread_starts
      = [](void*, executor&) noexcept { cpus_at_start = stay_here() ? 1 : -1; };
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  const auto expected = chooses ? 1 : CPU_COUNT(&all);
  executor_pool pool{config};
  while (!pool.claim_idle(0))
    std::this_thread::yield();
  affinity noted;
  pool.deliver_claimed(pool.at(0), noted.node);
  while (!noted.ran)
    std::this_thread::yield();
  CHECK(cpus_at_start == expected);
  CHECK(CPU_COUNT(&noted.seen) == expected);
}
