// Typed actors: functions, classes, state, promises, errors.
#include "scenarios.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/replies_to.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <string>

namespace conformance {

namespace {

using divide_atom = caf::atom_constant<caf::atom("divide")>;
using later_atom = caf::atom_constant<caf::atom("later")>;
using flush_atom = caf::atom_constant<caf::atom("flush")>;

using divider = caf::typed_actor<caf::replies_to<divide_atom, int, int>::with<int>>;

divider::behavior_type divide(divider::pointer) {
  return {[](divide_atom, int x, int y) -> caf::expected<int> {
    if (y == 0)
      return caf::make_error(caf::sec::invalid_argument, "division by zero");
    return x / y;
  }};
}

using ledger = caf::typed_actor<caf::reacts_to<int>, caf::replies_to<later_atom>::with<int>,
                                caf::reacts_to<flush_atom>>;

struct ledger_state {
  int sum = 0;
  std::vector<caf::typed_response_promise<int>> promises;
};

// Answers every `later` when the flush comes.
ledger::behavior_type keep(ledger::stateful_pointer<ledger_state> self) {
  return {[=](int x) { self->state.sum += x; },
          [=](later_atom) -> caf::typed_response_promise<int> {
            self->state.promises.push_back(self->make_response_promise<int>());
            return self->state.promises.back();
          },
          [=](flush_atom) {
            for (auto& promise : self->state.promises)
              promise.deliver(self->state.sum);
            self->state.promises.clear();
          }};
}

class squarer : public caf::typed_actor<caf::replies_to<int>::with<int>>::base {
public:
  using caf::typed_actor<caf::replies_to<int>::with<int>>::base::base;

  behavior_type make_behavior() override {
    return {[](int x) { return x * x; }};
  }
};

// Delegates through a typed handle that it holds itself.
using front = caf::typed_actor<caf::replies_to<divide_atom, int, int>::with<int>>;

front::behavior_type forward(front::pointer self, divider target) {
  return {[=](divide_atom tag, int x, int y) { return self->delegate(target, tag, x, y); }};
}

} // namespace

void typed(caf::actor_system& system, transcript& out) {
  auto& log = out.begin("typed");
  {
    caf::scoped_actor self{system};
    auto number = [&](int x) { log.line(std::to_string(x)); };
    auto fail = [&](caf::error& err) { log.line("error " + system.render(err)); };
    auto div = self->spawn(divide);
    auto front_desk = self->spawn(forward, div);
    self->request(front_desk, caf::infinite, divide_atom::value, 84, 2).receive(number, fail);
    self->request(front_desk, caf::infinite, divide_atom::value, 84, 0).receive(number, fail);
    auto book = self->spawn(keep);
    auto first = self->request(book, caf::infinite, later_atom::value);
    for (int i = 1; i <= 10; ++i)
      self->send(book, i);
    auto second = self->request(book, caf::infinite, later_atom::value);
    self->send(book, flush_atom::value);
    first.receive(number, fail);
    second.receive(number, fail);
    auto square = self->spawn<squarer>();
    self->request(square, caf::infinite, 12).receive(number, fail);
    for (const auto& who : {div.address(), front_desk.address(), book.address(), square.address()})
      self->send_exit(caf::actor_cast<caf::actor>(who), caf::exit_reason::user_shutdown);
  }
  system.await_all_actors_done();
}

} // namespace conformance
