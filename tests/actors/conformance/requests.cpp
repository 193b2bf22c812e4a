// Requests: then and await, timeouts in time and too late, promises, delegation, failures.
#include "scenarios.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <stdexcept>
#include <string>

namespace conformance {

namespace {

using caf::actor;
using caf::behavior;
using caf::event_based_actor;
using section = transcript::section;
using namespace std::chrono_literals;

using ask_atom = caf::atom_constant<caf::atom("ask")>;
using lose_atom = caf::atom_constant<caf::atom("lose")>;
using throw_atom = caf::atom_constant<caf::atom("throw")>;
using hand_atom = caf::atom_constant<caf::atom("hand")>;
using stop_atom = caf::atom_constant<caf::atom("stop")>;

// Long enough that a loaded machine answers in time, and never waited for in full.
constexpr auto ample = 60s;
// Waited for in full by requests that nobody answers.
constexpr auto brief = 60ms;

behavior server(event_based_actor* self, actor backend) {
  self->set_exception_handler([](std::exception_ptr& problem) -> caf::error {
    try {
      std::rethrow_exception(problem);
    } catch (const std::exception& what) {
      return caf::make_error(caf::sec::runtime_error, std::string{what.what()});
    }
  });
  return {[](ask_atom, int x) { return x + 1; },
          [=](ask_atom, const std::string&) -> caf::result<int> {
            return caf::make_error(caf::sec::bad_function_call, "no strings");
          },
          [=](lose_atom) { return self->make_response_promise(); }, // nobody delivers it
          [=](hand_atom, int x) { return self->delegate(backend, ask_atom::value, x); },
          [](throw_atom) -> int { throw std::runtime_error("broken on purpose"); },
          [=](stop_atom) { self->quit(); }};
}

behavior backend(event_based_actor* self) {
  return {[](ask_atom, int x) { return 100 * x; }, [=](stop_atom) { self->quit(); }};
}

// Nobody holds a client's handle: its requests alone keep it alive.
void client(event_based_actor* self, section* log, actor whom) {
  auto number = [=](int x) { log->line("answer " + std::to_string(x)); };
  auto fail = [=](caf::error& err) { log->line("error " + self->system().render(err)); };
  // `await` takes the answers in the reverse order of the requests, before any `then`.
  self->request(whom, ample, ask_atom::value, 1).await(number, fail);
  self->request(whom, ample, ask_atom::value, 2).await(number, fail);
  self->request(whom, ample, hand_atom::value, 3).await(number, fail);
  self->request(whom, ample, ask_atom::value, std::string{"x"}).await(number, fail);
}

void multiplexing_client(event_based_actor* self, section* log, actor whom) {
  for (int i = 0; i < 50; ++i)
    self->request(whom, ample, ask_atom::value, i).then([=](int x) {
      log->line("then " + std::to_string(i) + " -> " + std::to_string(x));
    });
}

void patient_client(event_based_actor* self, section* log, actor whom) {
  self->request(whom, brief, lose_atom::value)
    .then([=] { log->line("an answer to a lost request"); },
          [=](caf::error& err) {
            log->line("lost: " + self->system().render(err));
            // The actor is alive and well after the timeout.
            self->request(whom, ample, ask_atom::value, 41).then([=](int x) {
              log->line("afterwards " + std::to_string(x));
            });
          });
}

// Several timeouts of one actor come in the order of their times.
void ordered_timeouts(event_based_actor* self, section* log, actor whom) {
  for (int i : {3, 1, 2, 0})
    self->request(whom, brief * (i + 1), lose_atom::value)
      .then([] {}, [=](caf::error&) { log->line("timeout " + std::to_string(i)); });
}

} // namespace

void requests(caf::actor_system& system, transcript& out) {
  auto& log = out.begin("requests: one after the other");
  {
    caf::scoped_actor self{system};
    auto number = [&](int x) { log.line("answer " + std::to_string(x)); };
    auto nothing = [&] { log.line("an answer to a lost request"); };
    auto fail = [&](caf::error& err) { log.line("error " + system.render(err)); };
    auto store = self->spawn(backend);
    auto serve = [&] { return self->spawn(server, store); };
    auto first = serve();
    self->request(first, ample, ask_atom::value, 1).receive(number, fail);
    self->request(first, ample, hand_atom::value, 2).receive(number, fail);
    self->request(first, ample, ask_atom::value, std::string{"x"}).receive(number, fail);
    self->request(first, brief, lose_atom::value).receive(nothing, fail);
    self->request(first, ample, ask_atom::value, 5).receive(number, fail);
    self->request(first, ample, throw_atom::value).receive(number, fail);
    self->wait_for(first);
    self->request(first, ample, ask_atom::value, 6).receive(number, fail);
    auto second = serve();
    // A monitor does not hold what it watches.
    self->monitor(system.spawn(client, &out.begin("requests: await"), second));
    self->monitor(
      system.spawn(multiplexing_client, &out.begin("requests: then").unordered(), second));
    self->monitor(system.spawn(patient_client, &out.begin("requests: timeout and on"), second));
    self->monitor(
      system.spawn(ordered_timeouts, &out.begin("requests: timeouts in order"), second));
    for (int done = 0; done < 4; ++done)
      self->receive([](caf::down_msg&) {});
    self->send(second, stop_atom::value);
    self->send(store, stop_atom::value);
  }
  system.await_all_actors_done();
}

} // namespace conformance
