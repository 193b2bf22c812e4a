// Pools without threads, whose executors are threads of others for the time of a call.

#include <basal/executors/executors.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

pool_config hosted(std::size_t executors) {
  pool_config config;
  config.name = "hosted";
  config.executors = executors;
  config.hosted = true;
  return config;
}

/// Runs `body` on the calling thread as an executor of `pool`.
/// @returns whether an executor was free
bool run(executor_pool& pool, std::function<void(executor&)> body) {
  auto call = [&](executor& self) { body(self); };
  awaited_call work{call};
  return work.host_on(pool);
}

} // namespace

TEST_CASE("a thread is an executor for the time of a call") {
  executor_pool pool{hosted(1)};
  const auto self = std::this_thread::get_id();
  for (int i = 0; i < 3; ++i) {
    bool ran = false;
    CHECK(run(pool, [&](executor& e) {
      ran = true;
      CHECK(&e.pool() == &pool);
      CHECK(executor::current() == &e);
      CHECK(std::this_thread::get_id() == self);
      CHECK(pool.num_hosting() == 1);
    }));
    CHECK(ran);
    CHECK(executor::current() == nullptr);
    CHECK(pool.num_hosting() == 0);
  }
  // Another thread has the same executor after that.
  std::thread{[&] { CHECK(run(pool, [](executor& e) { CHECK(e.index() == 0); })); }}.join();
}

TEST_CASE("no more threads than executors are in a pool at once") {
  executor_pool pool{hosted(1)};
  CHECK(run(pool, [&](executor&) {
    std::thread{[&] { CHECK_FALSE(run(pool, [](executor&) {})); }}.join();
  }));
}

TEST_CASE("a fiber that waits goes on on the thread that it was suspended on") {
  executor_pool pool{hosted(2)};
  std::jthread setter;
  CHECK(run(pool, [&](executor& self) {
    for (int i = 0; i < 100; ++i) {
      completion event;
      const auto thread = std::this_thread::get_id();
      setter = std::jthread{[&event] { event.set(); }};
      event.wait();
      CHECK(std::this_thread::get_id() == thread);
      CHECK(executor::current() == &self);
      setter.join();
    }
  }));
}

namespace {

/// Waits for an event on an executor's own fiber.
struct waiting_work {
  completion event{};
  completion begun{};
  bool done = false;
  inbox_node node{};

  void send_to(executor& self) {
    static constexpr work_ops ops{[](void* object, executor&) noexcept {
                                    auto& mine = *static_cast<waiting_work*>(object);
                                    mine.begun.set();
                                    mine.event.wait();
                                    mine.done = true;
                                  },
                                  nullptr};
    node.item = {this, &ops};
    self.push_pinned(node);
  }
};

} // namespace

TEST_CASE("what is left on an executor runs before its thread goes") {
  executor_pool pool{hosted(1)};
  waiting_work left;
  left.event.set();
  CHECK(run(pool, [&](executor& self) { left.send_to(self); }));
  CHECK(left.done);
}

TEST_CASE("a thread stays while a fiber of its executor waits") {
  executor_pool pool{hosted(1)};
  waiting_work waiting;
  std::jthread setter;
  CHECK(run(pool, [&](executor& self) {
    waiting.send_to(self);
    waiting.begun.wait();
    setter = std::jthread{[&] {
      std::this_thread::sleep_for(2ms);
      waiting.event.set();
    }};
  }));
  CHECK(waiting.done);
}

TEST_CASE("a thread that has left a pool has freed a CPU") {
  auto config = hosted(1);
  std::atomic<int> freed{0};
  config.hooks.context = &freed;
  config.hooks.frees_cpu = [](void* count) noexcept { ++*static_cast<std::atomic<int>*>(count); };
  executor_pool pool{config};
  CHECK(run(pool, [&](executor&) { CHECK(freed == 0); }));
  CHECK(freed == 1);
}

TEST_CASE("stop() waits for the threads in a pool, and lets no other in") {
  std::atomic<bool> in{false};
  std::atomic<bool> out{false};
  executor_pool pool{hosted(1)};
  std::jthread guest{[&] {
    CHECK(run(pool, [&](executor&) {
      in = true;
      in.notify_all();
      std::this_thread::sleep_for(5ms);
      out = true;
    }));
  }};
  in.wait(false);
  pool.stop(stop_mode::drain);
  CHECK(out);
  CHECK_FALSE(run(pool, [](executor&) {}));
}

TEST_CASE("stop() names the executors of threads that stay longer than it has patience") {
  std::atomic<bool> in{false};
  std::atomic<bool> ends{false};
  executor_pool pool{hosted(2)};
  std::jthread guest{[&] {
    CHECK(run(pool, [&](executor&) {
      in = true;
      in.notify_all();
      ends.wait(false);
    }));
  }};
  in.wait(false);
  for (int i = 0; i < 2; ++i) {
    const auto who = pool.stop(stop_mode::discard, 1ms);
    REQUIRE(who.size() == 1);
    CHECK(who.front().executor == "hosted0");
    CHECK_FALSE(run(pool, [](executor&) {}));
  }
  std::jthread later{[&] {
    std::this_thread::sleep_for(5ms); // stop() waits already, most of the time
    ends = true;
    ends.notify_all();
  }};
  CHECK(pool.stop(stop_mode::discard, 10min).empty());
  CHECK(pool.num_hosting() == 0);
}
