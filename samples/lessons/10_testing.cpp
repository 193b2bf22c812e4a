// Testing with CAF's deterministic fixture: the test lets actors handle one message at a time and
// moves the clock. Pure functions and offloaded ones run on the test's own thread.
#define CAF_SUITE lesson

#include <basal/actors/actors.hpp>

#include <caf/test/dsl.hpp>
#include <caf/test/unit_test_impl.hpp>

#include <chrono>
#include <string>

using namespace std::chrono_literals;

caf::behavior alarm_clock(caf::event_based_actor* self, caf::actor sleeper) {
  return {[=](int hours) {
    self->delayed_send(sleeper, std::chrono::hours{hours}, std::string{"wake up"});
    return basal::actors::offload(self, [=] { return 60 * hours; });
  }};
}

using fixture = test_coordinator_fixture<basal::actor_system_config>;

CAF_TEST_FIXTURE_SCOPE(alarm_clock_tests, fixture)

CAF_TEST(it says how many minutes there are and rings when they are over) {
  const auto testee = sys.spawn(alarm_clock, caf::actor{self});
  self->send(testee, 8);
  expect((int), from(self).to(testee).with(8));
  expect((int), from(testee).to(self).with(480));
  advance_time(7h);
  disallow((std::string), from(testee).to(self));
  advance_time(1h);
  expect((std::string), from(testee).to(self).with("wake up"));
}

CAF_TEST_FIXTURE_SCOPE_END()
