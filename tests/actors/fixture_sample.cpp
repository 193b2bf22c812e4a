// How actors on basal are tested with CAF's deterministic fixture: as on stock CAF, the test lets
// actors handle one message at a time and moves the clock, all on one thread. The fixture's
// configuration is the program's own, which derives from basal's.

#define CAF_SUITE fixture_sample

#include <basal/actors/actors.hpp>
#include <basal/posse/posse.hpp>

#include <caf/test/dsl.hpp>
#include <caf/test/unit_test_impl.hpp>

#include <numeric>
#include <string>
#include <thread>
#include <vector>

using basal::posse::member;

struct program_config : basal::actor_system_config {
  std::string unit = "apples";

  program_config() {
    opt_group{custom_options_, "shop"}.add(unit, "unit", "what is counted");
  }
};

long fib(member& m, int n) {
  if (n < 2)
    return n;
  auto [a, b] = m.fork_merge([=](member& left) { return fib(left, n - 1); },
                             [=](member& right) { return fib(right, n - 2); });
  return a + b;
}
inline constexpr basal::posse::pure<fib> pure_fib{"fib"};

using tick_atom = caf::atom_constant<caf::atom("tick")>;

// Pure functions, adaptive handlers, functions that run elsewhere, and time.
caf::behavior shop(caf::event_based_actor* self, caf::actor log) {
  return {
    [=](int n) { return pure_fib(self, n); },
    basal::actors::adaptive(self,
                            [=](const std::string& order) {
                              self->send(log, order);
                              return pure_fib.offload(self, 10);
                            }),
    [=](std::vector<int> prices) {
      const auto on = std::this_thread::get_id();
      const auto sum = basal::actors::offload(self, [&] {
        CAF_CHECK(on == std::this_thread::get_id());
        return std::accumulate(prices.begin(), prices.end(), 0);
      });
      self->send(log, "sum " + std::to_string(sum));
    },
    [=](tick_atom) { self->delayed_send(log, std::chrono::hours{24}, std::string{"a day"}); },
  };
}

using fixture = test_coordinator_fixture<program_config>;

CAF_TEST_FIXTURE_SCOPE(shop_tests, fixture)

CAF_TEST(a pure function runs where its message is handled) {
  auto testee = sys.spawn(shop, caf::actor{self});
  self->send(testee, 20);
  expect((int), from(self).to(testee).with(20));
  expect((long), from(testee).to(self).with(6765l));
}

CAF_TEST(an adaptive handler and an offloaded function have ended when the message is handled) {
  auto testee = sys.spawn(shop, caf::actor{self});
  self->send(testee, std::string{"pear"});
  expect((std::string), from(self).to(testee).with("pear"));
  expect((std::string), from(testee).to(self).with("pear"));
  expect((long), from(testee).to(self).with(55l));
  self->send(testee, std::vector{1, 2, 3});
  expect((std::vector<int>), from(self).to(testee).with(_));
  expect((std::string), from(testee).to(self).with("sum 6"));
}

CAF_TEST(time passes when the test says so) {
  auto testee = sys.spawn(shop, caf::actor{self});
  inject((tick_atom), from(self).to(testee).with(tick_atom::value));
  CAF_CHECK(!sched.has_job());
  advance_time(std::chrono::hours{24});
  expect((std::string), from(testee).to(self).with("a day"));
}

CAF_TEST(a handler that waits for an answer has it when its message is handled) {
  auto twice = sys.spawn([]() -> caf::behavior { return {[](int x) { return 2 * x; }}; });
  auto silent = sys.spawn([](caf::event_based_actor* me) -> caf::behavior {
    return {[me](int) { return me->make_response_promise(); }};
  });
  auto asker = sys.spawn([=](caf::event_based_actor* me) -> caf::behavior {
    return {[=](const caf::actor& other) -> caf::result<int> {
      auto first = basal::actors::get<int>(me, other, caf::infinite, 3);
      if (!first)
        return first.error();
      auto second = basal::actors::get<int>(me, other, caf::infinite, *first);
      return *second;
    }};
  });
  self->send(asker, twice);
  expect((caf::actor), from(self).to(asker).with(twice));
  expect((int), from(asker).to(self).with(12));
  self->send(asker, silent); // nobody has anything left to do: as if the time was over
  expect((caf::actor), from(self).to(asker).with(silent));
  expect((caf::error), from(asker).to(self).with(caf::make_error(caf::sec::request_timeout)));
}

CAF_TEST(futures and statistics) {
  auto sum = basal::actors::spawn_adaptive(sys, [] { return 3 + 4; });
  CAF_CHECK(sum.is_ready());
  CAF_CHECK_EQUAL(sum.get(), 7);
  auto testee = sys.spawn(shop, caf::actor{self});
  self->send(testee, 20);
  run();
  self->receive([](long x) { CAF_CHECK_EQUAL(x, 6765); });
  self->send(caf::actor_cast<caf::actor>(sys.spawn(basal::actors::monitor)), caf::get_atom::value);
  run();
  self->receive([](const basal::actors::system_stats& stats) {
    CAF_CHECK_EQUAL(stats.posse.computations, 1u);
  });
  CAF_CHECK_EQUAL(cfg.unit, "apples");
}

CAF_TEST_FIXTURE_SCOPE_END()
