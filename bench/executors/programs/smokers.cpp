// cigarette smokers (Savina): an arbiter picks one of 200 smokers, who tells when he has begun, and
// then smokes for 1 us while the arbiter picks the next. One actor is followed by another that has
// not run for long.
//
// Size: cigarettes.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <vector>

namespace basal::bench {

namespace {

using begun = caf::atom_constant<caf::atom("begun")>;

constexpr std::uint64_t num_smokers = 200;
constexpr int steps = 400;

caf::behavior smoker(caf::event_based_actor* self) {
  return {[=](std::int64_t number) {
    const auto arbiter = caf::actor_cast<caf::actor>(self->current_sender());
    self->send(arbiter, begun::value);
    self->send(arbiter, computed(number, steps));
  }};
}

caf::behavior arbiter(caf::event_based_actor* self, std::int64_t cigarettes,
                      const caf::actor& observer) {
  std::vector<caf::actor> smokers;
  for (std::uint64_t i = 0; i < num_smokers; ++i)
    smokers.push_back(self->spawn(smoker));
  auto pick = [=](std::int64_t number) {
    self->send(smokers[scrambled(static_cast<std::uint64_t>(number)) % num_smokers], number);
  };
  pick(cigarettes);
  return {
    [=, number = cigarettes](begun) mutable {
      if (--number > 0)
        pick(number);
    },
    [=, sum = std::int64_t{0}, left = cigarettes](std::int64_t smoked) mutable {
      sum += smoked;
      if (--left == 0) {
        self->send(observer, sum);
        self->quit();
      }
    },
  };
}

} // namespace

extern constinit const program smokers{
  .name = "smokers",
  .size = 8'000,
  .quick_size = 2'500,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(arbiter, size, watching.handle());
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t number = 1; number <= size; ++number)
        sum += computed(number, steps);
      return sum;
    },
};

} // namespace basal::bench
