// Collections against fibers: what only a fiber's stack points to must survive,
// whether the fiber runs, is suspended, or is between two stacks; and with parts
// of the protocol left out it must not, or these tests would prove nothing.
//
// BASAL_GC_COLLECTIONS=10000 BASAL_GC_SWITCHES=1000000 BASAL_GC_SECONDS=10 make
// them long.

#include <basal/executors/executors.hpp>
#include <basal/posse/gc/detail/faults.hpp>

#include "gc_canaries.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

namespace gc = basal::posse::gc;
using namespace basal::executors;

namespace {

/// Runs `body(executor&)` on a fiber of its own.
class on_fiber {
public:
  explicit on_fiber(std::function<void(executor&)> body) : body_(std::move(body)) {
  }
  work_item item() {
    return {this, &ops};
  }

private:
  std::function<void(executor&)> body_;
  static const work_ops ops;
};

constexpr work_ops on_fiber::ops{
  [](void* self, executor& e) noexcept { static_cast<on_fiber*>(self)->body_(e); }, nullptr};

pool_config small_stacks(std::size_t executors) {
  pool_config config;
  config.executors = executors;
  config.stack_bytes = stack_pool::min_stack_bytes;
  return config;
}

struct outcome {
  std::uint64_t lost = 0;
  std::uint64_t collections = 0;
  std::uint64_t switches = 0;
};

/// Fibers that take turns as quickly as they can, each with lists on its stack,
/// while a thread collects as often as it can.
/// @param yields of a fiber for each list that it makes: with many, a thread is switching most of
///   the time, and a collection that does not wait for it meets a switch
outcome switch_storm(std::uint64_t min_collections, std::uint64_t min_switches, int yields = 1) {
  std::atomic<std::uint64_t> lost{0};
  std::atomic<bool> stop{false};
  std::atomic<int> running{0};
  executor_pool pool{small_stacks(3)};
  constexpr std::uint64_t length = 12;
  std::deque<on_fiber> fibers;
  for (std::uint64_t id = 1; id <= 40; ++id)
    fibers.emplace_back([&, id](executor& e) {
      for (std::uint64_t round = id << 24; !stop.load(std::memory_order_relaxed); ++round) {
        const auto* old = canaries::make(round, length);
        for (int turn = 0; turn < 8; ++turn) {
          const auto* young = canaries::make(round + 1, length);
          for (int i = 0; i < yields; ++i)
            e.yield();
          lost += canaries::lost(young, round + 1, length);
        }
        lost += canaries::lost(old, round, length);
      }
      --running;
    });
  for (auto& f : fibers) {
    ++running;
    REQUIRE(pool.submit(f.item()));
  }
  outcome result;
  const auto before = gc::stats().collections;
  const canaries::patience patience{"BASAL_GC_COLLECTIONS"};
  while (
    ((canaries::collects && result.collections < min_collections) || result.switches < min_switches)
    && !patience.is_over()) {
    gc::collect();
    canaries::litter(50);
    result.collections = gc::stats().collections - before;
    result.switches = 0;
    for (std::size_t i = 0; i < pool.size(); ++i)
      result.switches += 2 * pool.at(i).stats().suspensions;
  }
  stop = true;
  while (running != 0)
    std::this_thread::yield();
  pool.stop(stop_mode::drain);
  result.lost = lost;
  return result;
}

/// More suspended fibers than the collector's mark stack has room for ranges.
outcome long_sleep(std::size_t count, std::chrono::milliseconds time) {
  std::atomic<std::uint64_t> lost{0};
  std::atomic<std::size_t> asleep{0};
  std::atomic<std::size_t> awake{0};
  executor_pool pool{small_stacks(2)};
  std::deque<completion> mornings(count);
  std::deque<on_fiber> fibers;
  for (std::size_t id = 0; id < count; ++id)
    fibers.emplace_back([&, id](executor&) {
      const auto* list = canaries::make(id, 64);
      ++asleep;
      mornings[id].wait();
      lost += canaries::lost(list, id, 64);
      ++awake;
    });
  for (auto& f : fibers)
    REQUIRE(pool.submit(f.item()));
  while (asleep != count)
    std::this_thread::yield();
  const auto before = gc::stats();
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    gc::collect();
    canaries::litter(20'000);
  } while (std::chrono::steady_clock::now() < end
           || (canaries::collects && gc::stats().collections < before.collections + 3));
  const auto after = gc::stats();
  for (auto& m : mornings)
    m.set();
  while (awake != count)
    std::this_thread::yield();
  pool.stop(stop_mode::drain);
  // Spare fibers and the last one to fall asleep may or may not count.
  if (canaries::collects && !gc::detail::faults().skip_suspended_stacks)
    CHECK(after.suspended_stacks + 4 >= count);
  return {lost, after.collections - before.collections, 0};
}

} // namespace

TEST_CASE("no object is lost while fibers switch and collections run") {
  auto r = switch_storm(canaries::amount("BASAL_GC_COLLECTIONS", 400),
                        canaries::amount("BASAL_GC_SWITCHES", 40'000));
  INFO("lost " << r.lost << ", collections " << r.collections << ", switches " << r.switches);
  CHECK(r.lost == 0);
  CHECK(r.switches > 0);
  CHECK((r.collections > 0) == canaries::collects);
}

TEST_CASE("no object of a fiber that sleeps through many collections is lost") {
  auto r = long_sleep(
    6000, std::chrono::milliseconds{1000 * canaries::amount("BASAL_GC_SECONDS", 0) + 300});
  INFO("lost " << r.lost << ", collections " << r.collections);
  CHECK(r.lost == 0);
}

#ifndef __SANITIZE_THREAD__ // nothing is collected there

TEST_CASE("without the suspended stacks objects are lost") {
  CHECK(canaries::loses_objects("[without-suspended-stacks]"));
}

TEST_CASE("without holding switches objects are lost, or worse") {
  CHECK(canaries::loses_objects("[without-holding-switches]"));
}

TEST_CASE("control: suspended stacks not scanned", "[.][without-suspended-stacks]") {
  gc::detail::faults().skip_suspended_stacks = true;
  REQUIRE(long_sleep(200, std::chrono::milliseconds{50}).lost > 0);
}

TEST_CASE("control: switches not held", "[.][without-holding-switches]") {
  gc::detail::faults().skip_holding_switches = true;
  std::uint64_t lost = 0;
  for (int i = 0; i < 5 && lost == 0; ++i)
    lost = switch_storm(400, 40'000, 1000).lost;
  REQUIRE(lost > 0);
}

#endif
