#include "evaluator.hpp"

#include <basal/actors/run_pure.hpp>
#include <basal/posse/pure.hpp>

#include <chrono>

#include "messages.hpp"

namespace tiered {

namespace {

// Takes no part in forks, but its safepoints are those of every pure function.
outcome evaluate(basal::posse::member& m, const function& f, const code& c, machine& on,
                 const std::vector<value>& arguments) {
  return run(f, c, on, arguments, [&m] { m.poll(); });
}

constexpr basal::posse::pure<evaluate> pure_evaluate{"evaluate"};

} // namespace

caf::behavior evaluator_actor(caf::stateful_actor<evaluator_state>* self, limits bounds) {
  self->state.runs_on = std::make_unique<machine>(bounds);
  return {
    [self](const question& q) {
      const script::choice chosen = q.of->call(q.asked.function);
      const auto start = std::chrono::steady_clock::now();
      answer a;
      a.tier = chosen.tier;
      a.result = pure_evaluate(self, q.of->source().functions[q.asked.function], *chosen.what,
                               *self->state.runs_on, q.asked.arguments);
      a.running = std::chrono::steady_clock::now() - start;
      return a;
    },
  };
}

} // namespace tiered
