// Handlers that decide for themselves: adaptive() learns whether a handler is better run where its
// message arrived or on a compute executor. The handler does the same in both places.
#include <basal/actors/actors.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <iostream>

/// How many numbers below `limit` are prime: some are quick, some are not.
int primes(int limit) {
  int count = 0;
  for (int n = 2; n < limit; ++n) {
    bool prime = true;
    for (int d = 2; d * d <= n && prime; ++d)
      prime = n % d != 0;
    count += prime;
  }
  return count;
}

struct counter_state {
  int asked = 0;
};

caf::behavior counter(caf::stateful_actor<counter_state>* self) {
  return {basal::actors::adaptive(self, [=](int limit) {
    ++self->state.asked; // the handler has its actor to itself wherever it runs
    return primes(limit);
  })};
}

int main() {
  basal::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  const auto actor = system.spawn(counter);
  int sum = 0;
  for (const int limit : {100, 100'000, 10, 1'000})
    self->request(actor, caf::infinite, limit)
      .receive([&](int count) { sum += count; },
               [&](const caf::error& e) { std::cerr << system.render(e) << '\n'; });
  std::cout << sum << " primes\n";
  for (const auto& family : basal::actors::chooser_stats_of(system))
    std::cerr << explain(family) << '\n'; // where they ran, and why
}
