#include <basal/actors/detail/clock.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/after.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/system_messages.hpp>

#include <chrono>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace std::chrono_literals;

namespace {

// On stock CAF: the clock under test is nobody's clock but the test's.
struct fixture {
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  basal::actors::clock clock;
  caf::scoped_actor self{system};

  fixture() {
    clock.start(system, false);
  }

  caf::strong_actor_ptr pointer() {
    return caf::actor_cast<caf::strong_actor_ptr>(self);
  }

  void schedule(std::chrono::milliseconds delay, int number) {
    schedule_at(clock.now() + delay, number);
  }

  void schedule_at(caf::actor_clock::time_point due, int number) {
    clock.schedule_message(due, pointer(),
                           caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, number));
  }

  std::vector<int> receive(int count) {
    std::vector<int> result;
    int received = 0;
    self->receive_for(received, count)([&](int number) { result.push_back(number); });
    return result;
  }

  bool nothing_comes() {
    bool silent = false;
    self->receive([&](int) {}, caf::after(30ms) >> [&] { silent = true; });
    return silent;
  }
};

} // namespace

TEST_CASE_METHOD(fixture, "a clock delivers in the order of the times") {
  // All from one moment, and far enough off for a machine that runs others between two of them.
  const auto start = clock.now();
  for (int i : {300, 260, 290, 270, 280})
    schedule_at(start + std::chrono::milliseconds{i}, i);
  schedule(0ms, 0);
  CHECK(receive(6) == std::vector<int>{0, 260, 270, 280, 290, 300});
  CHECK(clock.pending() == 0);
}

TEST_CASE_METHOD(fixture, "a clock delivers at or after the time, and at once what is late") {
  const auto due = clock.now() + 20ms;
  schedule(20ms, 1);
  CHECK(receive(1) == std::vector<int>{1});
  CHECK(clock.now() >= due);
  schedule(-1h, 2);
  CHECK(receive(1) == std::vector<int>{2});
}

TEST_CASE_METHOD(fixture, "what is set later and due earlier comes first") {
  schedule(10h, 3);
  schedule(200ms, 2);
  schedule(1ms, 1);
  CHECK(receive(2) == std::vector<int>{1, 2});
  CHECK(clock.pending() == 1);
}

TEST_CASE_METHOD(fixture, "timeouts reach their actor as CAF's own clock sends them") {
  constexpr auto type = caf::atom("type");
  clock.set_ordinary_timeout(clock.now() + 1ms, self.ptr(), type, 7);
  self->receive([&](const caf::timeout_msg& msg) {
    CHECK(msg.type == type);
    CHECK(msg.timeout_id == 7);
  });
  clock.set_multi_timeout(clock.now() + 1ms, self.ptr(), type, 8);
  clock.set_multi_timeout(clock.now() + 2ms, self.ptr(), type, 9);
  for (std::uint64_t id : {8, 9})
    self->receive([&](const caf::timeout_msg& msg) { CHECK(msg.timeout_id == id); });
  auto id = self->new_request_id(caf::message_priority::normal).response_id();
  clock.set_request_timeout(clock.now() + 1ms, self.ptr(), id);
  bool told = false;
  caf::behavior expected{[&](const caf::error& err) { told = err == caf::sec::request_timeout; }};
  self->varargs_receive(*std::make_unique<caf::blocking_actor::accept_one_cond>(), id, expected);
  CHECK(told);
}

TEST_CASE_METHOD(fixture, "a cancelled timeout does not come") {
  constexpr auto type = caf::atom("type");
  const auto soon = clock.now() + 100ms; // later than it takes to cancel, on any machine
  clock.set_ordinary_timeout(soon, self.ptr(), type, 1);
  clock.set_request_timeout(soon, self.ptr(), caf::make_message_id(2).response_id());
  clock.cancel_ordinary_timeout(self.ptr(), type);
  clock.cancel_request_timeout(self.ptr(), caf::make_message_id(2).response_id());
  clock.set_ordinary_timeout(soon, self.ptr(), type, 3);
  clock.set_multi_timeout(soon, self.ptr(), type, 4);
  clock.cancel_timeouts(self.ptr());
  schedule_at(soon, 5);
  clock.cancel_all();
  CHECK(clock.pending() == 0);
  self->receive([](const caf::timeout_msg&) { FAIL("a cancelled timeout came"); },
                [](int) { FAIL("a cancelled message came"); }, caf::after(130ms) >> [] {});
}

TEST_CASE_METHOD(fixture, "a stopped clock has released everything and takes nothing more") {
  const auto target = pointer();
  const auto before = target->strong_refs.load();
  constexpr int many = 100'000;
  for (int i = 0; i < many; ++i) {
    schedule(1h + std::chrono::milliseconds{i % 1000}, i);
    clock.set_request_timeout(clock.now() + 1h, self.ptr(),
                              caf::make_message_id(static_cast<std::uint64_t>(i + 1)));
  }
  CHECK(clock.pending() == 2 * many);
  CHECK(target->strong_refs.load() == before + 2 * many);
  clock.stop();
  CHECK(clock.pending() == 0);
  CHECK(target->strong_refs.load() == before);
  schedule(0ms, 1);
  clock.set_ordinary_timeout(clock.now(), self.ptr(), caf::atom("type"), 1);
  CHECK(clock.pending() == 0);
  CHECK(target->strong_refs.load() == before);
  CHECK(nothing_comes());
  clock.stop();
}

TEST_CASE_METHOD(fixture, "dropping the last reference to an actor does not deadlock the clock") {
  // Its destructor runs the clean-up, which cancels its timeouts in the clock that drops it.
  struct dying : caf::event_based_actor {
    dying(caf::actor_config& config, basal::actors::clock* its_clock)
      : event_based_actor(config), clock(its_clock) {
    }

    caf::behavior make_behavior() override {
      return {[](int) {}};
    }

    void on_exit() override {
      clock->cancel_timeouts(this);
    }

    basal::actors::clock* clock;
  };
  {
    auto last = system.spawn<dying, caf::lazy_init>(&clock);
    auto* raw = caf::actor_cast<caf::abstract_actor*>(last);
    clock.set_ordinary_timeout(clock.now() + 1h, raw, caf::atom("type"), 1);
    clock.set_ordinary_timeout(clock.now() + 1h, raw, caf::atom("type"), 2); // replaces
    clock.set_multi_timeout(clock.now() + 1h, raw, caf::atom("type"), 3);
  }
  CHECK(clock.pending() == 2);
  clock.cancel_all();
  CHECK(clock.pending() == 0);
}
