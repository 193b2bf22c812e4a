// Turns that are timed: what tells handlers apart, and how many messages they are given.

#include "turn_counts.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/executors/executor_pool.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/resumable.hpp>
#include <caf/scoped_actor.hpp>

#include "executors/closure_task.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>

using namespace basal;

namespace {

using address = std::uint64_t;

address kind_of(caf::event_based_actor* self) {
  return reinterpret_cast<address>(actors::handler_kind(*self));
}

caf::behavior doubles(caf::event_based_actor* self) {
  const auto before = kind_of(self);
  return {[=](bool now) { return now ? kind_of(self) : before; }};
}

caf::behavior counts(caf::event_based_actor* self) {
  return {[=](bool) { return kind_of(self); }};
}

address ask(caf::scoped_actor& self, const caf::actor& whom, bool now) {
  address result = 0;
  self->request(whom, caf::infinite, now)
    .receive([&](address a) { result = a; }, [](const caf::error&) { FAIL("no answer"); });
  return result;
}

/// No actor.
struct job final : caf::resumable {
  resume_result resume(caf::execution_unit*, std::size_t) override {
    return done;
  }
  void intrusive_ptr_add_ref_impl() override {
  }
  void intrusive_ptr_release_impl() override {
  }
};

} // namespace

TEST_CASE("actors that were made by the same function have handlers of one kind") {
  actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  const auto one = system.spawn(doubles);
  const auto kind = ask(self, one, true);
  CHECK(kind != 0);
  CHECK(ask(self, system.spawn(doubles), true) == kind);
  CHECK(ask(self, system.spawn(counts), true) != kind);
  CHECK(ask(self, one, false) == 0); // before it had any
}

TEST_CASE("what is no actor has no handlers") {
  job j;
  CHECK(actors::handler_kind(j) == nullptr);
}

TEST_CASE("a turn that is timed is given few messages at once beside those it has handled") {
  executors::pool_config config;
  config.executors = 2;
  config.simulate = {.ticks = []() noexcept { return std::uint64_t{1}; }, .stepped = true};
  config.newest_ops = &task::ops;
  executors::executor_pool pool{config};
  REQUIRE(pool.submit(task::make([](executors::executor& here) {
    job j;
    actors::timed_turn turn{here, j};
    CHECK(turn.limit(100) == 2);
    turn.handled(2);
    CHECK(turn.limit(100) == 2);
    turn.handled(38);
    CHECK(turn.limit(100) == 10);
    CHECK(turn.limit(5) == 5);
    turn.over(false);
  })));
  pool.run_until_idle();
}
