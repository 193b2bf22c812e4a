// Items in the newest-first slot that would wait for long: which of them are given to others at
// once, and which are taken by others.

#include "begin_threads.hpp"
#include "recurring.hpp"
#include "stepped_pool.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

pool_config newest_first(std::size_t executors) {
  auto config = stepped(executors);
  config.newest_ops = &recurring::ops;
  return config;
}

} // namespace

// -- messages sent early ------------------------------------------------------------

namespace {

/// A sender that computes before and after it sends, so many times, on executor 0; where its
/// receiver ran, '0' or '1', 'e' at each end of the sender.
std::string trace_of_sender(std::chrono::nanoseconds before, std::chrono::nanoseconds after,
                            std::size_t executors = 2, int times = 4) {
  executor_pool pool{newest_first(executors)};
  std::string trace;
  recurring receiver{[&](executor& self) { trace += static_cast<char>('0' + self.index()); }};
  recurring sender{[&](executor& self) {
    pass(before);
    self.push_newest(receiver.item());
    if (executors > 1) // while the sender is busy
      on_another_thread([&] { pool.step(1); });
    pass(after);
    self.look(self.now());
    trace += 'e';
  }};
  pool.run_until_idle(); // so that executor 1 sleeps
  for (int i = 0; i < times; ++i) {
    REQUIRE(pool.submit(sender.item()));
    while (pool.step(0)) {
      // until there is nothing to do for it
    }
    pool.run_until_idle();
  }
  return trace;
}

} // namespace

TEST_CASE(
  "who is sent to by work that goes on for long goes to an idle executor, once that is known") {
  CHECK(trace_of_sender(0us, 100us) == "e0e01e1e"); // long; longer after it has sent; so
}

TEST_CASE("who is sent to by work that ends soon after stays, whatever came before") {
  CHECK(trace_of_sender(0us, 11us, 2, 20) == "e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0");
  CHECK(trace_of_sender(10ms, 11us) == "e0e0e0e0");
}

TEST_CASE("who is sent to by work that outlasts a theft goes to an executor that is awake") {
  CHECK(trace_of_sender(0us, 12us) == "e0e01e1e"); // without threads the others do not sleep
}

TEST_CASE("where an executor searches, who is sent to goes there if its wait outlasts a theft") {
  for (const auto after : {20us, 10us}) {
    auto config = newest_first(2);
    config.simulate.ticks = &restless_clock::read;
    executor_pool pool{config};
    std::string trace;
    recurring receiver{[&](executor& self) { trace += static_cast<char>('0' + self.index()); }};
    recurring sender{[&](executor& self) {
      self.push_newest(receiver.item());
      pass(after);
      self.look(self.now());
    }};
    pool.run_until_idle(); // so that executor 1 sleeps
    for (int i = 0; i < 2; ++i) {
      inbox_node once{nullptr, sender.item()};
      pool.at(0).deliver(once);
      while (pool.step(0)) {
        // the sender, and whom it has sent to
      }
    }
    inbox_node again{nullptr, sender.item()};
    pool.at(0).deliver(again);
    restless_clock::readings = 0;
    restless_clock::action = [&] { pool.step(0); };
    restless_clock::action_at = 5; // while executor 1 searches
    inbox_node letter{nullptr, task::make([](executor&) {})};
    pool.at(1).deliver(letter);
    while (pool.step(1)) {
      // the letter, and then what it finds
    }
    restless_clock::action_at = -1;
    pool.run_until_idle();
    CAPTURE(after.count());
    CHECK(trace == (after == 20us ? "001" : "000"));
  }
}

TEST_CASE("who sends late is not timed, but for one time in sixteen") {
  auto config = newest_first(2);
  config.simulate.ticks = &restless_clock::read;
  executor_pool pool{config};
  recurring receiver{[](executor&) {}};
  auto before = 20us, after = 0us;
  recurring sender{[&](executor& self) {
    pass(before);
    self.push_newest(receiver.item());
    pass(after);
    self.look(self.now());
  }};
  pool.run_until_idle(); // so that executor 1 sleeps
  const auto readings_of_one = [&] {
    inbox_node once{nullptr, sender.item()};
    pool.at(0).deliver(once);
    restless_clock::readings = 0;
    pool.step(0);
    const auto result = restless_clock::readings;
    while (pool.step(0)) {
      // whom it has sent to
    }
    return result;
  };
  const auto unknown = readings_of_one();
  CHECK(readings_of_one() == unknown + 1);
  for (std::uint32_t i = 0; i < executor::late_senders_timed; ++i)
    CHECK(readings_of_one() == unknown);
  std::swap(before, after); // found out, as it is timed again now
  CHECK(readings_of_one() == unknown + 1);
  CHECK(readings_of_one() > unknown);
}

TEST_CASE("who is sent to by a turn of many short handlers stays, however long the turn is") {
  executor_pool pool{newest_first(2)};
  recurring receiver{[](executor&) {}};
  recurring sender{[&](executor& self) {
    self.push_newest(receiver.item());
    for (int handlers = 0; handlers < 10; ++handlers) {
      pass(11us);
      self.look(self.now());
    }
  }};
  pool.run_until_idle(); // so that executor 1 sleeps
  for (int i = 0; i < 4; ++i) {
    REQUIRE(pool.submit(sender.item()));
    while (pool.step(0)) {
      // until there is nothing to do for it
    }
    pool.run_until_idle();
  }
  CHECK(pool.at(0).stats().lifo_hits == 4);
}

TEST_CASE("who is sent to often by a long handler stays: the next one takes the slot from it") {
  executor_pool pool{newest_first(2)};
  recurring receivers[2]{{[](executor&) {}}, {[](executor&) {}}};
  recurring sender{[&](executor& self) {
    for (int i = 0; i < 2; ++i) {
      self.push_newest(receivers[i].item());
      pass(11us);
    }
    self.look(self.now());
  }};
  pool.run_until_idle();
  for (int i = 0; i < 4; ++i) {
    REQUIRE(pool.submit(sender.item()));
    while (pool.step(0)) {
      // until there is nothing to do for it
    }
    pool.run_until_idle();
  }
  CHECK(pool.at(0).stats().lifo_hits == 4);
}

TEST_CASE("where there is one executor, nothing goes elsewhere") {
  CHECK(trace_of_sender(0us, 10ms, 1) == "e0e0e0e0");
}

TEST_CASE("where nobody is idle, who is sent to early stays") {
  executor_pool pool{newest_first(2)};
  recurring receiver{[](executor&) {}};
  recurring sender{[&](executor& self) {
    self.push_newest(receiver.item());
    pass(1ms);
    self.look(self.now());
  }};
  for (int i = 0; i < 3; ++i) { // executor 1 has not begun, which is not to sleep
    REQUIRE(pool.submit(sender.item()));
    pool.step(0);
    CHECK(pool.num_runnable() == 2 + 1);
    pool.step(0);
  }
  CHECK(pool.at(0).stats().lifo_hits == 3);
}

// -- turns of many messages ------------------------------------------------------------

namespace {

constexpr auto a_move = 2us;

/// Whether a turn on executor 0 ends after so many `messages`, each of which took `each`.
bool turn_ends(std::chrono::nanoseconds each, int messages, bool has_sent = true,
               std::size_t executors = 2, bool others_are_idle = true) {
  auto config = newest_first(executors);
  config.simulate.move = a_move;
  executor_pool pool{config};
  if (others_are_idle)
    pool.run_until_idle();
  recurring receiver{[](executor&) {}};
  bool ends = false;
  recurring sender{[&](executor& self) {
    const auto begun = self.last_look();
    if (has_sent)
      self.push_newest(receiver.item());
    pass(messages * each);
    self.look(self.now());
    ends = self.turn_keeps_others_waiting(begun, static_cast<std::uint64_t>(messages));
  }};
  REQUIRE(pool.submit(sender.item()));
  pool.step(0);
  pool.run_until_idle();
  return ends;
}

} // namespace

TEST_CASE("a turn of long messages ends where its receiver could run beside the rest of them") {
  CHECK(turn_ends(a_move / 2, 2));
  CHECK(turn_ends(a_move / 2 + 10ns, 100)); // a tick's length differs a little from run to run
  CHECK_FALSE(turn_ends(a_move / 2 - 200ns, 100)); // these are short
  CHECK_FALSE(turn_ends(a_move / 2, 1));
  CHECK_FALSE(turn_ends(a_move / 2, 2, false));
  CHECK_FALSE(turn_ends(a_move / 2, 2, true, 1));
  CHECK_FALSE(turn_ends(a_move / 2, 2, true, 2, false));
}

TEST_CASE("turns that keep others waiting pay for a wake-up together") {
  pool_config config;
  config.executors = 2;
  config.spin = 0ns;
  config.newest_ops = &recurring::ops;
  std::atomic<bool> done{false};
  std::atomic<int> received{0};
  executor_pool pool{config};
  begin_threads(pool);
  recurring receiver{[&](executor&) { received.fetch_add(1); }};
  recurring sender{[&](executor& self) {
    std::uint64_t begun = 0;
    const auto after = [&](std::chrono::nanoseconds time) {
      while (self.now() - begun < tick_clock::to_ticks(time)) {
        // computes
      }
      self.look(self.now());
      return self.turn_keeps_others_waiting(begun, 2);
    };
    // Again where this thread lost its CPU for so long that the backstop has moved the receiver.
    bool ends = false;
    for (int round = 0; !ends; ++round) {
      while (received.load() < round || !pool.any_idle() || pool.any_looking())
        std::this_thread::yield(); // until the other one sleeps
      self.push_newest(receiver.item());
      self.look(self.now());
      begun = self.last_look();
      const bool at_once = after(executor::wake_up / 2);
      if (round == 0 && self.last_look() - begun < tick_clock::to_ticks(executor::wake_up))
        CHECK_FALSE(at_once);
      ends = at_once || after(executor::wake_up);
    }
    const auto woken = self.last_look();
    const bool again = after(executor::wake_up);
    if (self.last_look() - woken < tick_clock::to_ticks(executor::wake_up)) // it had the CPU
      CHECK_FALSE(again);
    done.store(true);
  }};
  REQUIRE(pool.submit(sender.item()));
  while (!done.load())
    std::this_thread::yield();
}

// -- what others take from the slot ---------------------------------------------------

namespace {

struct theft {
  std::uint64_t taken;
  std::chrono::nanoseconds waited;
};

/// Executor 0 runs an item behind which another is the newest, while executor 1 looks for work.
/// @param move what it costs the item to go on at executor 1; its owner's others took 2 ms
theft theft_from_slot(std::chrono::nanoseconds patience, int action_at = -1,
                      std::function<void(executor_pool&)> action = nullptr,
                      std::chrono::nanoseconds move = 12us) {
  auto config = newest_first(2);
  config.simulate.ticks = &restless_clock::read;
  config.simulate.move = move;
  config.steal_after = patience;
  executor_pool pool{config};
  for (int i = 0; i < 4; ++i) {
    REQUIRE(pool.submit(task::make([](executor& self) {
      pass(2ms);
      self.look(self.now());
    })));
    pool.step(0);
  }
  recurring waiting{[](executor&) {}};
  theft result{};
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_newest(waiting.item());
    const auto before = time_now;
    restless_clock::readings = 0;
    restless_clock::action = [&] { action(pool); };
    restless_clock::action_at = action_at;
    on_another_thread([&] { pool.step(1); });
    restless_clock::action_at = -1;
    result = {pool.at(1).stats().tasks_stolen, tick_clock::to_duration(time_now - before)};
  })));
  pool.step(0);
  pool.run_until_idle();
  return result;
}

} // namespace

TEST_CASE("a thief takes the newest item of an executor that runs one and the same for long") {
  const auto [taken, waited] = theft_from_slot(100us);
  CHECK(taken == 1);
  CHECK(waited >= executor::between_looks);
  CHECK(waited < 20us);
}

TEST_CASE(
  "a thief does not wait for longer than a move takes where its victim's items take longer") {
  if (usable_cpus() < 2)
    return; // the victim needs the thief's CPU
  const auto [taken, waited] = theft_from_slot(100us, -1, nullptr, 1us);
  CHECK(taken == 1);
  CHECK(waited < executor::between_looks + 2us); // of which five are readings of the clock
}

TEST_CASE("a thief leaves the newest item of an executor that begins others to it") {
  auto config = newest_first(2);
  config.simulate.ticks = &restless_clock::read;
  config.steal_after = 100us;
  executor_pool pool{config};
  recurring* again = nullptr;
  recurring waiting{[&](executor& self) {
    if (again != nullptr) // as one of a pair that send to each other
      self.push_newest(std::exchange(again, nullptr)->item());
  }};
  REQUIRE(pool.submit(task::make([&](executor& self) { self.push_newest(waiting.item()); })));
  pool.step(0);
  again = &waiting;
  restless_clock::readings = 0;
  restless_clock::action = [&] { pool.step(0); };
  restless_clock::action_at = 5; // while the thief looks
  CHECK_FALSE(pool.step(1));
  restless_clock::action_at = -1;
  CHECK(again == nullptr);
  CHECK(pool.at(1).stats().tasks_stolen == 0);
  pool.run_until_idle();
}

TEST_CASE("a thief without patience leaves newest items alone") {
  CHECK(theft_from_slot(0us).taken == 0);
}

TEST_CASE("a thief that waits for a newest item goes to what comes from outside") {
  int ran = 0;
  const auto from_outside
    = [&](executor_pool& pool) { CHECK(pool.submit(task::make([&](executor&) { ++ran; }))); };
  CHECK(theft_from_slot(1ms, 4, from_outside).taken == 0);
  CHECK(ran == 1);
}
