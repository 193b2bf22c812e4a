// Handlers of a microsecond, most of whose messages no chooser is asked about: what is counted,
// learned and forbidden is as if one were.

#include "actors/adaptive_fixture.hpp"

#include <basal/actors/spawn_adaptive.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using basal::mab::event;
using namespace adaptive_tests;
using caf::behavior;
using caf::event_based_actor;

namespace {

using end = caf::atom_constant<caf::atom("end")>;

constexpr int message_count = 2000;

/// State of an actor's chooser after all messages.
struct counted {
  basal::mab::stats counters;
  std::string explained;
  double strikes = 0;
};

// On a busy machine the chooser may learn to grant nothing; always_inline always grants some.
basal::actors::adaptive_actor_config any_config() {
  return GENERATE(basal::actors::adaptive_actor_config{}, always_inline);
}

template <class Handler>
counted after_many(fixture& f, basal::actors::adaptive_actor_config config, Handler handler) {
  config.name = "tiny";
  counted result;
  auto worker = f.system.spawn([&](event_based_actor* me) -> behavior {
    me->set_exception_handler([](std::exception_ptr&) -> caf::error { return caf::sec::none; });
    auto wrapped = basal::actors::adaptive(me, handler, config);
    return {wrapped, [&result, wrapped, me](end) {
              const auto& chooser = wrapped.chooser();
              result = {chooser.counters(), wrapped.explain(), chooser.strikes()};
              me->quit();
            }};
  });
  for (int i = 0; i < message_count; ++i)
    f.self->send(worker, i);
  f.self->send(worker, end::value);
  f.self->wait_for(worker);
  return result;
}

/// An actor of the family "tiny", which ends with its first message.
struct one_message {
  std::string explained;
  basal::mab::stats counters;
};

template <class Handler>
one_message after_one(fixture& f, basal::actors::adaptive_actor_config config, Handler handler,
                      int message = 1) {
  config.name = "tiny";
  one_message result;
  auto worker = f.system.spawn([&](event_based_actor* me) -> behavior {
    auto wrapped = basal::actors::adaptive(me, handler, config);
    return {[&, wrapped, me](int x) mutable {
      wrapped(x);
      result = {wrapped.explain(), wrapped.chooser().counters()};
      me->quit();
    }};
  });
  f.self->send(worker, message);
  f.self->wait_for(worker);
  return result;
}

constexpr int first_reports = 16; // what a family takes to be settled

} // namespace

TEST_CASE_METHOD(fixture, "every run is counted, whether it was asked about or granted") {
  const auto after = after_many(*this, any_config(), [](int) {});
  CHECK(after.counters.decisions() == message_count);
  CHECK(after.counters[event::finished] == message_count);
  CHECK(after.counters[event::abandoned] == 0);
  // The actor has gone and has told its family everything.
  const auto family = basal::actors::total(basal::actors::chooser_stats_of(system));
  CHECK(family.counts[event::inline_decision] + family.counts[event::offload_decision]
        == message_count);
  CHECK(family.counts[event::finished] == message_count);
}

TEST_CASE_METHOD(fixture, "a run that throws, and ends its actor, is counted as well") {
  after_many(*this, any_config(), [](int x) {
    if (x == message_count - 1)
      throw std::runtime_error{"the last one"};
  });
  const auto family = basal::actors::total(basal::actors::chooser_stats_of(system));
  CHECK(family.counts[event::finished] == message_count);
  CHECK(family.counts[event::abandoned] == 0);
}

TEST_CASE_METHOD(fixture, "a granted run that turns slow counts as a strike and as starvation") {
  // Long beside what others may have had of the CPU while the 1999 before it ran: that is taken off
  // it (own_time).
  const auto after = after_many(*this, always_inline, [](int x) {
    if (x == message_count - 1)
      burn(std::chrono::milliseconds{100});
  });
  CHECK(after.counters[event::starvation] >= 1);
  CHECK(after.strikes >= 1);
  CHECK(after.counters.decisions() == message_count);
}

TEST_CASE_METHOD(fixture, "actors of one message run by what the one before was allowed") {
  constexpr int actors = 200;
  int asked = 0;
  std::string explained;
  for (int i = 0; i < actors; ++i) {
    const auto one = after_one(*this, always_inline, [](int) {});
    asked += one.counters.decisions() > 0 ? 1 : 0;
    if (one.counters.decisions() == 0)
      explained = one.explained;
  }
  CHECK(asked >= first_reports);
  CHECK(asked < actors / 4); // four or so, unless the machine is busy
  CHECK(explained == "tiny: inline, because that was best for the new actor before this one\n");
  const auto family = stats("tiny");
  CHECK(family.counts[event::inline_decision] == actors);
  CHECK(family.counts[event::finished] == actors);
  CHECK(family.counts[event::abandoned] == 0);
}

TEST_CASE_METHOD(fixture, "a new actor's first run that turns slow is its own chooser's") {
  const auto slow_for = [](int x) {
    if (x > 1)
      burn(std::chrono::milliseconds{100});
  };
  for (int i = 0; i < first_reports; ++i)
    after_one(*this, always_inline, slow_for);
  CHECK(stats("tiny").counts[event::starvation] == 0);
  const auto slow = after_one(*this, always_inline, slow_for, 2);
  CHECK(slow.counters[event::starvation] == 1);
  CHECK(slow.explained.find("no decision yet") == std::string::npos);
  const auto family = stats("tiny");
  CHECK(family.counts[event::starvation] == 1);
  CHECK(family.counts[event::finished] == first_reports + 1);
}

TEST_CASE_METHOD(fixture, "a new actor's first run that throws is counted as well") {
  constexpr int actors = 100;
  for (int i = 0; i < actors; ++i) {
    auto config = always_inline;
    config.name = "thrower";
    auto worker = system.spawn([&](event_based_actor* me) -> behavior {
      me->set_exception_handler([](std::exception_ptr&) -> caf::error { return caf::sec::none; });
      return {basal::actors::adaptive(
        me, [](int) { throw std::runtime_error{"its only one"}; }, config)};
    });
    self->send(worker, 1);
    self->wait_for(worker);
  }
  CHECK(stats("thrower").counts[event::finished] == actors);
  CHECK(stats("thrower").counts[event::abandoned] == 0);
}

TEST_CASE_METHOD(fixture, "one-shots run by what the one before was allowed, and are all counted") {
  constexpr int shots = 1000;
  auto config = always_inline;
  config.name = "shots";
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int n) {
      int sum = 0;
      for (int i = 0; i < n; ++i)
        sum += basal::actors::spawn_adaptive(
                 me, [i] { return i % 2; }, config)
                 .get();
      return sum;
    }};
  });
  CHECK(ask<int>(worker, shots) == shots / 2);
  const auto counted = stats("shots").counts;
  CHECK(counted[event::inline_decision] == shots);
  CHECK(counted[event::finished] == shots);
  CHECK(counted[event::prior_adoption] < shots / 4); // of those with a chooser
}

TEST_CASE_METHOD(fixture, "from its second message on an actor has a chooser of its own") {
  for (int i = 0; i < first_reports; ++i)
    after_one(*this, always_inline, [](int) {});
  const auto after = after_many(*this, always_inline, [](int) {});
  CHECK(after.counters.decisions() >= message_count - 1);
  CHECK(stats("tiny").counts[event::finished] >= first_reports);
}

TEST_CASE_METHOD(fixture, "an executor that has met many handlers tells them apart") {
  constexpr int families = 50;
  const auto name_of = [](int i) { return "handler " + std::to_string(i); };
  for (int round = 1; round <= 2; ++round) {
    for (int i = 0; i < families; ++i) {
      auto worker = system.spawn([&](event_based_actor* me) -> behavior {
        auto config = always_inline;
        config.name = name_of(i);
        auto handler = basal::actors::adaptive(
          me, [](int) {}, config);
        return {[handler, me](int x) mutable {
          handler(x);
          me->quit();
        }};
      });
      self->send(worker, 1);
      self->wait_for(worker);
    }
    for (int i = 0; i < families; ++i)
      CHECK(stats(name_of(i)).counts[event::finished] == static_cast<std::uint64_t>(round));
  }
}
