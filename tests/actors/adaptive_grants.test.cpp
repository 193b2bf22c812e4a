// Handlers of a microsecond, most of whose messages the chooser is not asked about: what it counts,
// learns and forbids is as if it were.

#include "actors/adaptive_fixture.hpp"

#include <stdexcept>

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

} // namespace

using basal::mab::event;

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
