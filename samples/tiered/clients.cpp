#include "clients.hpp"

#include <utility>

namespace tiered {

namespace {

using clock = std::chrono::steady_clock;

struct client {
  caf::stateful_actor<client_state>* self;
  client_plan plan;
  caf::actor evaluator;
  caf::actor observer;
  std::shared_ptr<std::atomic<std::uint64_t>> progress;

  void ask_next() const {
    const bool compiling = plan.watched->compiling() != 0;
    const std::uint64_t begun = plan.watched->begun();
    self->request(evaluator, caf::infinite, plan.asks)
      .then([*this, compiling, begun, asked = clock::now()](const answer& a) {
        client_report& seen = self->state.seen;
        seen.samples.push_back(
          {a.tier, a.running, clock::now() - asked, compiling || plan.watched->begun() != begun});
        progress->fetch_add(1, std::memory_order_relaxed); // for the display
        if (self->state.finishing || seen.samples.size() == plan.questions) {
          seen.last = a.result;
          self->send(observer, std::move(seen));
          self->quit();
        } else if (plan.pause.count() == 0) {
          ask_next();
        } else {
          self->delayed_send(self, plan.pause, ask{});
        }
      });
  }
};

} // namespace

caf::behavior client_actor(caf::stateful_actor<client_state>* self, client_plan plan,
                           caf::actor evaluator, caf::actor observer,
                           std::shared_ptr<std::atomic<std::uint64_t>> progress) {
  self->state.seen.of = plan.asks.of;
  self->state.seen.asked = plan.asks.asked;
  const client c{self, std::move(plan), std::move(evaluator), std::move(observer),
                 std::move(progress)};
  self->send(self, ask{});
  return {
    [c](ask) { c.ask_next(); },
    [self](finish) { self->state.finishing = true; },
  };
}

} // namespace tiered
