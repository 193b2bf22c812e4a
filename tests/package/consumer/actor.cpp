#include <cstdio>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <basal/actors/actor_system_config.hpp>

int main() {
  basal::actor_system_config config;
  caf::actor_system system{config};
  auto doubler = system.spawn([]() -> caf::behavior { return {[](int n) { return 2 * n; }}; });
  caf::scoped_actor self{system};
  int answer = 0;
  self->request(doubler, caf::infinite, 21)
    .receive([&](int n) { answer = n; }, [](const caf::error&) {});
  std::printf("twice 21 = %d\n", answer);
  return answer == 42 ? 0 : 1;
}
