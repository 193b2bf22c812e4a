// Measuring: what the runtime counts while the program runs.
#include <basal/actors/actors.hpp>
#include <basal/posse/posse.hpp>

#include <caf/scoped_actor.hpp>

#include <iostream>

namespace posse = basal::posse;

int fib(posse::member& m, int n) {
  if (n < 2)
    return n;
  const auto [a, b] = m.fork_merge([=](posse::member& k) { return fib(k, n - 1); },
                                   [=](posse::member& k) { return fib(k, n - 2); });
  return a + b;
}
inline constexpr posse::pure<fib> pure_fib{"fib"};

int main() {
  basal::actor_system_config config;
  caf::actor_system system{config};
  const caf::scoped_actor self{system};
  const auto before = basal::actors::stats_of(system);
  std::cout << "fib(20) = " << pure_fib(self, 20) << '\n';
  const auto after = basal::actors::stats_of(system);
  std::cout << after.posse.computations - before.posse.computations << " computation, "
            << after.posse.forks - before.posse.forks << " forks\n";
  std::cerr << after.posse.thefts - before.posse.thefts << " of them were stolen\n";
}
