// The time that thefts from an executor take, and what follows from it.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/detail/hand_over_time.hpp>
#include <basal/posse/range_fork.hpp>

#include "executors/begin_threads.hpp"
#include "stepped_runtime.hpp"

#include <basal/executors/hand_over.hpp>
#include <basal/executors/placement.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>

using namespace basal;
using namespace basal::test;
using posse::member;
using posse::detail::hand_over_time;

namespace {

constexpr std::uint64_t most = 3000;

enum class begins { in_the_end, never };

/// Hands a fork's right branch over from executor 0 to executor 1, which begins `later`, or, with
/// `never`, has not begun by then.
void hand_over(stepped_runtime& host, std::chrono::nanoseconds later,
               begins how = begins::in_the_end) {
  const auto before = host->stats();
  started root{host, 0, [&](member& m) {
                 m.fork_merge(
                   [&](member& l) {
                     if (host->stats().thefts == before.thefts) { // not known from the last time
                       look(l);
                       pass(20us);
                       look(l);
                     }
                     if (how == begins::never)
                       pass(later);
                     else
                       let_thieves_begin(l);
                   },
                   [](member&) {});
               }};
  host.run(0);
  if (how == begins::in_the_end) {
    pass(later);
    host.run(1);
    go_on();
  }
  host.run_all();
  CHECK(root.has_ended());
  CHECK(host->stats().thefts - before.thefts == 1);
  CHECK(host->stats().taken_back - before.taken_back == (how == begins::never));
}

/// Elements of 1 us. Executor 0 pauses at one. Executor 1 begins its part `later`, and does it
/// before executor 0 goes on, which takes nothing meanwhile, and is late if it was not its first
/// element.
/// @returns the first that executor 1 did, if it did any
std::optional<std::size_t> loop(stepped_runtime& host, std::size_t elements,
                                std::chrono::nanoseconds later = 0ns, std::size_t pause = 0) {
  std::optional<std::size_t> first;
  started root{host, 0, [&](member& m) {
                 posse::fork_merge_n(m, elements, [&](member& k, std::size_t i) {
                   if (i == pause)
                     let_thieves_begin(k);
                   if (k.executor().index() == 1 && !first)
                     first = i;
                   pass(1us);
                 });
               }};
  host.run(0);
  pass(later);
  std::optional<occupied> takes_nothing;
  if (host->compute().size() > 1) {
    takes_nothing.emplace(host, 0);
    host.run(1);
    if (pause != 0)
      pass(10us);
  }
  go_on();
  host.run(0);
  host.run_all();
  CHECK(root.has_ended());
  return first;
}

/// The cost of an element of loop() becomes known. Where two executors do a range, each one's time
/// goes on while the other has its turn, so that elements seem to cost more.
void learn(std::size_t n = 100) {
  stepped_runtime host{by_worth(1)};
  for (int i = 0; i != 4; ++i) // at most by a half each time
    CHECK(loop(host, n) == std::nullopt);
}

} // namespace

TEST_CASE("the mean is the first hand-over's time, of which later ones make up an eighth") {
  hand_over_time time;
  CHECK(time.mean() == 0);
  time.note(10'000, 10'800, most);
  CHECK(time.mean() == 800);
  time.note(20'000, 21'600, most);
  CHECK(time.mean() == 900);
  time.note(30'000, 30'000, most);
  CHECK(time.mean() < 800);
}

TEST_CASE("what took longer than the most counts for that") {
  hand_over_time time;
  time.note(10'000, 99'000, most);
  CHECK(time.mean() == most);
}

TEST_CASE("a delegate loses what it begins and ends later, each time an eighth of what is new") {
  hand_over_time time;
  time.note(10'000, 10'800, most);
  CHECK(time.delay() == 800);
  time.note_ends(20'000, 20'400);
  CHECK(time.delay() == 850);
  time.note_ends(20'000, 99'000); // as much as the mean
  CHECK(time.delay() == 950);
  for (int i = 0; i < 100; ++i)
    time.note_ends(20'000, 99'000);
  CHECK(time.delay() == 5 * 800);
  for (int i = 0; i < 100; ++i)
    time.note_ends(99'000, 20'000);
  CHECK(time.delay() == 0);
  for (int i = 0; i < 100; ++i)
    time.note(10'000, 10'100, most);
  CHECK(time.delay() == 0);
  CHECK(time.mean() < 200);
}

TEST_CASE("hand-overs to executors that slept, or whose clocks differ, do not count") {
  hand_over_time time;
  time.note(0, 99'000, most);
  CHECK(time.mean() == 0);
  time.note(10'000, 9'999, most);
  CHECK(time.mean() == 0);
}

TEST_CASE("what has not begun counts once that has taken longer than the mean") {
  hand_over_time time;
  time.note(10'000, 10'800, most);
  time.note_wait(20'000, 20'700, most);
  CHECK(time.mean() == 800);
  time.note_wait(20'000, 21'600, most);
  CHECK(time.mean() == 900);
}

TEST_CASE("with each refusal less is hoped for, until the next hand-over") {
  hand_over_time time;
  time.note(10'000, 11'280, most);
  CHECK(time.hoped() == 1280);
  for (int i = 0; i < 64; ++i)
    time.note_refusal();
  CHECK(time.hoped() == 640);
  CHECK(time.mean() == 1280);
  for (int i = 0; i < 1000; ++i)
    time.note_refusal();
  CHECK(time.hoped() == 0);
  time.note_wait(10'000, 10'001, most); // taken back at once
  CHECK(time.hoped() == 1280);
}

TEST_CASE("a trial in vain makes the next one come half as soon, and a fast one as soon as ever") {
  hand_over_time time;
  const auto refusals = [&] {
    int count = 0;
    for (; time.hoped() != 0; ++count)
      time.note_refusal();
    return count;
  };
  time.note(10'000, 11'280, most);
  CHECK(refusals() == 128);
  time.note(10'000, 11'280, most);
  CHECK(refusals() == 256);
  time.note(10'000, 11'280, most);
  CHECK(refusals() == 512);
  time.note(10'000, 10'640, most);
  CHECK(refusals() == 128);
  for (int trials = 0; trials < 20; ++trials) {
    time.note(10'000, 11'280, most);
    CHECK(refusals() <= 128 * 64);
  }
}

TEST_CASE("a thief's part of a range is smaller by what it does not get done meanwhile") {
  learn();
  stepped_runtime host{by_worth(2)};
  CHECK(loop(host, 100) == 50);
  hand_over(host, 4us, GENERATE(begins::in_the_end, begins::never));
  learn();
  // Each of the 96 us that are left together is done by one of two.
  const auto first = loop(host, 100);
  CHECK(first == 52);
}

TEST_CASE("a thief's part of cheap elements is as large as its victim's") {
  learn();
  auto config = by_worth(2);
  config.costs.awake_ns = 10'000; // no more counts
  stepped_runtime host{config};
  hand_over(host, 8us);
  learn();
  CHECK(loop(host, 100) == 50); // elements of 1 us: five take less than the hand-over
}

TEST_CASE(
  "a thief's part is larger after it has ended before its victim, if both did their parts alone") {
  learn();
  stepped_runtime host{by_worth(2)};
  hand_over(host, 4us);
  for (int i = 0; i < 10; ++i) {
    learn();
    loop(host, 100, 4us); // it takes from its victim
  }
  learn();
  CHECK(loop(host, 100).value() == 52);
  for (int i = 0; i < 10; ++i) {
    learn();
    loop(host, 100, 4us, 51); // its victim's last element
  }
  learn();
  CHECK(loop(host, 100).value() == 51);
}

TEST_CASE("a short range is worth a theft if these are fast, and is tried again if they were not") {
  learn();
  auto config = by_worth(2);
  config.costs.measure = true;
  stepped_runtime host{config};
  hand_over(host, 2us);
  CHECK(loop(host, 9) == std::nullopt); // by 6 us for each part
  int refused = 1;
  while (loop(host, 9) == std::nullopt && refused < 200)
    ++refused;
  CHECK(refused > 2);
  CHECK(refused < 200);
  stepped_runtime other{config};
  hand_over(other, 500ns);
  CHECK(loop(other, 9) == 5);
  learn(2);
  CHECK(loop(other, 2) == std::nullopt); // a fourth of awake_ns at least
}

namespace {

using clock = std::chrono::steady_clock;

void wait_for(std::chrono::nanoseconds time) {
  const auto begun = clock::now();
  while (clock::now() - begun < time) {
  }
}

} // namespace

TEST_CASE("a victim does not suspend itself if the delegate ends soon after") {
  if (executors::usable_cpus() < 2)
    return; // the delegate needs a CPU of its own
  posse::runtime_config config;
  config.compute_executors = 2;
  // Each hand-over takes that long, so a victim waits for that long.
  config.thefts.saw = [](void*, const posse::theft_event&) noexcept { wait_for(8us); };
  config.costs.awake_ns = 20'000;
  posse::runtime runtime{config};
  begin_threads(runtime.compute());
  // Others may have the CPUs, so some rounds in which they do not are enough.
  constexpr int rounds = 100;
  auto work = [&](executors::executor&) {
    for (const auto start = clock::now(); clock::now() - start < 20s;) {
      const auto before = runtime.stats();
      for (int i = 0; i < rounds; ++i)
        runtime.run([](member& m) {
          std::atomic<bool> begun{false}, ends{false};
          m.fork_merge(
            [&](member& l) {
              while (!begun.load(std::memory_order_relaxed))
                l.poll();
              ends.store(true, std::memory_order_relaxed);
            },
            [&] {
              begun.store(true, std::memory_order_relaxed);
              while (!ends.load(std::memory_order_relaxed)) {
              }
              wait_for(500ns);
            });
        });
      if (runtime.stats().merge_waits - before.merge_waits < rounds / 2)
        return true;
    }
    return false;
  };
  executors::awaited_call handed{work};
  runtime.await(handed);
  CHECK(handed.take());
}
