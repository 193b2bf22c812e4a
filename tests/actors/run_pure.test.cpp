#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/detail/scheduler.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/posse/errors.hpp>

#include <caf/actor_system.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/replies_to.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/catch.hpp"

namespace {

using basal::posse::member;
using basal::posse::pure;

long fib(member& m, int n) {
  if (n < 2)
    return n;
  auto [a, b] = m.fork_merge([=](member& left) { return fib(left, n - 1); },
                             [=](member& right) { return fib(right, n - 2); });
  return a + b;
}
constexpr pure<fib> pure_fib{"fib"};

/// Whether it runs on an executor of `pool`.
bool runs_on(member& m, basal::executors::executor_pool* pool) {
  return &m.executor().pool() == pool;
}
constexpr pure<runs_on> pure_runs_on{"runs_on"};

/// Whether it runs on `caller`, a thread that is an executor for the time of the call.
bool runs_on_caller(member& m, std::thread::id caller) {
  return m.executor().pool().config().hosted && std::this_thread::get_id() == caller;
}
constexpr pure<runs_on_caller> pure_runs_on_caller{"runs_on_caller"};

int fail_at(member& m, int depth) {
  if (depth == 0)
    throw std::runtime_error("at the bottom");
  return m
    .fork_merge([=](member& left) { return fail_at(left, depth - 1); }, [](member&) { return 1; })
    .first;
}
constexpr pure<fail_at> pure_fail_at{"fail_at"};

constexpr long fib_25 = 75025;

struct fixture {
  basal::actor_system_config cfg;
  caf::actor_system system;
  caf::scoped_actor self{system};

  fixture() : system(configured(cfg)) {
  }

  static basal::actor_system_config& configured(basal::actor_system_config& cfg) {
    cfg.set("basal.message-executors", std::size_t{2});
    cfg.set("basal.compute-executors", std::size_t{2});
    return cfg;
  }

  basal::executors::executor_pool* messages() {
    return &basal::actors::scheduler::of(system)->messages();
  }

  basal::executors::executor_pool* compute() {
    return &basal::actors::scheduler::of(system)->compute().compute();
  }

  template <class Result, class Handle, class... Args>
  Result ask(const Handle& whom, const Args&... args) {
    Result result{};
    self->request(whom, caf::infinite, args...)
      .receive([&](const Result& x) { result = x; },
               [&](caf::error& err) { FAIL(system.render(err)); });
    return result;
  }
};

/// Output of this process, on stdout and stderr, while `body` runs.
std::string said_during(auto body) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::cout.flush();
  const int out = dup(STDOUT_FILENO);
  const int err = dup(STDERR_FILENO);
  dup2(fileno(file), STDOUT_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  body();
  std::cout.flush();
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  close(out);
  close(err);
  std::rewind(file);
  std::string said;
  for (int c = 0; (c = std::fgetc(file)) != EOF;)
    said += static_cast<char>(c);
  std::fclose(file);
  return said;
}

struct nothing {};

using typed = caf::typed_actor<caf::replies_to<int>::with<long>>;

typed::behavior_type typed_worker(typed::pointer self) {
  return {[self](int n) { return pure_fib(self, n); }};
}

class class_worker : public caf::event_based_actor {
public:
  using event_based_actor::event_based_actor;

  caf::behavior make_behavior() override {
    return {[this](int n) { return pure_fib(this, n); }};
  }
};

} // namespace

TEST_CASE_METHOD(fixture, "every kind of actor calls a pure function with its self") {
  auto plain = system.spawn([](caf::event_based_actor* me) -> caf::behavior {
    return {[me](int n) { return pure_fib(me, n); }};
  });
  CHECK(ask<long>(plain, 25) == fib_25);
  auto stateful = system.spawn([](caf::stateful_actor<nothing>* me) -> caf::behavior {
    return {[me](int n) { return pure_fib(me, n); }};
  });
  CHECK(ask<long>(stateful, 25) == fib_25);
  CHECK(ask<long>(system.spawn(typed_worker), 25) == fib_25);
  CHECK(ask<long>(system.spawn<class_worker>(), 25) == fib_25);
  auto detached = system.spawn<caf::detached>([](caf::event_based_actor* me) -> caf::behavior {
    return {[me](int n) { return pure_fib(me, n); }};
  });
  CHECK(ask<long>(detached, 25) == fib_25);
  auto blocking = system.spawn(
    [](caf::blocking_actor* me) { me->receive([me](int n) { return pure_fib(me, n); }); });
  CHECK(ask<long>(blocking, 25) == fib_25);
  CHECK(pure_fib(self, 25) == fib_25);
}

TEST_CASE_METHOD(fixture, "a handler's pure function runs on the handler's own executor") {
  auto where = [&](auto run) {
    return ask<bool>(system.spawn([run](caf::event_based_actor* me) -> caf::behavior {
      return {[me, run](int) { return run(me); }};
    }),
                     0);
  };
  CHECK(where([pool = messages()](caf::event_based_actor* me) {
    auto* here = basal::executors::executor::current();
    auto stayed = pure_runs_on(me, pool);
    return stayed && basal::executors::executor::current() == here;
  }));
  SECTION("unless it is offloaded, and then the handler goes on where it was") {
    CHECK(where([pool = compute()](caf::event_based_actor* me) {
      auto* here = basal::executors::executor::current();
      auto away = pure_runs_on.offload(me, pool);
      return away && basal::executors::executor::current() == here;
    }));
  }
}

TEST_CASE_METHOD(fixture, "on other threads it runs on these") {
  CHECK(pure_runs_on_caller(self, std::this_thread::get_id()));
  auto blocking = system.spawn([](caf::blocking_actor* me) {
    me->receive([&](int) { return pure_runs_on_caller(me, std::this_thread::get_id()); });
  });
  CHECK(ask<bool>(blocking, 0));
}

TEST_CASE_METHOD(fixture, "an exception of a pure function is its handler's") {
  auto worker = system.spawn([](caf::event_based_actor* me) -> caf::behavior {
    me->set_exception_handler([](std::exception_ptr& problem) -> caf::error {
      try {
        std::rethrow_exception(problem);
      } catch (const std::exception& what) {
        return caf::make_error(caf::sec::runtime_error, std::string{what.what()});
      }
    });
    return {[me](int depth) { return pure_fail_at(me, depth); }};
  });
  self->request(worker, caf::infinite, 10)
    .receive(
      [](int) { FAIL("it returned"); },
      [&](caf::error& err) { CHECK_THAT(system.render(err), ContainsSubstring("at the bottom")); });
}

TEST_CASE("a system that does not run on basal is told what to change") {
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  CHECK_THROWS_WITH(pure_fib(self, 3), ContainsSubstring("does not run on basal")
                                         && ContainsSubstring("basal::actor_system_config"));
}

namespace {

std::atomic<bool> endless_began{false};

void endless(member& m) {
  endless_began = true;
  for (;;)
    m.fork_merge([](member& k) { k.poll(); }, [](member&) {});
}
constexpr pure<endless> pure_endless{"endless"};

} // namespace

TEST_CASE("killing an actor ends the computation that its handler waits for, and the actor is "
          "killed") {
  for (bool offloaded : {false, true}) {
    caf::error reason;
    const auto said = said_during([&] {
      fixture f;
      endless_began = false;
      auto worker = f.system.spawn([offloaded](caf::event_based_actor* self) -> caf::behavior {
        return {[=](int) {
          if (offloaded)
            pure_endless.offload(self);
          else
            pure_endless(self);
        }};
      });
      f.self->monitor(worker);
      f.self->send(worker, 1);
      while (!endless_began)
        std::this_thread::yield();
      f.self->send_exit(worker, caf::exit_reason::kill);
      f.self->receive( // waits for ever if the computation goes on
        [&](const caf::down_msg& down) { reason = down.reason; });
      auto stats = basal::actors::scheduler::of(f.system)->compute().stats();
      CHECK(stats.cancelled == 1);
    });
    CHECK(reason == caf::exit_reason::kill);
    CHECK(said == "");
  }
}

TEST_CASE_METHOD(fixture, "what else a killed actor throws is its own handler's") {
  auto worker = system.spawn([](caf::event_based_actor* me) -> caf::behavior {
    me->set_exception_handler(
      [](std::exception_ptr&) -> caf::error { return caf::sec::bad_function_call; });
    return {[me](int) {
      try {
        pure_endless(me);
      } catch (const basal::posse::cancelled&) {
        throw std::runtime_error("another one");
      }
    }};
  });
  endless_began = false;
  self->monitor(worker);
  self->send(worker, 1);
  while (!endless_began)
    std::this_thread::yield();
  self->send_exit(worker, caf::exit_reason::kill);
  self->receive(
    [](const caf::down_msg& down) { CHECK(down.reason == caf::sec::bad_function_call); });
}
