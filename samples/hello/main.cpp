#include <basal/actors/actors.hpp>
#include <basal/posse/posse.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <iostream>

long fib(basal::posse::member& m, int n) { // forks; idle executors steal the oldest branches
  if (n < 2)
    return n;
  auto [a, b] = m.fork_merge([=](auto& left) { return fib(left, n - 1); },
                             [=](auto& right) { return fib(right, n - 2); });
  return a + b;
}
inline constexpr basal::posse::pure<fib> pure_fib{"fib"};

caf::behavior calculator(caf::event_based_actor* self) {
  return {[=](int n) { return pure_fib(self, n); }};
}

int main() {
  basal::actor_system_config config; // instead of caf::actor_system_config
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  self->request(system.spawn(calculator), caf::infinite, 35)
    .receive([](long result) { std::cout << "fib(35) = " << result << '\n'; },
             [&](const caf::error& e) { std::cerr << system.render(e) << '\n'; });
}
