#include <basal/executors/executors.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <exception>
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

// Two fibers suspended inside `catch` share the C++ runtime's per-thread stack of exceptions being
// handled unless each switch saves and restores it: then `throw;` rethrows what was caught last on
// the thread. The first to catch must be the first to rethrow; the other way round, a shared stack
// would happen to be in order.
TEST_CASE("fibers suspended in a catch block rethrow their own exception") {
  completion both_caught;
  completion first_done;
  std::string caught_a;
  std::string caught_b;
  bool current_a = false;
  bool current_b = false;
  auto body
    = [](const char* what, completion* set, completion& wait, std::string& caught, bool& current) {
        try {
          try {
            throw std::runtime_error(what);
          } catch (...) {
            const auto mine = std::current_exception();
            if (set != nullptr)
              set->set();
            wait.wait();
            current = mine == std::current_exception();
            throw;
          }
        } catch (const std::runtime_error& e) {
          caught = e.what();
        }
      };
  run_all(1, {[&](executor&) {
                body("a", nullptr, both_caught, caught_a, current_a);
                first_done.set();
              },
              [&](executor&) { body("b", &both_caught, first_done, caught_b, current_b); }});
  CHECK(current_a);
  CHECK(current_b);
  CHECK(caught_a == "a");
  CHECK(caught_b == "b");
}

namespace {

// Runs `body` in a destructor, while an exception flies if one does.
struct at_unwind {
  ~at_unwind() {
    body();
  }
  std::function<void()> body;
};

} // namespace

// A destructor that suspends while an exception unwinds its fiber: the exceptions in flight are
// counted per thread, and whoever runs there in the meantime would take that one for its own.
TEST_CASE("an exception that unwinds a suspended fiber is no other fiber's") {
  completion looked;
  int own = -1;
  int own_after = -1;
  int others = -1;
  int after = -1;
  run_all(1, {[&](executor&) {
                try {
                  at_unwind suspends{[&] {
                    own = std::uncaught_exceptions();
                    looked.wait();
                    own_after = std::uncaught_exceptions();
                  }};
                  throw std::runtime_error("a");
                } catch (const std::runtime_error&) {
                }
                after = std::uncaught_exceptions();
              },
              [&](executor&) {
                others = std::uncaught_exceptions();
                looked.set();
              }});
  CHECK(own == 1);
  CHECK(others == 0);
  CHECK(own_after == 1);
  CHECK(after == 0);
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
