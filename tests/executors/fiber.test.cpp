#include <basal/executors/executors.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace basal::executors;

namespace {

// Runs `bodies` as tasks of a pool with `executors` executors, returns when all
// have ended.
void run_all(std::size_t executors, std::vector<std::function<void(executor&)>> bodies) {
  pool_config config;
  config.name = "test";
  config.executors = executors;
  executor_pool pool{config};
  struct shared_state {
    std::vector<std::function<void(executor&)>> bodies;
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> left;
    completion done;
  } shared{std::move(bodies), 0, 0, {}};
  shared.left = shared.bodies.size();
  static constexpr work_ops ops{
    [](void* object, executor& self) noexcept {
      auto& s = *static_cast<shared_state*>(object);
      s.bodies[s.next.fetch_add(1)](self);
      if (s.left.fetch_sub(1) == 1)
        s.done.set();
    },
    nullptr,
  };
  for (std::size_t i = 0; i < shared.bodies.size(); ++i)
    REQUIRE(pool.submit({&shared, &ops}));
  shared.done.wait();
  pool.stop(stop_mode::drain);
}

} // namespace

TEST_CASE("a suspended task leaves its executor free for others") {
  completion event;
  std::string log;
  run_all(1, {[&](executor&) {
                log += "a1 ";
                event.wait();
                log += "a2 ";
              },
              [&](executor&) {
                log += "b ";
                event.set();
              }});
  CHECK(log == "a1 b a2 ");
}

TEST_CASE("a task resumes on the executor where it was suspended") {
  constexpr int rounds = 200;
  std::vector<completion> ping(rounds);
  std::vector<completion> pong(rounds);
  std::atomic<int> moved{0};
  run_all(3, {[&](executor& self) {
                for (int i = 0; i < rounds; ++i) {
                  ping[i].wait();
                  moved += executor::current() != &self;
                  pong[i].set();
                }
              },
              [&](executor& self) {
                for (int i = 0; i < rounds; ++i) {
                  ping[i].set();
                  pong[i].wait();
                  moved += executor::current() != &self;
                }
              }});
  CHECK(moved.load() == 0);
}

TEST_CASE("yielding lets waiting work have its turn") {
  std::string log;
  run_all(1, {[&](executor& self) {
            log += "a1 ";
            self.push_back({&log, [] {
                              static constexpr work_ops ops{[](void* l, executor&) noexcept {
                                                              *static_cast<std::string*>(l) += "c ";
                                                            },
                                                            nullptr};
                              return &ops;
                            }()});
            self.yield();
            log += "a2 ";
          }});
  CHECK(log == "a1 c a2 ");
}

// Two fibers suspended inside `catch` share the C++ runtime's per-thread stack
// of exceptions being handled unless each switch saves and restores it: then
// both `throw;` rethrew the exception that was caught last.
TEST_CASE("fibers suspended in a catch block rethrow their own exception") {
  completion first;
  completion second;
  std::string caught_a;
  std::string caught_b;
  auto body = [](const char* what, completion& mine, completion& other, std::string& caught) {
    try {
      try {
        throw std::runtime_error(what);
      } catch (...) {
        other.set();
        mine.wait();
        throw;
      }
    } catch (const std::runtime_error& e) {
      caught = e.what();
    }
  };
  run_all(1, {[&](executor&) { body("a", first, second, caught_a); },
              [&](executor&) { body("b", second, first, caught_b); }});
  CHECK(caught_a == "a");
  CHECK(caught_b == "b");
}

TEST_CASE("a hundred suspended tasks wait on as many stacks, which are reused") {
  constexpr int tasks = 100;
  std::vector<completion> events(tasks);
  std::atomic<int> woken{0};
  for (int round = 0; round < 2; ++round) {
    std::vector<completion> fresh(tasks);
    std::vector<std::function<void(executor&)>> bodies;
    for (int i = 0; i < tasks; ++i)
      bodies.push_back([&, i](executor&) {
        fresh[i].wait();
        woken.fetch_add(1);
      });
    bodies.push_back([&](executor&) {
      for (auto& e : fresh)
        e.set();
    });
    run_all(1, bodies);
  }
  CHECK(woken.load() == 2 * tasks);
}
