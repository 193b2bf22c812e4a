#include "actors/adaptive_fixture.hpp"

#include <basal/actors/spawn_adaptive.hpp>
#include <basal/posse/errors.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using basal::mab::event;
using namespace adaptive_tests;
using basal::actors::adaptive_future;
using basal::actors::adaptive_scope;
using basal::actors::spawn_adaptive;
using caf::behavior;
using caf::event_based_actor;

TEST_CASE_METHOD(fixture, "a one-shot runs at once here, or on a compute executor meanwhile") {
  auto there = spawn_adaptive(
    system, [] { return here(); }, always_offload);
  CHECK(there.get() == compute());
  auto at_once = spawn_adaptive(
    system, [] { return here(); }, always_inline);
  CHECK(at_once.is_ready());
  CHECK(at_once.get() == nullptr);
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int) {
      auto away = spawn_adaptive(
        me, [] { return here(); }, always_offload);
      auto home = spawn_adaptive(
        me, [] { return here(); }, always_inline);
      const bool ready = home.is_ready();
      return ready && home.get() == messages() && away.get() == compute() ? 1 : 0;
    }};
  });
  CHECK(ask<int>(worker, 1) == 1);
}

TEST_CASE_METHOD(fixture, "a one-shot's value, exception or mere end comes out of get() once") {
  for (const auto& where : {always_inline, always_offload}) {
    auto value = spawn_adaptive(
      system, [x = std::make_unique<int>(3)]() mutable { return std::move(x); }, where);
    CHECK(*value.get() == 3);
    CHECK_FALSE(value.valid());
    CHECK_THROWS_AS(value.get(), std::logic_error);
    auto nothing = spawn_adaptive(
      system, [] {}, where);
    nothing.get();
    auto failure = spawn_adaptive(
      system, []() -> int { throw std::runtime_error("no luck"); }, where);
    CHECK_THROWS_WITH(failure.get(), "no luck");
    auto moved = std::move(value);
    CHECK_FALSE(moved.valid());
  }
}

TEST_CASE_METHOD(fixture, "a one-shot whose handle is let go runs nevertheless") {
  std::atomic<bool> ran{false};
  {
    auto ignored = spawn_adaptive(
      system,
      [&] {
        burn(std::chrono::milliseconds{1});
        ran.store(true);
        ran.notify_all();
      },
      always_offload);
  }
  ran.wait(false);
  CHECK(ran);
}

TEST_CASE_METHOD(fixture, "the next one-shot of a type knows what the one before has taught") {
  const auto slow = [&] {
    burn(std::chrono::milliseconds{3});
    return here() == compute();
  };
  const auto config = basal::actors::adaptive_actor_config{.name = "slow one"};
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int) { return spawn_adaptive(me, slow, config).get() ? 1 : 0; }};
  });
  CHECK(ask<int>(worker, 1) == 0); // nothing is known
  for (int i = 0; i < 3; ++i)
    CHECK(ask<int>(worker, 1) == 1);
  const auto counted = stats("slow one");
  CHECK(counted.counts[event::inline_decision] == 1);
  CHECK(counted.counts[event::offload_decision] == 3);
  CHECK(counted.counts[event::finished] == 4);
  CHECK(counted.counts[event::prior_adoption] == 3);
}

TEST_CASE_METHOD(fixture, "a scope ends after its functions, so they may borrow") {
  const auto sum = [&](auto* me, const auto& where) {
    std::vector<int> data(1000, 1);
    std::vector<int> sums(8);
    {
      adaptive_scope scope{me};
      for (auto& x : sums)
        scope.spawn(
          [&] {
            burn(std::chrono::microseconds{100});
            for (const int y : data)
              x += y;
          },
          where);
    }
    int all = 0;
    for (const int x : sums)
      all += x;
    return all;
  };
  for (const auto& where : {always_inline, always_offload}) {
    CHECK(sum(self.ptr(), where) == 8000);
    auto worker = system.spawn(
      [&](event_based_actor* me) -> behavior { return {[&, me](int) { return sum(me, where); }}; });
    CHECK(ask<int>(worker, 1) == 8000);
  }
}

TEST_CASE_METHOD(fixture, "a scoped actor spawns as others do") {
  CHECK(spawn_adaptive(
          self, [] { return here(); }, always_offload)
          .get()
        == compute());
  int ran = 0;
  {
    adaptive_scope scope{self};
    scope.spawn([&] { ++ran; }, always_offload);
  }
  CHECK(ran == 1);
}

TEST_CASE_METHOD(fixture,
                 "a scope ends after its functions also where it is left by an exception") {
  std::atomic<int> ended{0};
  const auto leave = [&] {
    adaptive_scope scope{system};
    auto failing = scope.spawn([&]() -> int { throw std::runtime_error("first"); }, always_offload);
    for (int i = 0; i < 4; ++i)
      scope.spawn(
        [&] {
          burn(std::chrono::milliseconds{1});
          ++ended;
        },
        always_offload);
    failing.get();
  };
  CHECK_THROWS_WITH(leave(), "first");
  CHECK(ended == 4);
}

TEST_CASE("one-shots that the system's end overtakes are cancelled, not forgotten") {
  std::vector<adaptive_future<int>> waiting;
  std::atomic<bool> begun{false};
  std::atomic<bool> go_on{false};
  {
    fixture f;
    waiting.push_back(spawn_adaptive(
      f.system,
      [&] {
        begun.store(true);
        begun.notify_all();
        while (!go_on.load())
          burn(std::chrono::microseconds{10});
        return 1;
      },
      always_offload));
    begun.wait(false);
    for (int i = 0; i < 5; ++i)
      waiting.push_back(spawn_adaptive(
        f.system, [] { return 2; }, always_offload));
    // They are accepted, and wait behind the first one; it ends when the system has begun to.
    f.system.spawn<caf::detached>([&go_on](event_based_actor* me) -> behavior {
      me->delayed_send(me, std::chrono::milliseconds{20}, 1);
      return {[&go_on, me](int) {
        go_on.store(true);
        me->quit();
      }};
    });
  }
  CHECK(waiting[0].get() == 1);
  int ran_or_cancelled = 0;
  for (std::size_t i = 1; i < waiting.size(); ++i) {
    try {
      ran_or_cancelled += waiting[i].get() == 2 ? 1 : 0;
    } catch (const basal::posse::cancelled&) {
      ++ran_or_cancelled;
    }
  }
  CHECK(ran_or_cancelled == 5);
}
