// Event-based actors: functions, classes, state; become, skip, default handlers, priorities.
#include "scenarios.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/skip.hpp>
#include <caf/stateful_actor.hpp>

#include <string>

namespace conformance {

namespace {

using caf::actor;
using caf::behavior;
using caf::event_based_actor;
using section = transcript::section;

using go_atom = caf::atom_constant<caf::atom("go")>;
using stop_atom = caf::atom_constant<caf::atom("stop")>;
using get_atom = caf::atom_constant<caf::atom("get")>;

behavior adder(event_based_actor* self) {
  return {[](int x, int y) { return x + y; }, [=](stop_atom) { self->quit(); }};
}

class counter : public event_based_actor {
public:
  counter(caf::actor_config& cfg, section* log, int start)
    : event_based_actor(cfg), log_(log), value_(start) {
  }

  ~counter() override {
    log_->line("counter destroyed at " + std::to_string(value_));
  }

  const char* name() const override {
    return "counter";
  }

  void on_exit() override {
    log_->line("counter exits at " + std::to_string(value_));
  }

  behavior make_behavior() override {
    return {[this](int step) { value_ += step; }, [this](get_atom) { return value_; },
            [this](stop_atom) { quit(); }};
  }

private:
  section* log_;
  int value_;
};

struct word_list {
  std::string words;
  static const char* name;
};
const char* word_list::name = "word_list";

behavior collector(caf::stateful_actor<word_list>* self) {
  return {[=](const std::string& word) { self->state.words += word + " "; },
          [=](get_atom) { return self->state.words + "(" + self->name() + ")"; },
          [=](stop_atom) { self->quit(); }};
}

// become / unbecome with keep_behavior, and messages skipped until a behaviour wants them.
behavior moody(event_based_actor* self, section* log) {
  self->set_default_handler(caf::skip);
  return {[=](go_atom) {
            log->line("go");
            self->become(caf::keep_behavior, [=](int x) {
              log->line("number " + std::to_string(x));
              if (x == 3)
                self->unbecome();
            });
          },
          [=](stop_atom) {
            log->line("stop");
            self->quit();
          }};
}

// Fills its own mailbox first, so that the order of handling is the mailbox's choice alone.
behavior prioritised(event_based_actor* self, section* log) {
  for (int i = 0; i < 3; ++i)
    self->send(self, i);
  self->send<caf::message_priority::high>(self, std::string{"urgent a"});
  self->send<caf::message_priority::high>(self, std::string{"urgent b"});
  self->send(self, stop_atom::value);
  return {[=](int i) { log->line("normal " + std::to_string(i)); },
          [=](const std::string& text) { log->line(text); }, [=](stop_atom) { self->quit(); }};
}

behavior spawner(event_based_actor* self, section* log, int depth) {
  if (depth == 0) {
    log->line("leaf");
    self->quit();
    return {};
  }
  log->line("depth " + std::to_string(depth));
  self->spawn(spawner, log, depth - 1);
  auto child = self->spawn<caf::monitored>(spawner, log, 0);
  self->set_down_handler([self](caf::down_msg&) { self->quit(); });
  return {[](go_atom) {}};
}

void plain_and_stateful(caf::actor_system& system, transcript& out) {
  auto& log = out.begin("behaviours: functions, classes, state");
  {
    caf::scoped_actor self{system};
    auto receive_int = [&](int x) { log.line(std::to_string(x)); };
    auto fail = [&](caf::error& err) { log.line("error " + system.render(err)); };
    auto plus = self->spawn(adder);
    self->request(plus, caf::infinite, 3, 4).receive(receive_int, fail);
    self->request(plus, caf::infinite, 30, 4).receive(receive_int, fail);
    self->send(plus, stop_atom::value);
    auto count = self->spawn<counter>(&log, 10);
    for (int i = 1; i <= 5; ++i)
      self->send(count, i);
    self->request(count, caf::infinite, get_atom::value).receive(receive_int, fail);
    self->send(count, stop_atom::value);
    self->wait_for(plus, count);
    auto words = self->spawn(collector);
    for (auto word : {"to", "be", "or", "not"})
      self->send(words, std::string{word});
    self->request(words, caf::infinite, get_atom::value)
      .receive([&](const std::string& all) { log.line(all); }, fail);
    self->send(words, stop_atom::value);
    auto composed = plus * count; // both are done
    self->request(composed, caf::infinite, get_atom::value).receive(receive_int, fail);
  }
  system.await_all_actors_done();
}

void changing(caf::actor_system& system, transcript& out) {
  auto& log = out.begin("behaviours: become, skip, priorities");
  {
    caf::scoped_actor self{system};
    auto fickle = self->spawn(moody, &log);
    // Numbers before "go" are skipped, kept and handled after it, in order.
    for (int i = 1; i <= 3; ++i)
      self->send(fickle, i);
    self->send(fickle, go_atom::value);
    self->send(fickle, stop_atom::value);
    self->wait_for(fickle);
    self->wait_for(self->spawn(prioritised, &log));
  }
  system.await_all_actors_done();
}

void defaults(caf::actor_system& system, transcript& out) {
  auto& log = out.begin("behaviours: default handlers, composition");
  {
    caf::scoped_actor self{system};
    auto ask = [&](const char* what, const actor& whom) {
      self->request(whom, caf::infinite, std::string{"unexpected"})
        .receive([&](const std::string& text) { log.line(what + (": echoed " + text)); },
                 [&](caf::error& err) { log.line(what + (": " + system.render(err))); });
      self->send_exit(whom, caf::exit_reason::user_shutdown);
      self->wait_for(whom);
    };
    ask("drop", self->spawn([](event_based_actor* me) -> behavior {
      me->set_default_handler(caf::drop);
      return {[](int) {}};
    }));
    ask("reflect", self->spawn([](event_based_actor* me) -> behavior {
      me->set_default_handler(caf::reflect);
      return {[](int) {}};
    }));
    auto twice = self->spawn([]() -> behavior { return {[](int x) { return 2 * x; }}; });
    auto inc = self->spawn([]() -> behavior { return {[](int x) { return x + 1; }}; });
    self->request(twice * inc, caf::infinite, 20)
      .receive([&](int x) { log.line("twice * inc: " + std::to_string(x)); },
               [&](caf::error& err) { log.line(system.render(err)); });
    self->send_exit(twice, caf::exit_reason::user_shutdown);
    self->send_exit(inc, caf::exit_reason::user_shutdown);
  }
  system.await_all_actors_done();
}

} // namespace

void behaviours(caf::actor_system& system, transcript& out) {
  plain_and_stateful(system, out);
  changing(system, out);
  defaults(system, out);
  system.spawn(spawner, &out.begin("behaviours: handlers that spawn").unordered(), 20);
  system.await_all_actors_done();
}

} // namespace conformance
