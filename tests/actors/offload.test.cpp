#include "actors/adaptive_fixture.hpp"

#include <basal/actors/offload.hpp>
#include <basal/posse/errors.hpp>

#include <caf/atom.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/logger.hpp>

#include <atomic>
#include <stdexcept>
#include <string>

using namespace adaptive_tests;
using basal::actors::offload;
using caf::behavior;
using caf::event_based_actor;

TEST_CASE_METHOD(fixture, "an offloaded function runs on a compute executor, its handler goes on "
                          "where it was") {
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int x) {
      auto* before = basal::executors::executor::current();
      auto* inside = offload(me, [] { return here(); });
      const bool back = basal::executors::executor::current() == before;
      return inside == compute() && back ? x : -1;
    }};
  });
  CHECK(ask<int>(worker, 7) == 7);
}

TEST_CASE_METHOD(fixture, "values, references, nothing and exceptions come back") {
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int x) {
      int runs = 0;
      offload(me, [&] { ++runs; });
      int& same = offload(me, [&]() -> int& { return x; });
      auto alone = offload(me, [&] { return std::make_unique<int>(runs); }); // not copyable
      std::string thrown;
      try {
        offload(me, []() -> int { throw std::runtime_error("lost"); });
      } catch (const std::runtime_error& what) {
        thrown = what.what();
      }
      return &same == &x && *alone == 1 && thrown == "lost" ? 1 : 0;
    }};
  });
  CHECK(ask<int>(worker, 1) == 1);
}

TEST_CASE_METHOD(fixture, "others are served while a function runs elsewhere") {
  std::atomic<bool> answered{false};
  auto slow = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int x) {
      // Ends only after the echo was served, by the only message executor.
      return offload(me, [&] {
        answered.wait(false);
        return x;
      });
    }};
  });
  auto echo = system.spawn([]() -> behavior { return {[](int x) { return x; }}; });
  auto pending = self->request(slow, patience, 5);
  CHECK(ask<int>(echo, 1) == 1);
  answered.store(true);
  answered.notify_all();
  pending.receive([](int x) { CHECK(x == 5); }, [&](caf::error& e) { FAIL(system.render(e)); });
}

TEST_CASE_METHOD(fixture,
                 "an offload within an offload runs right there: it cannot wait for itself") {
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int) {
      return offload(me,
                     [&, me] {
                       auto* outer = basal::executors::executor::current();
                       return offload(
                         me, [&] { return outer == basal::executors::executor::current(); });
                     })
               ? 1
               : 0;
    }};
  });
  CHECK(ask<int>(worker, 1) == 1);
}

TEST_CASE_METHOD(fixture, "from threads of their own, blocking actors offload as well") {
  CHECK(offload(self, [] { return here(); }) == compute());
  auto blocking = system.spawn([&](caf::blocking_actor* me) {
    me->receive([&](int) { return offload(me, [] { return here(); }) == compute() ? 1 : 0; });
  });
  CHECK(ask<int>(blocking, 1) == 1);
}

TEST_CASE("a system that ends with functions under way lets them end") {
  static std::atomic<int> ended{0};
  ended = 0;
  {
    fixture f{1, 1};
    for (int i = 0; i < 50; ++i) {
      auto worker = f.system.spawn([](event_based_actor* me) -> behavior {
        return {[me](int) {
          offload(me, [] { burn(std::chrono::microseconds{200}); });
          ++ended;
        }};
      });
      f.self->send(worker, 1);
    }
  }
  CHECK(ended == 50);
}

TEST_CASE("a system that does not wait for its actors does not wait for what has not begun") {
  static std::atomic<int> ran{0};
  static std::atomic<bool> begun{false};
  ran = 0;
  begun = false;
  constexpr int count = 1000; // ten seconds of work
  {
    fixture f{1, 1};
    for (int i = 0; i < count; ++i) {
      auto worker = f.system.spawn([](event_based_actor* me) -> behavior {
        return {[me](int) {
          offload(me, [] {
            begun.store(true);
            begun.notify_all();
            burn(std::chrono::milliseconds{10});
            ++ran;
          });
        }};
      });
      f.self->send(worker, 1);
    }
    begun.wait(false);
    f.system.await_actors_before_shutdown(false);
  }
  CHECK(ran >= 1);
  CHECK(ran < count);
}

TEST_CASE("what an offloaded function logs bears the name of its actor") {
  basal::actor_system_config cfg;
  cfg.set("logger.file-name", std::string{"/dev/null"});
  cfg.set("logger.file-verbosity", caf::atom("info"));
  cfg.set("logger.verbosity", caf::atom("info"));
  fixture::configured(cfg, 1, 1);
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  const auto name_here = [] { return caf::logger::current_logger()->thread_local_aid(); };
  auto worker = system.spawn([=](event_based_actor* me) -> behavior {
    return {[=](int) {
      const auto before = caf::logger::current_logger()->thread_local_aid(me->id());
      const auto there = offload(me, name_here);
      caf::logger::current_logger()->thread_local_aid(0);
      const auto nameless = offload(me, name_here);
      caf::logger::current_logger()->thread_local_aid(before);
      return there == me->id() && nameless == 0 ? 1 : 0;
    }};
  });
  self->request(worker, patience, 1)
    .receive([](int same) { CHECK(same == 1); }, [&](caf::error& e) { FAIL(system.render(e)); });
}
