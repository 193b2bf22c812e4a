// sieve of Eratosthenes (Savina): a source sends the odd numbers into a pipeline. Each stage keeps
// up to 60 primes and passes on what none of them divides; the last one, when full, appends
// another.
//
// Size: numbers up to here. The answer is how many of them are prime.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <vector>

namespace basal::bench {

namespace {

using finish = caf::atom_constant<caf::atom("finish")>;

constexpr std::size_t most_primes = 60; // of a stage

struct kept {
  std::vector<std::int64_t> primes;
  caf::actor next;

  bool divides(std::int64_t number) const {
    return std::any_of(primes.begin(), primes.end(), [=](auto p) { return number % p == 0; });
  }
};

caf::behavior stage(caf::stateful_actor<kept>* self, const caf::actor& observer) {
  return {
    [=](std::int64_t number) {
      auto& mine = self->state;
      if (mine.divides(number))
        return;
      if (mine.primes.size() < most_primes) {
        mine.primes.push_back(number);
        return;
      }
      if (!mine.next)
        mine.next = self->spawn(stage, observer);
      self->send(mine.next, number);
    },
    [=](finish, std::int64_t primes) {
      auto& mine = self->state;
      primes += static_cast<std::int64_t>(mine.primes.size());
      if (mine.next)
        self->send(mine.next, finish::value, primes);
      else
        self->send(observer, primes);
      self->quit();
    },
  };
}

void source(caf::event_based_actor* self, const caf::actor& first, std::int64_t last) {
  for (std::int64_t number = 3; number <= last; number += 2)
    self->send(first, number);
  self->send(first, finish::value, std::int64_t{1}); // 2 is prime
}

} // namespace

extern constinit const program sieve{
  .name = "sieve",
  .size = 20'000,
  .quick_size = 6'000,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(source, system.spawn(stage, watching.handle()), size);
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      std::vector<bool> composite(static_cast<std::size_t>(size) + 1);
      std::int64_t primes = 0;
      for (std::size_t n = 2; n < composite.size(); ++n) {
        if (composite[n])
          continue;
        ++primes;
        for (auto multiple = n * n; multiple < composite.size(); multiple += n)
          composite[multiple] = true;
      }
      return primes;
    },
};

} // namespace basal::bench
