// Relay: each actor makes the next one, computes for about 50 microseconds and ends. So long a new
// actor would wait where its maker's executor goes on with the maker, and no address of an actor
// comes up twice while there is something to be learned about it.
//
// Size: actors. The answer is the sum of what they compute.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace basal::bench {

namespace {

constexpr int steps = 15'000;

void runner(caf::event_based_actor* self, std::int64_t left, const caf::actor& sum) {
  if (left > 1)
    self->spawn(runner, left - 1, sum);
  self->send(sum, computed(left, steps));
}

caf::behavior adder(caf::event_based_actor* self, std::int64_t runners,
                    const caf::actor& observer) {
  return {[=, left = runners, sum = std::int64_t{0}](std::int64_t result) mutable {
    sum += result;
    if (--left == 0) {
      self->send(observer, sum);
      self->quit();
    }
  }};
}

} // namespace

extern constinit const program relay{
  .name = "relay",
  .size = 500,
  .quick_size = 50,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(runner, size, system.spawn(adder, size, watching.handle()));
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t left = 1; left <= size; ++left)
        sum += computed(left, steps);
      return sum;
    },
};

} // namespace basal::bench
