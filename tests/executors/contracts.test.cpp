// Misuse of the module: builds with asserts name it.

#include <basal/executors/completion.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/executors/hand_over.hpp>
#include <basal/executors/sequential_scope.hpp>

#include "closure_task.hpp"
#include "support/contract.hpp"

#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

using namespace basal::executors;
using basal::test::expect_broken_contract;

namespace {

pool_config stepped(std::size_t executors = 1) {
  pool_config config;
  config.executors = executors;
  config.simulate.stepped = true;
  return config;
}

/// Runs `body(executor&)` on the one executor of a pool of its own.
void on_executor(std::function<void(executor&)> body) {
  executor_pool pool{stepped()};
  (void)pool.submit(task::make(std::move(body)));
  pool.run_until_idle();
}

} // namespace

TEST_CASE("a result is filled once and taken once, after the call's end") {
  expect_broken_contract("a result is taken once, after the call's end", [] {
    call_result<int> result;
    result.take();
  });
  expect_broken_contract("a result is taken once, after the call's end", [] {
    call_result<void> result;
    result.fail(std::make_exception_ptr(std::runtime_error{"1"}));
    try {
      result.take();
    } catch (const std::runtime_error&) {
    }
    result.take();
  });
  expect_broken_contract("a result is filled once", [] {
    call_result<int> result;
    result.fill([] { return 1; });
    result.fill([] { return 2; });
  });
  expect_broken_contract("a call that failed has an exception", [] {
    call_result<int> result;
    result.fail(nullptr);
  });
}

TEST_CASE("a completion is set once") {
  expect_broken_contract("a completion is set once", [] {
    completion done;
    done.set();
    done.set();
  });
}

TEST_CASE("an executor does not wait for work of its own pool") {
  expect_broken_contract("an executor does not wait for work of its own pool", [] {
    on_executor([](executor& self) {
      auto body = [](executor&) {};
      awaited_call call{body};
      call.run_on(self.pool());
    });
  });
}

TEST_CASE("awaited work is handed over once") {
  expect_broken_contract("awaited work is handed over once", [] {
    pool_config config;
    config.executors = 1;
    executor_pool pool{config};
    auto body = [](executor&) {};
    awaited_call call{body};
    call.run_on(pool);
    call.run_on(pool);
  });
}

TEST_CASE("detached work runs once") {
  expect_broken_contract("detached work runs once", [] {
    auto one = [] {};
    auto* work = new detached_call<detached_result<detached_work, void>, decltype(one)>{one};
    work->run(nullptr);
    work->run(nullptr);
  });
  expect_broken_contract("detached work runs before its end is announced", [] {
    auto one = [] {};
    auto* work = new detached_call<detached_result<detached_work, void>, decltype(one)>{one};
    work->forget();
    work->announce();
    work->run(nullptr);
  });
}

TEST_CASE("only its own thread queues work at an executor") {
  expect_broken_contract("only its own thread queues work at an executor", [] {
    executor_pool pool{stepped()};
    pool.at(0).push_back(task::make([](executor&) {}));
  });
  expect_broken_contract("only its own thread queues work at an executor", [] {
    executor_pool pool{stepped(2)};
    (void)pool.submit(task::make([&](executor& self) {
      pool.at(1 - self.index()).push_newest(task::make([](executor&) {}));
    }));
    pool.run_until_idle();
  });
}

TEST_CASE("only the fiber that runs suspends itself") {
  expect_broken_contract("only the fiber that runs suspends itself", [] {
    executor_pool pool{stepped()};
    (void)pool.at(0).suspend([](fiber&) noexcept {});
  });
}

TEST_CASE("a fiber is woken once") {
  expect_broken_contract("a fiber that waits is woken once", [] {
    on_executor([](executor& self) {
      fiber* me = nullptr;
      (void)self.suspend([&](fiber& f) noexcept {
        me = &f;
        executor::wake(f);
      });
      executor::wake(*me); // it runs
    });
  });
}

TEST_CASE("an index is below the pool's size") {
  expect_broken_contract("an executor's index is below size()", [] {
    executor_pool pool{stepped()};
    pool.at(1);
  });
  expect_broken_contract("an executor's index is below size()", [] {
    executor_pool pool{stepped()};
    pool.step(1);
  });
}

TEST_CASE("a pool with threads takes no steps") {
  expect_broken_contract("a pool with threads takes no steps", [] {
    executor_pool pool{pool_config{}};
    pool.run_until_idle();
  });
}

TEST_CASE("what is handed to a pool is a piece of work") {
  expect_broken_contract("what is handed to a pool is a piece of work", [] {
    executor_pool pool{stepped()};
    (void)pool.submit({});
  });
}

TEST_CASE("a sequential scope ends on its own thread") {
  expect_broken_contract("a sequential scope ends where it began", [] {
    std::optional<sequential_scope> scope;
    scope.emplace();
    std::thread{[&] { scope.reset(); }}.join();
  });
}
