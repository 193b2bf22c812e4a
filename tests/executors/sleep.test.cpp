// On the way to sleep and out of it: what comes at the worst moment is found, and who is woken for
// what. The worst moment is behind an executor's last look at its queues and before it enters the
// idle set: whoever adds work then finds nobody to wake.

#include "begin_threads.hpp"
#include "even_clock.hpp"
#include "recurring.hpp"
#include "stepped_pool.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <tuple>
#include <unistd.h>

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

/// A pool whose executor 0 is about to sleep when something comes from another thread.
struct worst_moment {
  explicit worst_moment(std::size_t executors = 1) : pool{stepped(executors)} {
    source = &static_cast<pieces&>(pool.adopt_background(std::make_unique<pieces>()));
  }

  /// Lets `action` happen. Whether executor 0 then ran something, without having slept.
  bool runs_what_comes_with(std::function<void()> action) {
    source->at_next_take = [&] { on_another_thread(action); };
    return pool.step(0) && pool.at(0).stats().times_parked == 0;
  }

  executor_pool pool;
  pieces* source = nullptr;
};

/// Holds the executor that is `barred` when it has found nothing, until the door is opened.
class door : public background_source {
public:
  std::atomic<executor*> barred{nullptr};
  std::atomic<bool> somebody_waits{false};

  work_item take(executor& self) noexcept override {
    if (barred.load() == &self) {
      somebody_waits.store(true);
      while (barred.load() == &self)
        std::this_thread::yield();
    }
    return {};
  }

  bool empty() const noexcept override {
    return true;
  }

  void close() noexcept override {
  }

  void abandon() noexcept override {
  }
};

/// All asleep.
void settle(executor_pool& pool) {
  pool.run_until_idle();
  REQUIRE(pool.num_runnable() == 0);
}

void submit_to(executor_pool& pool) {
  if (!pool.submit(nothing_special()))
    throw std::logic_error("the pool was stopped");
}

/// Calls of an executor's hooks.
struct hook_log {
  std::atomic<int> idle{0};
  std::atomic<int> lingers{0};
  std::atomic<long> thread{0};
  std::function<void(executor&)> when_idle;

  void listen_to(pool_config& config) {
    config.hooks.context = this;
    config.hooks.thread_starts = [](void* self, executor&) noexcept {
      static_cast<hook_log*>(self)->thread.store(syscall(SYS_gettid));
    };
    config.hooks.goes_idle = [](void* self, executor& e) noexcept {
      auto& log = *static_cast<hook_log*>(self);
      ++log.idle;
      if (log.when_idle)
        log.when_idle(e);
    };
    config.hooks.lingers = [](void* self, executor&) noexcept -> std::uint64_t {
      ++static_cast<hook_log*>(self)->lingers;
      return 0;
    };
  }

  /// Whether the thread sleeps in the kernel.
  bool thread_sleeps() const {
    std::ifstream file{"/proc/self/task/" + std::to_string(thread.load()) + "/stat"};
    std::string text;
    std::getline(file, text);
    auto name_end = text.rfind(')');
    return name_end != std::string::npos && text.substr(name_end + 2, 1) == "S";
  }
};

/// Sends `rounds` items to a pool of one thread, each when that sleeps in the kernel.
void wake_from_kernel(const pool_config& config, const hook_log& log, int rounds,
                      std::function<void(executor_pool&)> check) {
  executor_pool pool{config};
  begin_threads(pool);
  for (int i = 1; i <= rounds; ++i) {
    while (pool.at(0).stats().times_parked < static_cast<std::uint64_t>(i) || !log.thread_sleeps())
      std::this_thread::yield();
    completion done;
    REQUIRE(pool.submit(task::make([&](executor&) { done.set(); })));
    done.wait();
  }
  check(pool);
}

} // namespace

// -- the worst moment ---------------------------------------------------------

TEST_CASE("what comes from outside at the worst moment runs at once") {
  worst_moment m;
  CHECK(m.runs_what_comes_with([&] { submit_to(m.pool); }));
}

TEST_CASE("what is addressed to an executor at the worst moment runs at once") {
  worst_moment m;
  inbox_node letter{nullptr, nothing_special()};
  CHECK(m.runs_what_comes_with([&] { m.pool.at(0).deliver(letter); }));
}

TEST_CASE("background work that comes at the worst moment runs at once") {
  worst_moment m;
  CHECK(m.runs_what_comes_with(
    [&] { m.pool.add_background([&] { return m.source->add(nothing_special()); }); }));
}

TEST_CASE("what comes while an executor searches is left to it, beside one that sleeps") {
  worst_moment m{2};
  CHECK_FALSE(m.pool.step(1));
  CHECK(m.pool.any_idle());
  CHECK(m.runs_what_comes_with([&] { submit_to(m.pool); }));
  CHECK(num_awake(m.pool) == 1); // executor 1 was left alone
}

// The sibling pushes while the other one still counts as searching, so it wakes nobody.
TEST_CASE("what a sibling pushes at the worst moment is taken from it") {
  pool_config config;
  config.name = "test";
  config.executors = 2;
  std::atomic<executor*> ran_on{nullptr};
  executor_pool pool{config};
  begin_threads(pool);
  auto& exit = static_cast<door&>(pool.adopt_background(std::make_unique<door>()));
  inbox_node letter{nullptr, nothing_special()};
  executor* pushed_on = nullptr;
  completion done;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    pushed_on = &self;
    auto& other = pool.at(1 - self.index());
    exit.barred.store(&other);
    other.deliver(letter); // wakes it
    while (!exit.somebody_waits.load())
      std::this_thread::yield();
    const auto parked = other.stats().times_parked;
    self.push_back(task::make([&](executor& e) { ran_on.store(&e); }));
    exit.barred.store(nullptr);
    // It either takes the item or sleeps beside it.
    while (ran_on.load() == nullptr && other.stats().times_parked == parked)
      std::this_thread::yield();
    done.set();
  })));
  done.wait();
  pool.stop(stop_mode::drain);
  CHECK(ran_on.load() != nullptr);
  CHECK(ran_on.load() != pushed_on);
}

// -- who is woken -------------------------------------------------------------

TEST_CASE("an executor that has gone to sleep searches no more") {
  for (std::size_t executors : {1, 2, 3}) {
    executor_pool pool{stepped(executors)};
    settle(pool);
    for (int i = 0; i < 3; ++i) {
      submit_to(pool);
      CHECK(pool.run_until_idle() == 1);
    }
  }
}

TEST_CASE("one executor is woken for much work from outside; it wakes the next one") {
  executor_pool pool{stepped(3)};
  settle(pool);
  submit_to(pool);
  submit_to(pool);
  CHECK(pool.num_runnable() == 2 + 1);
  CHECK(pool.step(0));
  CHECK(pool.num_runnable() == 1 + 2);
  CHECK(pool.step(1));
  CHECK(pool.num_runnable() == 0 + 2); // nothing is left, so nobody else
}

TEST_CASE("a thief that leaves something behind wakes the next one") {
  executor_pool pool{stepped(3)};
  settle(pool);
  REQUIRE(pool.submit(task::make([](executor& self) {
    for (int i = 0; i < 3; ++i)
      self.push_back(nothing_special());
  })));
  CHECK(pool.step(0));
  CHECK(pool.num_runnable() == 3 + 2); // the first push has woken executor 1
  CHECK(pool.step(1));                 // takes two, runs one
  CHECK(pool.num_runnable() == 2 + 3);
  CHECK(pool.step(2));
  CHECK(pool.run_until_idle() == 1);
}

TEST_CASE("a push into the ring wakes a sleeper, one into the newest-first slot does not") {
  auto config = stepped(2);
  config.newest_ops = &task::ops;
  executor_pool pool{config};
  settle(pool);
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_newest(nothing_special());
    CHECK(pool.any_idle());
    self.push_newest(nothing_special()); // the older one goes to the ring
    CHECK_FALSE(pool.any_idle());
  })));
  CHECK(pool.step(0));
  CHECK(pool.step(1));
  CHECK(pool.at(1).stats().tasks_stolen == 1);
  CHECK(pool.run_until_idle() == 1);
}

TEST_CASE("an item that wants another turn wakes a sleeper only if something else waits, too") {
  auto config = stepped(2);
  config.newest_ops = &task::ops;
  executor_pool pool{config};
  settle(pool);
  const auto ends_with_another_turn = [&](std::function<void(executor&)> before) {
    settle(pool);
    REQUIRE(pool.submit(task::make([&, before](executor& self) {
      before(self);
      self.push_again(nothing_special());
    })));
    REQUIRE(num_awake(pool) == 1);
    CHECK(pool.step(0));
    return num_awake(pool);
  };
  CHECK(ends_with_another_turn([](executor&) {}) == 1);
  CHECK(ends_with_another_turn([](executor& self) { self.push_newest(nothing_special()); }) == 2);
  inbox_node letter{nullptr, nothing_special()};
  CHECK(ends_with_another_turn([&](executor& self) { self.push_pinned(letter); }) == 2);
  auto& source = static_cast<pieces&>(pool.adopt_background(std::make_unique<pieces>()));
  CHECK(ends_with_another_turn([&](executor&) { source.add(nothing_special()); }) == 2);
  CHECK(pool.run_until_idle() > 0);
}

TEST_CASE("an executor comes out of sleep for what is addressed to it, and for nothing else") {
  executor_pool pool{stepped(2)};
  settle(pool);
  inbox_node letter{nullptr, nothing_special()};
  pool.at(1).deliver(letter);
  CHECK(num_awake(pool) == 1);
  CHECK_FALSE(pool.step(0));
  CHECK(pool.step(1));
  CHECK(pool.at(1).stats().deliveries == 1);
}

TEST_CASE("background work wakes an executor") {
  executor_pool pool{stepped(2)};
  auto& source = static_cast<pieces&>(pool.adopt_background(std::make_unique<pieces>()));
  settle(pool);
  CHECK(pool.add_background([&] { return source.add(nothing_special()); }));
  CHECK(pool.run_until_idle() == 1);
}

// -- hooks --------------------------------------------------------------------

TEST_CASE("an executor says that it is idle each time before it sleeps, and looks once more") {
  auto config = stepped(1);
  hook_log log;
  log.listen_to(config);
  executor_pool pool{config};
  auto& source = static_cast<pieces&>(pool.adopt_background(std::make_unique<pieces>()));
  bool was_in_idle_set = false;
  int ran = 0;
  log.when_idle = [&](executor&) {
    was_in_idle_set = pool.any_idle();
    if (log.idle == 1) // without waking anybody
      source.add(task::make([&](executor&) { ++ran; }));
  };
  pool.run_until_idle();
  CHECK(was_in_idle_set);
  CHECK(ran == 1);
  CHECK(log.idle == 2);
  CHECK(pool.at(0).stats().times_parked == 1);
  submit_to(pool);
  pool.run_until_idle();
  CHECK(log.idle == 3);
  CHECK(log.lingers == 0); // each time the wake-up was there before it would have slept
}

TEST_CASE("wake-ups in the kernel are counted, and asked about first, once each") {
  pool_config config;
  hook_log log;
  log.listen_to(config);
  basal::test::use_even_clock(config); // an executor that loses the CPU is not asked
  wake_from_kernel(config, log, 3, [&](executor_pool& pool) {
    CHECK(pool.at(0).stats().wake_ups == 3);
    CHECK(pool.at(0).stats().spin_wake_ups == 0);
    if (usable_cpus() > 1)
      CHECK(log.lingers >= 3); // and perhaps for the sleep that comes now
  });
}

TEST_CASE("wake-ups of an executor that has not reached the kernel are counted by themselves") {
  executor_pool pool{stepped(1)}; // its sleeper never enters the kernel
  pool.run_until_idle();
  for (std::uint64_t i = 1; i <= 3; ++i) {
    submit_to(pool);
    pool.run_until_idle();
    const auto s = pool.at(0).stats();
    CHECK(s.spin_wake_ups == i);
    CHECK(s.wake_ups == 0);
    CHECK(s.times_parked == i + 1);
  }
}

namespace {

/// The time that executors have looked, by their own clocks; ticks.
std::atomic<std::uint64_t> looked{0};
thread_local bool is_looking = true;

/// Runs items of 400 us by a clock of their own, one after the other, while another executor looks
/// for a wake-up, and the others of the pool sleep. Behind the last item another one is the newest:
/// whether that runs before the other executor has looked for another 30 us, by the time of those
/// that look, since either of them may wait for a CPU meanwhile.
bool is_seen_behind_long_items(std::size_t executors) {
  pool_config config;
  config.executors = executors;
  config.spin = 100ms; // the other executor does not sleep
  config.steal_after = 100us;
  config.newest_ops = &recurring::ops;
  config.simulate.move = 1us;
  config.simulate.ticks = []() noexcept -> std::uint64_t {
    constexpr std::uint64_t look = 1000; // some 0.4 us, whoever else has the CPU meanwhile
    if (is_looking)
      looked.fetch_add(look);
    thread_local std::uint64_t time = 1;
    return time += look;
  };
  config.simulate.cpu = []() noexcept -> unsigned {
    static std::atomic<unsigned> cpus{0};
    thread_local const unsigned own = cpus++ % 64; // nobody is in another one's way
    return own;
  };
  std::atomic<std::uint64_t> pushed_at{0};
  std::atomic<std::uint64_t> seen_at{0};
  executor_pool pool{config};
  begin_threads(pool, 2);
  recurring waiting{[&](executor&) { seen_at.store(looked.load()); }};
  recurring* next = nullptr;
  constexpr int enough = 10; // for what they take to be known
  int left = enough;
  const executor* runner = nullptr;
  recurring item{[&](executor& self) {
    is_looking = false;
    if (std::exchange(runner, &self) != &self)
      left = enough; // the other one has taken it
    for (int i = 0; i < 1000; ++i)
      std::ignore = self.now(); // computes
    const bool is_last = --left == 0;
    if (is_last) {
      pushed_at.store(looked.load());
      self.push_newest(waiting.item());
      const auto end = looked.load() + tick_clock::to_ticks(10ms);
      const auto patience = std::chrono::steady_clock::now() + 5s; // the other one may sleep
      while (seen_at.load() == 0 && looked.load() < end
             && std::chrono::steady_clock::now() < patience)
        std::this_thread::yield();
    }
    self.look(self.now());
    is_looking = true;
    if (!is_last)
      self.push_newest(next->item());
  }};
  next = &item;
  REQUIRE(pool.submit(item.item()));
  while (seen_at.load() == 0)
    std::this_thread::yield();
  pool.stop(stop_mode::drain);
  return seen_at.load() - pushed_at.load() < tick_clock::to_ticks(30us);
}

/// The same twice in three times: where an executor waits for a CPU for long, the backstop moves
/// what waits in the slot.
bool is_mostly_seen_behind_long_items(std::size_t executors) {
  int seen = 0;
  for (int i = 0; i < 3; ++i)
    seen += is_seen_behind_long_items(executors) ? 1 : 0;
  return seen >= 2;
}

} // namespace

TEST_CASE("an executor that looks for a wake-up takes the newest item behind long ones") {
  if (usable_cpus() < 2)
    return; // nobody looks
  CHECK(is_mostly_seen_behind_long_items(2));
}

TEST_CASE("an executor that looks for a wake-up sees slots of those that run, however many sleep") {
  if (usable_cpus() < 2)
    return; // nobody looks
  CHECK(is_mostly_seen_behind_long_items(1000));
}

TEST_CASE("an executor that is roused finds nothing and looks before it sleeps again") {
  pool_config config;
  hook_log log;
  log.listen_to(config);
  executor_pool pool{config};
  auto sleeps_again = [&](std::uint64_t times) {
    while (pool.at(0).stats().times_parked < times || pool.any_looking() || !log.thread_sleeps())
      std::this_thread::yield();
  };
  begin_threads(pool);
  sleeps_again(1);
  CHECK(pool.any_idle());
  CHECK_FALSE(pool.is_looking(0));
  pool.rouse();
  sleeps_again(2);
  CHECK(pool.at(0).stats().tasks_run == 1); // the one that it began with
}

TEST_CASE("nobody is roused beside an executor that looks already") {
  executor_pool pool{stepped(2)}; // its sleepers never enter the kernel
  settle(pool);
  CHECK(pool.is_looking(0));
  pool.rouse();
  CHECK(num_awake(pool) == 0);
}

TEST_CASE("an executor that does not spin is not asked how long it lingers") {
  pool_config config;
  config.spin = std::chrono::nanoseconds{0};
  hook_log log;
  log.listen_to(config);
  wake_from_kernel(config, log, 2, [&](executor_pool& pool) {
    CHECK(pool.at(0).stats().wake_ups == 2);
    CHECK(log.lingers == 0);
  });
}

TEST_CASE("an executor looks for as long as waits have lately been, while it may") {
  if (usable_cpus() == 1)
    return; // where executors sleep at once
  struct answers : hook_log {
    bool first = false; ///< before a look
    bool later = false;
    int asked = 0;
  };
  auto mean_look = [](bool first, bool later) {
    pool_config config;
    basal::test::use_even_clock(config); // by which every wait ends as soon as it sleeps
    config.look_worth = 100us;
    config.looks_per_run = 1000;
    answers log;
    log.first = first;
    log.later = later;
    log.listen_to(config); // lingers: looks that find nothing go on
    config.hooks.lingers = [](void* self, executor&) noexcept -> std::uint64_t {
      static_cast<answers*>(static_cast<hook_log*>(self))->asked = 0;
      return 0;
    };
    config.hooks.may_look = [](void* self, const executor&) noexcept {
      auto& mine = *static_cast<answers*>(static_cast<hook_log*>(self));
      return mine.asked++ == 0 ? mine.first : mine.later;
    };
    std::uint64_t ns = 0;
    wake_from_kernel(config, log, 40,
                     [&](executor_pool& pool) { ns = pool.at(0).stats().looking_ns; });
    return ns / 40;
  };
  const auto never = mean_look(false, false);
  const auto at_first = mean_look(true, false);
  const auto always = mean_look(true, true);
  const auto one_look = tick_clock::to_duration(1000).count(); // use_even_clock
  CHECK(never <= static_cast<std::uint64_t>(pool_config{}.spin.count() + 2 * one_look));
  CHECK(at_first > never);
  CHECK(always > 3 * never / 2);
  CHECK(always > at_first + 5000);
}

TEST_CASE("an executor to which work comes as soon as it sleeps, each time, looks no more") {
  pool_config config;
  // The thread that submits waits for the end of a look, if there is one: 40 looks take 0.8 s, and
  // however busy the machine is, those that are made end by themselves.
  config.spin = 20ms;
  hook_log log;
  log.listen_to(config);
  config.hooks.lingers = nullptr;
  constexpr int rounds = 40;
  wake_from_kernel(config, log, rounds, [&](executor_pool& pool) {
    CHECK(std::chrono::nanoseconds{pool.at(0).stats().looking_ns} < rounds / 2 * config.spin);
  });
}
