// Whatever a handler may do, it may do it wherever it runs.

#include "actors/adaptive_fixture.hpp"

#include <basal/actors/run_pure.hpp>
#include <basal/actors/spawn_adaptive.hpp>
#include <basal/executors/detail/fiber.hpp>
#include <basal/executors/detail/stopwatch.hpp>

#include <caf/blocking_actor.hpp>
#include <caf/replies_to.hpp>
#include <caf/response_promise.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using basal::mab::event;
using namespace adaptive_tests;
using basal::actors::adaptive;
using basal::actors::adaptive_actor_config;
using basal::actors::inline_only;
using basal::mab::compute_hint;
using caf::behavior;
using caf::event_based_actor;

namespace {

using get_atom = caf::get_atom;
using typed = caf::typed_actor<caf::replies_to<int>::with<int>>;

/// The side on which a test's handlers are to run, and a check that they do.
struct place {
  const adaptive_actor_config* config;
  bool offloaded;

  /// 1 if the caller is where it ought to be.
  int here_is_right(fixture& f) const {
    return here() == (offloaded ? f.compute() : f.messages()) ? 1 : 0;
  }
};

const place places[] = {{&always_inline, false}, {&always_offload, true}};

struct history {
  std::vector<int> seen;
};

struct slow_message {
  int value = 0;
};

compute_hint compute_hint_of(const slow_message&) noexcept {
  return compute_hint::high;
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, slow_message& x) {
  return f(x.value);
}

long fib(basal::posse::member& m, int n) {
  if (n < 2)
    return n;
  auto [a, b] = m.fork_merge([=](auto& left) { return fib(left, n - 1); },
                             [=](auto& right) { return fib(right, n - 2); });
  return a + b;
}
constexpr basal::posse::pure<fib> pure_fib{"fib"};

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(slow_message)

TEST_CASE_METHOD(fixture, "event-based, stateful and typed actors reply as without the wrapper") {
  for (const auto& where : places) {
    auto plain = system.spawn([&](event_based_actor* me) -> behavior {
      return {adaptive(
        me, [&, where](int x) { return 10 * x + where.here_is_right(*this); }, *where.config)};
    });
    CHECK(ask<int>(plain, 4) == 41);
    auto stateful = system.spawn([&](caf::stateful_actor<history>* me) -> behavior {
      return {adaptive(
                me,
                [&, where, me](int x) {
                  me->state.seen.push_back(x);
                  return where.here_is_right(*this);
                },
                *where.config),
              [me](get_atom) { return me->state.seen; }};
    });
    CHECK(ask<int>(stateful, 1) == 1);
    CHECK(ask<int>(stateful, 2) == 1);
    CHECK(ask<std::vector<int>>(stateful, get_atom::value) == std::vector<int>{1, 2});
    auto strict = system.spawn([&](typed::pointer me) -> typed::behavior_type {
      return {adaptive(
        me, [&, where](int x) { return 10 * x + where.here_is_right(*this); }, *where.config)};
    });
    CHECK(ask<int>(strict, 5) == 51);
  }
}

TEST_CASE_METHOD(fixture, "a handler may change its message and take parts of it by value") {
  for (const auto& where : places) {
    auto worker = system.spawn([&](event_based_actor* me) -> behavior {
      return {adaptive(
        me,
        [](std::string& text, std::vector<int> numbers) {
          text += "!";
          numbers.push_back(0);
          return text + std::to_string(numbers.size());
        },
        *where.config)};
    });
    const auto sent = caf::make_message(std::string{"shout"}, std::vector<int>{1, 2});
    std::string answer;
    self->request(worker, patience, sent)
      .receive([&](const std::string& x) { answer = x; },
               [&](caf::error& err) { FAIL(system.render(err)); });
    CHECK(answer == "shout!3");
    CHECK(sent.get_as<std::string>(0) == "shout"); // shared, so copied before it was changed
  }
}

TEST_CASE_METHOD(fixture, "a promise is kept later, and a request delegated") {
  for (const auto& where : places) {
    auto doubler = system.spawn([]() -> behavior { return {[](int x) { return 2 * x; }}; });
    auto worker = system.spawn([&](event_based_actor* me) -> behavior {
      return {
        // Its answer comes from the handler of another answer.
        adaptive(
          me,
          [me, doubler](int x) {
            auto promise = me->make_response_promise<int>();
            me->request(doubler, caf::infinite, x).then([promise](int y) mutable {
              promise.deliver(y + 1);
            });
            return promise;
          },
          *where.config),
        adaptive(
          me,
          [me, doubler](const std::string& text) {
            return me->delegate(doubler, static_cast<int>(text.size()));
          },
          *where.config),
        // And this one from the handler that awaits.
        adaptive(
          me,
          [me, doubler](double x) {
            auto promise = me->make_response_promise();
            me->request(doubler, caf::infinite, static_cast<int>(x))
              .await([promise](int y) mutable { promise.deliver(y + 2); });
          },
          *where.config),
        adaptive(
          me, [](get_atom) -> caf::result<int> { return caf::sec::bad_function_call; },
          *where.config),
      };
    });
    CHECK(ask<int>(worker, 20) == 41);
    CHECK(ask<int>(worker, std::string{"seven.."}) == 14);
    CHECK(ask<int>(worker, 3.0) == 8);
    CHECK(ask_error(worker, get_atom::value) == caf::sec::bad_function_call);
  }
}

TEST_CASE_METHOD(fixture, "answers to requests may be handled adaptively, too") {
  for (const auto& where : places) {
    auto doubler = system.spawn([]() -> behavior { return {[](int x) { return 2 * x; }}; });
    auto worker = system.spawn([&](event_based_actor* me) -> behavior {
      return {[&, me, doubler, where](int x) {
        auto promise = me->make_response_promise<int>();
        me->request(doubler, caf::infinite, x)
          .then(adaptive(
            me,
            [&, promise, where](int y) mutable {
              promise.deliver(10 * y + where.here_is_right(*this));
            },
            *where.config));
        return promise;
      }};
    });
    CHECK(ask<int>(worker, 2) == 41);
  }
}

TEST_CASE_METHOD(fixture, "what a handler sends, spawns and becomes is as if it ran inline") {
  for (const auto& where : places) {
    auto worker = system.spawn([&](event_based_actor* me) -> behavior {
      return {adaptive(
        me,
        [me](int x) {
          me->send(caf::actor_cast<caf::actor>(me->current_sender()), x + 1);
          auto child = me->spawn([](event_based_actor* it) -> behavior {
            return {[it](int y) {
              it->quit();
              return y + 2;
            }};
          });
          me->become([me, child](const std::string&) { return me->delegate(child, 40); });
        },
        *where.config)};
    });
    self->send(worker, 1);
    int sent = 0;
    self->receive([&](int x) { sent = x; }, caf::after(patience) >> [] { FAIL("no message"); });
    CHECK(sent == 2);
    CHECK(ask<int>(worker, std::string{"now something else"}) == 42);
  }
}

TEST_CASE_METHOD(fixture, "an exception is the actor's end, and its outcome is counted") {
  for (const auto& where : places) {
    auto config = *where.config;
    config.name = where.offloaded ? "thrower away" : "thrower here";
    auto worker = system.spawn([&](event_based_actor* me) -> behavior {
      me->set_exception_handler([](std::exception_ptr& problem) -> caf::error {
        try {
          std::rethrow_exception(problem);
        } catch (const std::exception& what) {
          return caf::make_error(caf::sec::runtime_error, std::string{what.what()});
        }
      });
      return {adaptive(
        me, [](int) -> int { throw std::runtime_error("out of paper"); }, config)};
    });
    CHECK_THAT(system.render(ask_error(worker, 1)), ContainsSubstring("out of paper"));
    self->wait_for(worker);
    const auto counted = stats(config.name);
    CHECK(counted.counts[event::finished] == 1);
    CHECK(counted.counts[event::abandoned] == 0);
    CHECK(counted.counts[event::offload_decision] == (where.offloaded ? 1 : 0));
  }
}

TEST_CASE_METHOD(fixture,
                 "a handler that quits ends its actor, and one that is killed ends first") {
  for (const auto& where : places) {
    auto worker = system.spawn([&](event_based_actor* me) -> behavior {
      return {adaptive(
        me,
        [me](int x) {
          me->quit(caf::exit_reason::remote_link_unreachable);
          return x;
        },
        *where.config)};
    });
    self->monitor(worker);
    CHECK(ask<int>(worker, 3) == 3);
    self->receive(
      [](const caf::down_msg& m) { CHECK(m.reason == caf::exit_reason::remote_link_unreachable); });
    bool ended = false;
    auto killed = system.spawn([&](event_based_actor* me) -> behavior {
      return {adaptive(
        me,
        [&, me](int) {
          me->send_exit(me, caf::exit_reason::kill);
          burn(std::chrono::milliseconds{1});
          ended = true;
        },
        *where.config)};
    });
    self->send(killed, 1);
    self->wait_for(killed);
    CHECK(ended);
  }
}

TEST_CASE_METHOD(fixture, "messages of one actor are handled one after the other, in order") {
  for (const auto& where : places) {
    auto worker = system.spawn([&](caf::stateful_actor<history>* me) -> behavior {
      return {adaptive(
                me,
                [me](int x) {
                  if (x % 7 == 0)
                    burn(std::chrono::microseconds{50});
                  me->state.seen.push_back(x);
                },
                *where.config),
              [me](get_atom) { return me->state.seen; }};
    });
    std::vector<int> expected;
    for (int i = 0; i < 300; ++i) {
      self->send(worker, i);
      expected.push_back(i);
    }
    CHECK(ask<std::vector<int>>(worker, get_atom::value) == expected);
  }
}

TEST_CASE_METHOD(fixture, "an offloaded handler may fork, and what it forks counts for it") {
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    auto compute = adaptive(
      me, [me](int n) { return pure_fib(me, n); }, always_offload);
    return {compute, [compute](get_atom) {
              return std::exp(compute.chooser().believed().function_belief().mean());
            }};
  });
  CHECK(ask<long>(worker, 24) == 46368);
  CHECK(ask<double>(worker, get_atom::value) > 10); // us; 46368 additions at the least
}

TEST_CASE_METHOD(fixture, "on threads of its own, a handler just runs") {
  auto detached = system.spawn<caf::detached>([](event_based_actor* me) -> behavior {
    return {adaptive(
      me, [](int) { return here() == nullptr ? 1 : 0; }, always_offload)};
  });
  CHECK(ask<int>(detached, 1) == 1);
  auto blocking = system.spawn([](caf::blocking_actor* me) {
    me->receive(adaptive(
      me, [](int) { return here() == nullptr ? 1 : 0; }, always_offload));
  });
  CHECK(ask<int>(blocking, 1) == 1);
}

TEST_CASE_METHOD(fixture, "an adaptive handler that calls another one keeps its place") {
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    auto inner = adaptive(
      me, [&](int) { return here() == compute() ? 1 : 0; }, always_inline);
    return {adaptive(
      me, [inner](int x) mutable { return inner(x); }, always_offload)};
  });
  CHECK(ask<int>(worker, 1) == 1);
}

TEST_CASE_METHOD(fixture, "inline_only handlers stay, and are counted if they are asked to") {
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {inline_only([&](int) {
              burn(std::chrono::milliseconds{1});
              return here() == messages() ? 1 : 0;
            }),
            adaptive(me, inline_only([&](double) {
                       burn(std::chrono::milliseconds{1});
                       return here() == messages() ? 1 : 0;
                     }),
                     {.name = "annotated"})};
  });
  for (int i = 0; i < 4; ++i) {
    CHECK(ask<int>(worker, 1) == 1);
    CHECK(ask<int>(worker, 1.0) == 1);
  }
  const auto counted = stats("annotated");
  CHECK(counted.counts[event::inline_decision] == 4);
  CHECK(counted.counts[event::offload_decision] == 0);
  CHECK(counted.function_time.typical_ns >= 1'000'000);
}

TEST_CASE_METHOD(fixture, "hints come from the message type and from the configuration") {
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {adaptive(me, [&](const slow_message&) { return here() == compute() ? 1 : 0; },
                     {.name = "by type"}),
            adaptive(me, [&](double) { return here() == compute() ? 1 : 0; },
                     {.name = "by configuration", .hint = compute_hint::high}),
            adaptive(me, [&](int) { return here() == compute() ? 1 : 0; }, {.name = "without"})};
  });
  CHECK(ask<int>(worker, slow_message{}) == 1);
  CHECK(ask<int>(worker, 1.0) == 1);
  CHECK(ask<int>(worker, 1) == 0); // the first one, of which nothing is known
  CHECK(stats("by type").counts[event::hint_offload] == 1);
  CHECK(stats("by configuration").counts[event::hint_offload] == 1);
  CHECK(stats("without").counts[event::cold_start] == 1);
}

TEST_CASE_METHOD(fixture, "a new actor starts from what others of its type have learned") {
  auto slow = [&](event_based_actor* me) -> behavior {
    return {adaptive(me, [&](int) {
      burn(std::chrono::milliseconds{3});
      return here() == compute() ? 1 : 0;
    })};
  };
  CHECK(ask<int>(system.spawn(slow), 1) == 0);
  for (int i = 0; i < 5; ++i)
    CHECK(ask<int>(system.spawn(slow), 1) == 1);
}

TEST_CASE_METHOD(fixture, "an actor's first run is measured as its family's cost asks for") {
  using precision = basal::executors::stopwatch::precision;
  const auto measured_by
    = [] { return basal::executors::executor::current()->running().watch()->measures_by(); };
  const auto of_cost = [&](std::chrono::microseconds cost) {
    return [&measured_by, cost](event_based_actor* me) -> behavior {
      return {adaptive(me,
                       [&measured_by, cost](int) {
                         burn(cost);
                         return measured_by() == precision::ticks ? 1 : 0;
                       },
                       {.name = std::to_string(cost.count())})};
    };
  };
  CHECK_FALSE(messages()->keeps_own_time());
  const auto brief = of_cost(std::chrono::microseconds{0});
  CHECK(ask<int>(system.spawn(brief), 1) == 0); // nothing is known
  CHECK(messages()->keeps_own_time());
  // The first of them may have waited for its CPU. After sixteen, new ones have no chooser.
  const auto is_by_ticks_soon = [&](auto is_by_ticks) {
    for (int i = 0; i < 14; ++i)
      if (is_by_ticks())
        return true;
    return false;
  };
  CHECK(is_by_ticks_soon([&] { return ask<int>(system.spawn(brief), 1) == 1; }));
  const auto slow = of_cost(std::chrono::microseconds{200});
  CHECK(ask<int>(system.spawn(slow), 1) == 0);
  CHECK(ask<int>(system.spawn(slow), 1) == 0);
  const auto one_shot_by
    = [&] { return basal::actors::spawn_adaptive(system, [&] { return measured_by(); }).get(); };
  auto worker = system.spawn([&](event_based_actor*) -> behavior {
    return {[&](int) { return one_shot_by() == precision::ticks ? 1 : 0; }};
  });
  CHECK(ask<int>(worker, 1) == 0);
  CHECK(is_by_ticks_soon([&] { return ask<int>(worker, 1) == 1; }));
}

TEST_CASE_METHOD(fixture, "an actor with knobs of its own learns by itself") {
  auto knobs = basal::actors::knobs_of(system);
  knobs.t_block_hard_us = 1e6;
  knobs.t_strike_us = 1e6;
  knobs.k_starve = 0; // nothing is too long for it
  knobs.p_high = 1e5;
  knobs.p_low = 1e5;
  knobs.t_tiny_inline_us = 1e4;
  knobs.t_inline_under_pressure_us = 1e5;
  auto patient = system.spawn([&](event_based_actor* me) -> behavior {
    return {adaptive(me,
                     [&](int) {
                       burn(std::chrono::milliseconds{3});
                       return here() == messages() ? 1 : 0;
                     },
                     {.knobs = knobs})};
  });
  for (int i = 0; i < 3; ++i)
    CHECK(ask<int>(patient, 1) == 1);
}

TEST_CASE_METHOD(fixture, "knobs out of their range are refused where they are given") {
  std::string refusal;
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    adaptive_actor_config config;
    config.knobs.emplace().decay = 1.5;
    try {
      adaptive(
        me, [](int) {}, config);
    } catch (const std::invalid_argument& what) {
      refusal = what.what();
    }
    return {[](int x) { return x; }};
  });
  CHECK(ask<int>(worker, 1) == 1);
  CHECK_THAT(refusal,
             ContainsSubstring("decay is 1.5") && ContainsSubstring("above 0 and below 1"));
}

TEST_CASE_METHOD(fixture, "a handler explains its newest decision, and the system all of them") {
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    auto handler
      = adaptive(me, [](int) { burn(std::chrono::milliseconds{2}); }, {.name = "shop/order"});
    return {handler, [handler](get_atom) { return handler.explain(); }};
  });
  CHECK_THAT(ask<std::string>(worker, get_atom::value), ContainsSubstring("no decision yet"));
  self->send(worker, 1);
  CHECK_THAT(ask<std::string>(worker, get_atom::value),
             ContainsSubstring("shop/order: inline, because nothing is known"));
  self->send(worker, 2);
  const auto why = ask<std::string>(worker, get_atom::value);
  CHECK_THAT(why, ContainsSubstring("shop/order: offload, because guardrail GR")
                    && ContainsSubstring("1 inline, 1 offloads"));
  CHECK_THAT(explain(stats("shop/order")), ContainsSubstring("1 inline, 1 offloads"));
}

TEST_CASE_METHOD(fixture, "handlers that nobody named are named after their actor and message") {
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {adaptive(me, [](int x, const std::vector<int>&) { return x; })};
  });
  CHECK(ask<int>(worker, 1, std::vector<int>{}) == 1);
  bool found = false;
  for (const auto& x : basal::actors::chooser_stats_of(system))
    found = found || x.name.find("/int, std::vector<int") != std::string::npos;
  CHECK(found);
}

TEST_CASE("a system that does not run on basal is told what to change") {
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  CHECK_THROWS_WITH(adaptive(self.ptr(), [](int) {}),
                    ContainsSubstring("does not run on basal")
                      && ContainsSubstring("basal::actor_system_config"));
}
