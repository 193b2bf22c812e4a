// Delayed messages, `after`, and what keeps a waiting actor alive. Nothing here measures time:
// only orders are written, between times that are far apart or due in one actor.
#include "scenarios.hpp"

#include <caf/actor_system.hpp>
#include <caf/after.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <string>

namespace conformance {

namespace {

using caf::behavior;
using caf::event_based_actor;
using section = transcript::section;
using namespace std::chrono_literals;

using tick_atom = caf::atom_constant<caf::atom("tick")>;

behavior delayed_to_self(event_based_actor* self, section* log) {
  const auto start = self->clock().now(); // one for all: it may lose its CPU between two of them
  self->delayed_send(self, 0ms, 0);
  for (int i : {4, 2, 3, 1})
    self->scheduled_send(self, start + i * 15ms, i);
  const auto together = start + 90ms; // due at once: in order of sending
  for (int i = 10; i < 15; ++i)
    self->scheduled_send(self, together, i);
  return {[=](int i) {
    log->line("delayed " + std::to_string(i));
    if (i == 14)
      self->quit();
  }};
}

// Each `after` replaces the one before; only the last behaviour's fires.
behavior impatient(event_based_actor* self, section* log) {
  self->become(caf::after(60min) >> [=] { log->line("after one hour"); });
  self->become([=](tick_atom) { log->line("tick"); }, caf::after(20ms) >>
                                                        [=] {
                                                          log->line("first timeout");
                                                          self->become(caf::after(0ms) >> [=] {
                                                            log->line("timeout at once");
                                                            self->become(caf::after(10ms) >> [=] {
                                                              log->line("last timeout");
                                                              self->quit();
                                                            });
                                                          });
                                                        });
  return {};
}

// Messages push an `after` away: it fires once they stop.
void quiet_period(event_based_actor* self, section* log) {
  for (int i = 0; i < 5; ++i)
    self->delayed_send(self, i * 10ms, tick_atom::value);
  self->become([=](tick_atom) { log->line("tick"); }, caf::after(500ms) >>
                                                        [=] {
                                                          log->line("quiet");
                                                          self->quit();
                                                        });
}

behavior repeating(event_based_actor* self, section* log, int* count) {
  return {caf::after(2ms) >> [=] {
    log->line("round " + std::to_string(++*count));
    if (*count == 5)
      self->quit();
  }};
}

// A message in the far future does not outlive its receiver, nor hold up the system.
behavior forgetful(event_based_actor* self, section* log) {
  self->delayed_send(self, 10h, std::string{"too late"});
  self->delayed_send(self, 5ms, tick_atom::value);
  return {[=](tick_atom) {
            log->line("tick");
            self->quit();
          },
          [=](const std::string& text) { log->line(text); },
          caf::after(540min) >> [=] { log->line("after nine hours"); }};
}

} // namespace

void timing(caf::actor_system& system, transcript& out) {
  int rounds = 0;
  // Nobody holds these actors: what they wait for does.
  system.spawn(delayed_to_self, &out.begin("timing: delayed messages"));
  system.spawn(impatient, &out.begin("timing: after"));
  system.spawn(quiet_period, &out.begin("timing: after, put off"));
  system.spawn(repeating, &out.begin("timing: after, again and again"), &rounds);
  system.spawn(forgetful, &out.begin("timing: never"));
  system.await_all_actors_done();
  auto& log = out.begin("timing: from outside");
  caf::scoped_actor self{system};
  self->send(self, std::string{"first"});
  self->delayed_send(self, 20ms, std::string{"second"});
  self->delayed_anon_send(self, 40ms, std::string{"third"});
  for (int i = 0; i < 3; ++i)
    self->receive([&](const std::string& text) { log.line(text); });
  self->receive([&](const std::string& text) { log.line("extra " + text); },
                caf::after(10ms) >> [&] { log.line("nothing more"); });
}

} // namespace conformance
