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
#include <string>

using namespace basal;

namespace {

using address = std::uint64_t;

address kind_of(caf::event_based_actor* self) {
  return reinterpret_cast<address>(actors::handler_kind(*self));
}

/// Answers with what handler_kind() is where a number is the next message, or a text.
caf::behavior tells(caf::event_based_actor* self) {
  const auto before = kind_of(self);
  return {[=](bool is_number) {
            if (is_number)
              self->send(self, std::int64_t{1});
            else
              self->send(self, std::string{"text"});
            return kind_of(self);
          },
          [](std::int64_t) {}, [](const std::string&) {}, [=](double) { return before; }};
}

caf::behavior tells_too(caf::event_based_actor* self) {
  return {[=](bool) {
            self->send(self, std::int64_t{1});
            return kind_of(self);
          },
          [](std::int64_t) {}};
}

template <class Question>
address ask(caf::scoped_actor& self, const caf::actor& whom, Question question) {
  address result = 0;
  self->request(whom, caf::infinite, question)
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

TEST_CASE("actors that were made by the same function handle messages of the same types alike") {
  actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  const auto one = system.spawn(tells);
  const auto of_number = ask(self, one, true);
  CHECK(of_number != 0);
  CHECK(ask(self, system.spawn(tells), true) == of_number);
  CHECK(ask(self, one, false) != of_number);
  CHECK(ask(self, system.spawn(tells_too), true) != of_number);
  CHECK(ask(self, one, 1.0) == 0); // before it had any
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
