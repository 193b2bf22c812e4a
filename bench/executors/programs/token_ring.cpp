// Token ring: three tokens go round 40 actors, each of which computes about five microseconds for a
// token and passes it on. As many actors have work as there are tokens, each time others; where two
// tokens meet, one waits for the other.
//
// Size: hops of each token. The answer is the sum of what the tokens have become.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace basal::bench {

namespace {

constexpr std::int64_t ring_size = 40;
constexpr std::int64_t num_tokens = 3;
constexpr int steps = 1'500;

caf::behavior link(caf::event_based_actor* self, const caf::actor& next,
                   const caf::actor& referee) {
  return {[=](std::int64_t hops_left, std::int64_t token) {
    const auto changed = computed(token, steps);
    if (hops_left > 1)
      self->send(next, hops_left - 1, changed);
    else
      self->send(referee, changed);
  }};
}

// Is the ring's first link, too, for which its last one has been made: it passes tokens on at once.
void begin(caf::event_based_actor* self, std::int64_t hops, const caf::actor& observer) {
  auto next = caf::actor{self};
  for (std::int64_t i = 1; i < ring_size; ++i)
    next = self->spawn<caf::linked>(link, next, self);
  for (std::int64_t token = 0; token < num_tokens; ++token)
    self->send(next, hops, token);
  self->become(
    [=](std::int64_t hops_left, std::int64_t token) { self->send(next, hops_left, token); },
    [=, left = num_tokens, sum = std::int64_t{0}](std::int64_t token) mutable {
      sum += token;
      if (--left > 0)
        return;
      self->send(observer, sum);
      self->quit(caf::exit_reason::user_shutdown); // and with it the ring
    });
}

} // namespace

extern constinit const program token_ring{
  .name = "token_ring",
  .size = 1'500,
  .quick_size = 200,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(begin, size, watching.handle());
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t token = 0; token < num_tokens; ++token) {
        auto changed = token;
        for (std::int64_t i = 0; i < size; ++i)
          changed = computed(changed, steps);
        sum += changed;
      }
      return sum;
    },
};

} // namespace basal::bench
