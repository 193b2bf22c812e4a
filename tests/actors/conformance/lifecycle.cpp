// Monitors, links, exits trapped and not, exceptions, and actors that nobody holds.
#include "scenarios.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace conformance {

namespace {

using caf::actor;
using caf::behavior;
using caf::event_based_actor;
using section = transcript::section;

using ok_atom = caf::atom_constant<caf::atom("ok")>;
using quit_atom = caf::atom_constant<caf::atom("quit")>;
using throw_atom = caf::atom_constant<caf::atom("throw")>;

behavior mortal(event_based_actor* self) {
  self->set_exception_handler(
    [](std::exception_ptr&) -> caf::error { return caf::exit_reason::unhandled_exception; });
  return {[=](quit_atom) { self->quit(); },
          [=](quit_atom, const std::string& why) {
            self->quit(caf::make_error(caf::sec::runtime_error, why));
          },
          [](throw_atom) { throw std::logic_error("mortal"); }};
}

std::string render(caf::local_actor* self, const caf::error& reason) {
  return self->system().render(reason);
}

// Watches five ends in turn and writes their reasons.
void monitors(caf::actor_system& system, section& log) {
  caf::scoped_actor self{system};
  auto watch = [&](auto end) {
    auto whom = self->spawn<caf::monitored>(mortal);
    end(whom);
    self->receive([&](caf::down_msg& down) {
      log.line((down.source == whom.address() ? "down: " : "wrong source: ")
               + render(self.ptr(), down.reason));
    });
  };
  watch([&](const actor& a) { self->send(a, quit_atom::value); });
  watch([&](const actor& a) { self->send(a, quit_atom::value, std::string{"because"}); });
  watch([&](const actor& a) { self->send(a, throw_atom::value); });
  watch([&](const actor& a) { self->send_exit(a, caf::exit_reason::user_shutdown); });
  watch([&](const actor& a) { self->send_exit(a, caf::exit_reason::kill); });
  // Late to the funeral: the reason is still told.
  auto dead = self->spawn(mortal);
  self->send(dead, quit_atom::value, std::string{"before"});
  self->wait_for(dead);
  self->monitor(dead);
  self->receive([&](caf::down_msg& down) { log.line("late: " + render(self.ptr(), down.reason)); });
  // Requests to the dead bounce.
  self->request(dead, caf::infinite, quit_atom::value)
    .receive([&] { log.line("answered by the dead"); },
             [&](caf::error& err) { log.line("bounced: " + render(self.ptr(), err)); });
}

// A chain of linked actors: the first one's end takes all of them down, up to the trap at its end.
behavior link_in_chain(event_based_actor* self, section* log, int number, const actor& next) {
  if (next)
    self->link_to(next);
  else
    self->set_exit_handler([=](caf::exit_msg& msg) {
      log->line("trapped: " + render(self, msg.reason));
      self->quit();
    });
  self->attach_functor([=](const caf::error& reason) {
    log->line("link " + std::to_string(number) + ": " + self->system().render(reason));
  });
  return {[=](quit_atom, const std::string& why) {
    self->quit(caf::make_error(caf::sec::runtime_error, why));
  }};
}

void links(caf::actor_system& system, section& log) {
  caf::scoped_actor self{system};
  std::vector<actor> chain{actor{}}; // held here: links hold nobody
  for (int number = 0; number < 6; ++number)
    chain.push_back(self->spawn(link_in_chain, &log, number, chain.back()));
  self->send(chain.back(), quit_atom::value, std::string{"chain"});
  for (auto i = chain.begin() + 1; i != chain.end(); ++i)
    self->wait_for(*i);
}

// An exit of a linked actor is no reason to go for who traps it; unlinking works.
void peaceful_links(caf::actor_system& system, section& log) {
  caf::scoped_actor self{system};
  auto watcher = self->spawn([&log, report = actor{self}](event_based_actor* me) -> behavior {
    me->set_exit_handler([&log, me, report](caf::exit_msg& msg) {
      log.line("exit message: " + render(me, msg.reason));
      me->send(report, ok_atom::value);
    });
    return {[me](actor other) {
              me->link_to(other);
              return ok_atom::value;
            },
            [me](actor other, ok_atom) {
              me->unlink_from(other);
              return ok_atom::value;
            },
            [me](quit_atom) { me->quit(); }};
  });
  auto acknowledged = [](ok_atom) {};
  auto fail = [&](caf::error& err) { log.line("error " + system.render(err)); };
  auto one = self->spawn(mortal);
  auto two = self->spawn(mortal);
  auto three = self->spawn(mortal);
  for (const auto& other : {one, two, three})
    self->request(watcher, caf::infinite, other).receive(acknowledged, fail);
  self->request(watcher, caf::infinite, two, ok_atom::value).receive(acknowledged, fail);
  self->send(two, quit_atom::value); // nobody hears of it
  self->wait_for(two);
  self->send(one, quit_atom::value);
  self->receive(acknowledged);
  self->send_exit(watcher, caf::exit_reason::user_shutdown);
  self->receive(acknowledged);
  self->send(three, quit_atom::value, std::string{"third"});
  self->receive(acknowledged);
  self->send(watcher, quit_atom::value);
}

// Attached functors run newest first; `on_exit` before them.
class last_words : public event_based_actor {
public:
  last_words(caf::actor_config& cfg, section* log) : event_based_actor(cfg), log_(log) {
    for (int i = 0; i < 3; ++i)
      attach_functor([log, i] { log->line("functor " + std::to_string(i)); });
  }

  ~last_words() override {
    log_->line("destroyed");
  }

  void on_exit() override {
    log_->line("on_exit");
  }

  behavior make_behavior() override {
    return {[this](quit_atom) { quit(); }};
  }

private:
  section* log_;
};

void ends(caf::actor_system& system, section& told, section& unheld) {
  caf::scoped_actor self{system};
  self->send(self->spawn<last_words>(&told), quit_atom::value);
  self->spawn<last_words>(&unheld);
}

} // namespace

void lifecycle(caf::actor_system& system, transcript& out) {
  monitors(system, out.begin("lifecycle: monitors"));
  system.await_all_actors_done();
  links(system, out.begin("lifecycle: links").unordered());
  system.await_all_actors_done();
  peaceful_links(system, out.begin("lifecycle: trapped exits"));
  system.await_all_actors_done();
  ends(system, out.begin("lifecycle: told to quit"), out.begin("lifecycle: held by nobody"));
  system.await_all_actors_done();
}

} // namespace conformance
