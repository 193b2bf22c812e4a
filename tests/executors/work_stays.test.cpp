// Executors that get less done side by side than one of them would: thieves leave work to its
// owner, and nobody is woken for it. Nothing here is timed but for how long a test waits in vain.

#include "recurring.hpp"
#include "stepped_pool.hpp"
#include "support/catch.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

/// A hub and those that it serves, as far as executors see actors: it gives each of them a message,
/// then the next one. So who runs the hub has all the work, and others what they steal. Each turn
/// handles a message.
class hub_and_clients {
public:
  /// @param alone what a turn takes one executor
  /// @param beside what it takes each of two
  hub_and_clients(std::chrono::nanoseconds alone, std::chrono::nanoseconds beside)
    : pool_(config()), alone_(alone), beside_(beside) {
    for (auto& client : clients_) {
      client.body = [this, &client](executor& self) {
        take_turn(self);
        at_rest_.push_back(&client);
      };
      at_rest_.push_back(&client);
    }
    hub_.body = [this](executor& self) {
      take_turn(self);
      if (has_ended_)
        return;
      for (int i = 0; sends_ && i < at_once && !at_rest_.empty(); ++i) {
        self.push_newest(at_rest_.front()->item());
        at_rest_.pop_front();
      }
      self.push_again(hub_.item());
    };
    REQUIRE(pool_.submit(hub_.item()));
  }

  /// The hub sends to nobody for a while; what it takes meanwhile.
  void run_alone(std::chrono::nanoseconds time, std::chrono::nanoseconds turn) {
    sends_ = false;
    const auto before = std::exchange(alone_, turn);
    run(time);
    alone_ = before;
    sends_ = true;
  }

  /// For so long; each executor that has something to do takes a turn.
  void run(std::chrono::nanoseconds time) {
    const auto until = time_now + tick_clock::to_ticks(time);
    while (time_now < until) {
      const bool first = pool_.step(0);
      const bool second = pool_.step(1);
      pass(first && second ? beside_ : alone_);
    }
  }

  void set_times(std::chrono::nanoseconds alone, std::chrono::nanoseconds beside) {
    alone_ = alone;
    beside_ = beside;
  }

  bool work_stays() const {
    return pool_.work_stays();
  }

  void time_no_turns() {
    times_turns_ = false;
  }

  /// The hub takes its last turn.
  void end() {
    has_ended_ = true;
  }

  std::uint64_t turns() const {
    return pool_.at(0).stats().tasks_run + pool_.at(1).stats().tasks_run;
  }

  std::uint64_t thefts() const {
    return pool_.at(0).stats().tasks_stolen + pool_.at(1).stats().tasks_stolen;
  }

  executor_pool& pool() {
    return pool_;
  }

private:
  static constexpr int at_once = 4;

  static pool_config config() {
    auto result = stepped(2);
    result.newest_ops = &recurring::ops;
    return result;
  }

  void take_turn(executor& self) {
    static constexpr char kind = 0;
    if (times_turns_ && self.is_turn_timed())
      self.end_timed_turn(self.begin_timed_turn(&kind), 1);
    self.look(self.now());
  }

  executor_pool pool_;
  recurring hub_;
  std::array<recurring, 16> clients_;
  std::deque<recurring*> at_rest_;
  std::chrono::nanoseconds alone_;
  std::chrono::nanoseconds beside_;
  bool sends_ = true;
  bool times_turns_ = true;
  bool has_ended_ = false;
};

} // namespace

TEST_CASE("where two executors get less done than one would, work stays at one") {
  hub_and_clients actors{20us, 60us};
  actors.run(12ms);
  REQUIRE(actors.work_stays());
  const auto thefts = actors.thefts();
  const auto turns = actors.turns();
  actors.run(10ms);
  CHECK(actors.work_stays());
  CHECK(actors.thefts() == thefts);
  CHECK(actors.turns() - turns >= 500); // 20 us each
}

TEST_CASE("where two get more done, work goes around but for trials") {
  hub_and_clients actors{20us, 30us};
  int stays = 0;
  for (int i = 0; i < 1000; ++i) {
    actors.run(100us);
    stays += actors.work_stays() ? 1 : 0;
  }
  CHECK(stays < 20);
  CHECK(actors.thefts() > 1000);
}

TEST_CASE(
  "what turns take while there is work for one alone says nothing of what they would take it") {
  hub_and_clients actors{30us, 30us};
  int stays = 0;
  for (int i = 0; i < 1000; ++i) {
    actors.run_alone(100us, 3us);
    actors.run(100us);
    stays += actors.work_stays() ? 1 : 0;
  }
  CHECK(stays < 20);
  CHECK(actors.thefts() > 1000);
}

TEST_CASE("work goes around again where messages have become long") {
  hub_and_clients actors{20us, 60us};
  actors.run(12ms);
  REQUIRE(actors.work_stays());
  actors.set_times(120us, 120us);
  actors.run(1ms);
  CHECK_FALSE(actors.work_stays());
  const auto turns = actors.turns();
  actors.run(12ms);
  CHECK(actors.turns() - turns > 150); // of two
}

TEST_CASE("work that was to stay for a moment goes around again beside a turn that goes on") {
  hub_and_clients actors{20us, 30us};
  while (!actors.work_stays())
    actors.run(20us);
  const auto thefts = actors.thefts();
  REQUIRE(actors.pool().submit(nothing_special())); // so that executor 1 has come to look around
  for (int i = 0; i < 20 && actors.work_stays(); ++i) {
    pass(100us); // executor 0 is in the middle of a turn
    REQUIRE(actors.pool().submit(nothing_special()));
    actors.pool().step(1);
    actors.pool().step(1);
  }
  CHECK_FALSE(actors.work_stays());
  CHECK(actors.thefts() > thefts);
}

TEST_CASE("work goes around again a tick after its time, though no turn is timed any more") {
  hub_and_clients actors{1us, 3us};
  actors.run(12ms);
  REQUIRE(actors.work_stays());
  actors.time_no_turns();
  actors.run(70ms);
  CHECK_FALSE(actors.work_stays());
}

TEST_CASE("where items take long, work goes around again after two ticks, though none is timed") {
  hub_and_clients actors{1us, 3us};
  actors.run(12ms);
  REQUIRE(actors.work_stays());
  actors.time_no_turns();
  actors.set_times(1200us, 1200us);
  actors.run(8ms);
  CHECK_FALSE(actors.work_stays());
}

TEST_CASE("nothing stays in a pool that stops") {
  hub_and_clients actors{20us, 60us};
  actors.run(12ms);
  REQUIRE(actors.work_stays());
  actors.end();
  actors.pool().stop(stop_mode::drain);
  CHECK_FALSE(actors.work_stays());
}

TEST_CASE("when work goes around again, executors are woken for what waits at any that is awake") {
  auto config = stepped(3);
  config.newest_ops = &recurring::ops;
  executor_pool pool{config};
  static constexpr char kind = 0;
  const auto take_turn = [](executor& self) {
    if (self.is_turn_timed())
      self.end_timed_turn(self.begin_timed_turn(&kind), 1);
    self.look(self.now());
  };
  std::array<recurring, 16> clients;
  std::deque<recurring*> at_rest;
  for (auto& client : clients) {
    client.body = [&](executor& self) {
      take_turn(self);
      at_rest.push_back(&client);
    };
    at_rest.push_back(&client);
  }
  bool waits = false;
  bool has_run = false;
  std::size_t blocked = 0;
  bool is_blocked = false;
  recurring hub;
  recurring waited_for{[&](executor&) { has_run = true; }};
  // In the middle of its turn from here on: its executor takes no more steps.
  recurring blocking{[&](executor& self) {
    blocked = self.index();
    is_blocked = true;
  }};
  hub.body = [&](executor& self) {
    take_turn(self);
    if (waits) {
      self.push_newest(waited_for.item());
      self.push_newest(blocking.item());
      return;
    }
    for (int i = 0; i < 4 && !at_rest.empty(); ++i) {
      self.push_newest(at_rest.front()->item());
      at_rest.pop_front();
    }
    self.push_again(hub.item());
  };
  // Has only itself to do, in the newest-first slot, so it neither searches nor puts off anything.
  recurring busy{[&](executor& self) {
    take_turn(self);
    self.push_newest(busy.item());
  }};
  const auto round = [&](std::size_t without) {
    int busy_ones = 0;
    for (std::size_t i = 0; i < pool.size(); ++i)
      busy_ones += i != without && pool.step(i) ? 1 : 0;
    pass(busy_ones > 1 ? 98us : 20us);
  };
  REQUIRE(pool.submit(hub.item()));
  for (int in_row = 0, i = 0; in_row < 30 && i < 2000; ++i) {
    round(pool.size());
    in_row = pool.work_stays() ? in_row + 1 : 0;
  }
  REQUIRE(pool.work_stays());
  REQUIRE(pool.submit(busy.item()));
  for (int i = 0; i < 20; ++i)
    round(0);
  waits = true;
  for (int i = 0; i < 100 && !is_blocked; ++i) {
    pool.step(0);
    pass(20us);
  }
  REQUIRE(is_blocked);
  for (int i = 0; i < 10'000 && !has_run; ++i)
    round(blocked);
  CHECK(has_run);
  is_blocked = false;
  pool.stop(stop_mode::discard);
}

// -- with threads -------------------------------------------------------------------

namespace {

using clock_type = std::chrono::steady_clock;

/// As above, but turns take real time, and in the end the hub waits in one of them for a client
/// that it has just sent to, and which only another executor can run.
class blocking_hub {
public:
  blocking_hub() {
    for (auto& client : clients_) {
      client.body = [this, &client](executor& self) {
        take_turn(self);
        std::lock_guard guard{mutex_};
        at_rest_.push_back(&client);
      };
      at_rest_.push_back(&client);
    }
    last_.body = [this](executor&) { last_has_run_.store(true); };
    filler_.body = [](executor&) {};
    hub_.body = [this](executor& self) { serve(self); };
  }

  /// @returns whether the client has run
  bool run() {
    pool_config config;
    config.name = "test";
    config.executors = 2;
    config.newest_ops = &recurring::ops;
    config.simulate.ticks = &ticks;
    stands_still_at = 0;
    executor_pool pool{config};
    pool_ = &pool;
    REQUIRE(pool.submit(hub_.item()));
    done_.wait();
    pool.stop(stop_mode::drain);
    return was_helped_;
  }

private:
  static inline std::atomic<std::uint64_t> stands_still_at{0}; ///< 0: it goes on

  static std::uint64_t ticks() noexcept {
    const auto end = stands_still_at.load();
    return end != 0 ? end : tick_clock::now();
  }

  void serve(executor& self) {
    take_turn(self);
    // A trial will do, since the pool's clock stands still from here on: its time is never over. On
    // a machine with much else to do there may be none, as two seldom work at the same time.
    if (pool_->work_stays() || clock_type::now() - begun_ > 10s) {
      stands_still_at = tick_clock::now();
      was_helped_ = is_helped(self);
      done_.set();
      return;
    }
    std::lock_guard guard{mutex_};
    for (int i = 0; i < 4 && !at_rest_.empty(); ++i) {
      self.push_newest(at_rest_.front()->item());
      at_rest_.pop_front();
    }
    self.push_again(hub_.item());
  }

  bool is_helped(executor& self) {
    self.push_newest(last_.item());
    self.push_newest(filler_.item()); // in whose place it was
    const auto until = clock_type::now() + 20s;
    while (!last_has_run_.load() && clock_type::now() < until)
      std::this_thread::yield();
    return last_has_run_.load();
  }

  void take_turn(executor& self) {
    static constexpr char kind = 0;
    const bool is_timed = self.is_turn_timed();
    const auto begun = is_timed ? self.begin_timed_turn(&kind) : 0;
    const auto length = at_work_.fetch_add(1) == 0 ? 20us : 60us;
    for (const auto from = clock_type::now(); clock_type::now() - from < length;) {
    }
    at_work_.fetch_sub(1);
    if (is_timed)
      self.end_timed_turn(begun, 1);
    self.look(self.now());
  }

  executor_pool* pool_ = nullptr;
  completion done_;
  std::atomic<int> at_work_{0};
  std::atomic<bool> last_has_run_{false};
  bool was_helped_ = false; // published by done_
  clock_type::time_point begun_ = clock_type::now();
  std::mutex mutex_; // for the next one
  std::deque<recurring*> at_rest_;
  std::array<recurring, 16> clients_;
  recurring hub_, last_, filler_;
};

} // namespace

TEST_CASE("work that waits behind a long turn goes around again, though it was to stay") {
  if (usable_cpus() < 2)
    return; // two executors are never at work at the same time
  blocking_hub hub;
  CHECK(hub.run());
}
