// Handlers that compute: in parallel, elsewhere, or wherever it is better; and a parallel call of a
// plain thread beside the actors, on the executors of the system.
#include <basal/actors/actors.hpp>
#include <basal/posse/posse.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <cstddef>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

namespace actors = basal::actors;
namespace posse = basal::posse;

using median = caf::atom_constant<caf::atom("median")>;
using spread = caf::atom_constant<caf::atom("spread")>;
using digits = caf::atom_constant<caf::atom("digits")>;

caf::behavior statistics(caf::event_based_actor* self) {
  return {
    // In parallel: `self` says who computes. It begins here, in time slices, and compute executors
    // that are idle take parts of it.
    [=](median, std::vector<int>& values) {
      posse::sort(self, values);
      return values[values.size() / 2];
    },
    // For long: from the beginning on compute executors, and still in parallel.
    [=](spread, const std::vector<int>& values) {
      const auto ends = posse::minmax_element.offload(self, values);
      return *ends.max - *ends.min;
    },
    // Nobody knows for how long: adaptive() learns where it is better. It may compute in parallel
    // there, too.
    actors::adaptive(self,
                     [=](digits, const std::vector<int>& values) {
                       return posse::map_reduce(
                         self, values, [](int x) { return std::to_string(x).size(); },
                         std::size_t{0});
                     }),
  };
}

int main() {
  basal::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  std::vector<int> values(100'001);
  std::iota(values.rbegin(), values.rend(), 0);

  const auto actor = system.spawn(statistics);
  const auto failed = [&](const caf::error& e) { std::cerr << system.render(e) << '\n'; };
  self->request(actor, caf::infinite, median::value, values)
    .receive([](int x) { std::cout << "median " << x << '\n'; }, failed);
  self->request(actor, caf::infinite, spread::value, values)
    .receive([](int x) { std::cout << "spread " << x << '\n'; }, failed);
  self->request(actor, caf::infinite, digits::value, values)
    .receive([](std::size_t n) { std::cout << n << " digits\n"; }, failed);

  // A plain thread: the runtime of the system, not another one that competes for the same CPUs.
  auto& runtime = actors::runtime_of(system);
  std::cout << "sum " << posse::reduce(runtime, values, 0L) << '\n';
}
