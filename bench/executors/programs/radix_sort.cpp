// radix sort (Savina): a pipeline of 20 actors, one a bit. Each passes on the numbers that have a 0
// there at once and keeps the others until all have come. Numbers travel alone.
//
// Size: numbers. The last actor adds up each one times its place.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <vector>

namespace basal::bench {

namespace {

constexpr int num_bits = 20;

std::int64_t number_at(std::int64_t i) {
  return static_cast<std::int64_t>(scrambled(static_cast<std::uint64_t>(i)) >> (64 - num_bits));
}

struct kept {
  std::vector<std::int64_t> ones;
};

caf::behavior sorter(caf::stateful_actor<kept>* self, int bit, std::int64_t numbers,
                     const caf::actor& next) {
  return {[=, left = numbers](std::int64_t number) mutable {
    auto& ones = self->state.ones;
    if ((number >> bit & 1) == 0)
      self->send(next, number);
    else
      ones.push_back(number);
    if (--left > 0)
      return;
    for (const auto one : ones)
      self->send(next, one);
    self->quit();
  }};
}

caf::behavior judge(caf::event_based_actor* self, std::int64_t numbers,
                    const caf::actor& observer) {
  return {[=, sum = std::int64_t{0}, place = std::int64_t{0}](std::int64_t number) mutable {
    sum += number * ++place;
    if (place == numbers) {
      self->send(observer, sum);
      self->quit();
    }
  }};
}

void source(caf::event_based_actor* self, const caf::actor& first, std::int64_t numbers) {
  for (std::int64_t i = 0; i < numbers; ++i)
    self->send(first, number_at(i));
}

} // namespace

extern constinit const program radix_sort{
  .name = "radix_sort",
  .size = 3'000,
  .quick_size = 700,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      {
        auto next = system.spawn(judge, size, watching.handle());
        for (int bit = num_bits - 1; bit >= 0; --bit)
          next = system.spawn(sorter, bit, size, next);
        system.spawn(source, next, size);
      }
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      std::vector<std::int64_t> all;
      for (std::int64_t i = 0; i < size; ++i)
        all.push_back(number_at(i));
      std::sort(all.begin(), all.end());
      std::int64_t sum = 0;
      std::int64_t place = 0;
      for (const auto number : all)
        sum += number * ++place;
      return sum;
    },
};

} // namespace basal::bench
