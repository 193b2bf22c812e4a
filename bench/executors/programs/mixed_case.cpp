// mixed case (CAF's suite): 20 masters, each of which builds a ring of 50 actors five times over,
// sends a token round it, and meanwhile has a worker of its own factorise a number per ring.
// Creation, messages and computation together; the computations are about a third of the whole.
//
// Size: rounds that each token goes. The answer adds up the factors found and the rings done.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

namespace basal::bench {

namespace {

using token = caf::atom_constant<caf::atom("token")>;
using factorise = caf::atom_constant<caf::atom("factorise")>;
using factor = caf::atom_constant<caf::atom("factor")>;
using done = caf::atom_constant<caf::atom("done")>;

constexpr std::int64_t num_masters = 20;
constexpr std::int64_t ring_size = 50; // a master and its links
constexpr std::int64_t num_rings = 5;  // of each master, one after the other
constexpr std::int64_t small_prime = 100'003;
constexpr std::int64_t product = small_prime * 86'028'157;

// By trial division: some 0.3 ms.
std::int64_t smallest_factor(std::int64_t number) {
  for (std::int64_t candidate = 3; candidate * candidate <= number; candidate += 2)
    if (number % candidate == 0)
      return candidate;
  return number;
}

caf::behavior worker(caf::event_based_actor* self, const caf::actor& judge) {
  return {[=](factorise, std::int64_t number) {
    self->send(judge, factor::value, smallest_factor(number));
  }};
}

// A link ends with the token that has no rounds left.
caf::behavior link(caf::event_based_actor* self, const caf::actor& next) {
  return {[=](token, std::int64_t rounds_left) {
    self->send(next, token::value, rounds_left);
    if (rounds_left == 0)
      self->quit();
  }};
}

caf::behavior master(caf::event_based_actor* self, std::int64_t rounds, const caf::actor& judge) {
  const auto factoriser = self->spawn(worker, judge);
  auto build_ring = [=] {
    self->send(factoriser, factorise::value, product);
    caf::actor next{self};
    for (std::int64_t i = 1; i < ring_size; ++i)
      next = self->spawn(link, next);
    self->send(next, token::value, rounds - 1);
    return next;
  };
  return {
    [=, first = build_ring(), rings_left = num_rings](token, std::int64_t rounds_left) mutable {
      if (rounds_left > 0) {
        self->send(first, token::value, rounds_left - 1);
        return;
      }
      self->send(judge, done::value);
      if (--rings_left > 0)
        first = build_ring();
      else
        self->quit();
    }};
}

struct judge_state {
  std::int64_t sum = 0;
  std::int64_t left = 2 * num_masters * num_rings;
};

caf::behavior judge(caf::stateful_actor<judge_state>* self, const caf::actor& observer) {
  auto count = [=](std::int64_t value) {
    auto& mine = self->state;
    mine.sum += value;
    if (--mine.left == 0) {
      self->send(observer, mine.sum);
      self->quit();
    }
  };
  return {
    [=](factor, std::int64_t found) { count(found); },
    [=](done) { count(1); },
  };
}

} // namespace

extern constinit const program mixed_case{
  .name = "mixed_case",
  .size = 6,
  .quick_size = 2,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      const auto counting = system.spawn(judge, watching.handle());
      for (std::int64_t i = 0; i < num_masters; ++i)
        system.spawn(master, size, counting);
      return watching.sum_of_answers();
    },
  .expected = [](std::int64_t) { return num_masters * num_rings * (small_prime + 1); },
};

} // namespace basal::bench
