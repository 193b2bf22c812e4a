// Actors with threads of their own: detached, blocking, scoped.
#include "scenarios.hpp"

#include <caf/actor_system.hpp>
#include <caf/after.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <string>
#include <thread>

namespace conformance {

namespace {

using caf::actor;
using caf::behavior;
using caf::blocking_actor;
using caf::event_based_actor;
using section = transcript::section;
using namespace std::chrono_literals;

using where_atom = caf::atom_constant<caf::atom("where")>;
using stop_atom = caf::atom_constant<caf::atom("stop")>;

// A detached actor handles everything on one thread, delayed messages and timeouts included.
behavior detached(event_based_actor* self, section* log, const actor& report) {
  const auto home = std::this_thread::get_id();
  auto where = [home](const char* what) {
    return what + std::string{std::this_thread::get_id() == home ? " at home" : " elsewhere"};
  };
  self->delayed_send(self, 5ms, 7);
  return {[=](int x) { log->line(where("delayed") + " " + std::to_string(x)); },
          caf::after(200ms) >>
            [=] {
              log->line(where("timeout"));
              self->become([=](where_atom) { return where("asked"); },
                           [=](stop_atom) { self->quit(); });
              self->send(report, stop_atom::value);
            }};
}

void blocking(blocking_actor* self, section* log) {
  // Two of three in order of arrival, then the string that came first.
  int sum = 0;
  int count = 0;
  self->receive_for(count, 2)([&](int x) { sum += x; });
  log->line("sum " + std::to_string(sum));
  self->receive([&](const std::string& text) { log->line(text); });
  self->receive([&](double) { log->line("a double"); },
                caf::after(10ms) >> [&] { log->line("no double"); });
  bool running = true;
  self->receive_while(running)([&](stop_atom) { running = false; },
                               [&](int x) { log->line("late " + std::to_string(x)); });
  self->fail_state(caf::exit_reason::user_shutdown);
}

// Blocks in a request to an event-based actor and back.
void asking(blocking_actor* self, section* log, actor whom) {
  for (int i = 0; i < 3; ++i)
    self->request(whom, 60s, i)
      .receive(
        [&](int x) { log->line("asked " + std::to_string(i) + " got " + std::to_string(x)); },
        [&](caf::error& err) { log->line("error " + self->system().render(err)); });
  self->send_exit(whom, caf::exit_reason::user_shutdown);
}

} // namespace

void threads(caf::actor_system& system, transcript& out) {
  auto& log = out.begin("threads");
  {
    caf::scoped_actor self{system};
    auto alone = self->spawn<caf::detached + caf::monitored>(detached, &log, actor{self});
    self->receive([](stop_atom) {});
    self->request(alone, 60s, where_atom::value)
      .receive([&](const std::string& text) { log.line(text); },
               [&](caf::error& err) { log.line("error " + system.render(err)); });
    self->send(alone, stop_atom::value);
    self->receive([&](caf::down_msg& down) { log.line("down " + system.render(down.reason)); });
    auto block = self->spawn<caf::monitored>(blocking, &log);
    self->send(block, std::string{"text"});
    for (int i = 1; i <= 3; ++i)
      self->send(block, i);
    self->send(block, stop_atom::value);
    self->receive([&](caf::down_msg& down) { log.line("down " + system.render(down.reason)); });
    auto plus = self->spawn([]() -> behavior { return {[](int x) { return x + 1; }}; });
    self->wait_for(self->spawn(asking, &log, plus));
  }
  system.await_all_actors_done();
}

} // namespace conformance
